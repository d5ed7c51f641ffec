"""The grid of Observation 1: K groups, L tokens, bias and width, with its runs.

Every (K, L) of the figures, L = 3, L = 4 and L = K + 1, at the paper's bias, at half
of it and at twice it. At infinite width one sample of each orbit is exact. At
m = 64 the population is enumerated; but that of (8, 9) has 1,240,320 samples, and
2048 of them are drawn.
"""

from attnflow.schema.declarations import Request
from attnflow.schema.settings import Value

PAIRS = ((3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (8, 3), (8, 4), (8, 9))
"""K and L."""
BIASES = (0.25, 0.5, 1.0)
SEEDS = (200, 201, 202)
LEARNED = 0.05
"""The loss at which a run counts as having learned, if it errs on no sample."""
FINITE_CELLS = (
    *((K, L, b) for K, L in ((3, 4), (4, 4), (4, 5)) for b in BIASES),
    (8, 3, 0.5),
    (8, 9, 0.5),
)
"""K, L and b of the runs at m = 64."""


def named(groups: int, length: int, bias: float, width: str) -> str:
    """The name of one run, such as `K=4, L=5, b=0.5, m=inf`."""
    return f"K={groups}, L={length}, b={bias:g}, m={width}"


def _wide(groups: int, length: int, bias: float) -> Request:
    setting = {"K": groups, "L": length, "bias": bias, "steps": 20000.0}
    setting |= {"width": "infinite", "population": "orbits"}
    if (groups, length) == (8, 9):
        # The same time in fewer steps: (8, 9) has 298 orbits of 9 tokens.
        setting |= {"learning_rate": 0.5, "steps": 4000.0}
    return Request("k3", setting, seeds=1)


def _finite(groups: int, length: int, bias: float) -> Request:
    setting = {"K": groups, "L": length, "bias": bias, "steps": 8000.0}
    fewer: dict[str, Value] = {}
    if groups == 8:
        setting |= {"steps": 10000.0}
    if length == 9:
        # The time of the run at infinite width, in as few steps as are stable.
        setting |= {"learning_rate": 1.0, "steps": 2000.0, "population": 2048}
        fewer = {"population": 512}
    return Request("k3", setting, seeds=SEEDS, quick=fewer, quick_seeds=SEEDS[:1])


WIDE = {named(K, L, b, "inf"): _wide(K, L, b) for K, L in PAIRS for b in BIASES}
FINITE = {named(K, L, b, "64"): _finite(K, L, b) for K, L, b in FINITE_CELLS}
