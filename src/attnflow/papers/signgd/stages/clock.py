"""The clock of a run: elapsed time in units of the first learning rate.

With a fixed rate the clock counts steps. Where the rate grows by a factor 1 + g per
step from step 1/g on, the clock after N steps is

    c(N) = N up to 1/g,    c(N) = (1 + g)^(N − 1/g) / g beyond,

so that from there on a step is a fraction g of the elapsed time. (For integer 1/g this
is the exact sum of rates.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from jaxtyping import Float


def clock_of(steps: ArrayLike, growth: float) -> Float[np.ndarray, ...]:
    """The clock after each number of steps."""
    steps = np.asarray(steps, float)
    if growth == 0.0:
        return steps
    late = np.maximum(steps - 1 / growth, 0.0)
    return np.where(late > 0.0, np.exp(late * np.log1p(growth)) / growth, steps)


def steps_at(clock: ArrayLike, growth: float) -> Float[np.ndarray, ...]:
    """The number of steps at each time of the clock; the inverse of `clock_of`."""
    clock = np.asarray(clock, float)
    if growth == 0.0:
        return clock
    late = np.log(np.maximum(growth * clock, 1.0)) / np.log1p(growth)
    return np.where(late > 0.0, 1 / growth + late, clock)
