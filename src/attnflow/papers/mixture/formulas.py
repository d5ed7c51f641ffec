"""Closed forms of stages 1 and 2 at infinite width (numpy and scipy only).

Stage 1 at infinite width has two variables, `a = w₊ᵀ v` and `c = w₊ᵀ c`. While all
ReLUs are active `c = 0` and `a' = 1 / (2 (1 + e^{4a}))`. At `switch_time` the
wrong-sign consistent samples switch off (`a = b/2`); from then on `u = c + 2a + b`
obeys `u' = (5/8) / (1 + e^u)`. Both are solved by the Wright omega function, since
`x + e^x = y` has the solution `x = y − ω(y)`, which does not overflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attnflow.schema.installation import scipy

if TYPE_CHECKING:
    from jaxtyping import Float

Times: TypeAlias = 'Float[np.ndarray, " time"]'


def switch_time(bias: float) -> float:
    """`T_half = b + (e^{2b} − 1) / 2`, when the first ReLUs switch off in stage 1."""
    return bias + math.expm1(2 * bias) / 2


BISECTIONS = 64
"""Halvings after which the ends of an interval of length 64 are neighbours."""


def stage_one_time(output: float, bias: float) -> float:
    """When the output on consistent samples reaches `output` in stage 1.

    Until `T_half` the output is 4a, with 4a + e^{4a} = 2t + 1; afterwards it is
    u = c + 2a + b, with u + e^u = 2b + e^{2b} + (5/8)(t − T_half).
    """
    if output <= 2 * bias:
        return (output + math.expm1(output)) / 2
    start = 2 * bias + math.exp(2 * bias)
    return switch_time(bias) + 1.6 * (output + math.exp(output) - start)


def alignment_time(level: float, bias: float) -> float:
    """When the alignment w₊ᵀv reaches a level in stage 1."""
    early = level <= bias / 2
    output = 4 * level if early else 2 * bias + (level - bias / 2) / 0.4
    return stage_one_time(output, bias)


def stage_one(time: Times, bias: float) -> tuple[Times, Times]:
    """The alignments `a(t) = w₊ᵀ v` and `c(t) = w₊ᵀ c` of stage 1, exactly."""
    time = np.asarray(time, float)
    early = _solve(2 * time + 1) / 4
    late = time - switch_time(bias)
    u = _solve(2 * bias + math.exp(2 * bias) + 0.625 * late)
    growth = u - 2 * bias
    after = late > 0
    return (
        np.where(after, bias / 2 + 0.4 * growth, early),
        np.where(after, 0.2 * growth, 0.0),
    )


def _solve(y: Times) -> Times:
    """The solution x of `x + e^x = y`."""
    return y - scipy.special.wrightomega(y).real


def stage_two_score(time: Times, omega: float, group_value: float) -> Times:
    """`S[c1, v1] = (ω²/2) sinh(4γt)`, `γ = c/18`, while attention is nearly uniform."""
    return omega**2 / 2 * np.sinh(4 * group_value / 18 * np.asarray(time))


def stage_two_duration(omega: float, group_value: float, level: float) -> float:
    """When `stage_two_score` reaches a level C: `asinh(2C/ω²) / (4γ)`."""
    return math.asinh(2 * level / omega**2) / (4 * group_value / 18)


def onset_time(omega: float, bias: float, level: float) -> float:
    """When the main score reaches a small level in simultaneous training.

    While attention is nearly uniform the neurons follow stage 1 and the score grows at
    the rate `c(t)/9`, so that `∫₀ᵗ c/9 = asinh(2·level/ω²)`. With `x = u − 2b` the
    integral is `(8/225) (x²/2 + (x − 1) e^{x+2b} + e^{2b})`.
    """
    goal = math.asinh(2 * level / omega**2)

    def excess(x: float) -> float:
        e = math.exp(2 * bias)
        return 8 / 225 * (x * x / 2 + (x - 1) * math.exp(x) * e + e) - goal

    # Bisection to neighbouring floats, in a fixed number of steps, so that the formula
    # can be traced: every run of `figure1` prints this time, and SciPy's root finders
    # take longer to import than such a run to compute.
    low: Any = 0.0
    x: Any = 64.0
    for _ in range(BISECTIONS):
        middle = (low + x) / 2
        below = excess(middle) < 0
        low, x = np.where(below, middle, low), np.where(below, x, middle)
    start = 2 * bias + math.exp(2 * bias)
    return switch_time(bias) + 1.6 * (x + 2 * bias + math.exp(x + 2 * bias) - start)
