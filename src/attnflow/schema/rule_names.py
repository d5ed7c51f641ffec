"""Names of rules and schedules as settings and command lines take them.

Apart from the rules themselves, which import JAX: settings are read without it.
"""

from typing import Literal

RuleName = Literal["flow", "gd", "momentum", "normalised-gd", "muon", "adam", "signgd"]
ScheduleName = Literal["constant", "linear", "cosine", "inverse-root"]
