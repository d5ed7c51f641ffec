"""Phases of a run of `cooccurrence`: detected times and formulas.

| name | event | formula |
|---|---|---|
| `T_half` | from then on the common token moves faster than both targets | – |
| `T1` | from then on every sample is correct: phase 1 ends | C_T1 / (σ1² m m1) |
| `T_sig` | from then on every type would be correct without its fillers | – |
| `T_star` | the loss falls to 1/m, or to the setting's `level` | b0·t·Loss = w*² |

Times are in the run's units (steps of gradient descent, time of a flow); the notes also
give them on the clock b0·t, b0 = b(0) being the initial readout gain, on which phase 1
does not depend on the width. The paper gives T1 up to a constant C_T1, for which we
take 20, and T_star as a power of m; w*² is the squared norm of the hard-margin
classifier of token counts.
"""

from attnflow.papers.cooccurrence.stages.events import STAGES as STAGES
from attnflow.papers.cooccurrence.stages.events import all_correct as all_correct
from attnflow.papers.cooccurrence.stages.events import clock as clock
from attnflow.papers.cooccurrence.stages.events import clock_times as clock_times
from attnflow.papers.cooccurrence.stages.events import (
    common_overtakes as common_overtakes,
)
from attnflow.papers.cooccurrence.stages.events import loss_level as loss_level
from attnflow.papers.cooccurrence.stages.events import loss_reaches as loss_reaches
from attnflow.papers.cooccurrence.stages.events import signal_correct as signal_correct
from attnflow.papers.cooccurrence.stages.events import signal_margins as signal_margins
from attnflow.papers.cooccurrence.stages.table import stage_table as stage_table
