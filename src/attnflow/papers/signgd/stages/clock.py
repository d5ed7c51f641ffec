"""The clock of a run: time passed in units of the first learning rate.

Where the rate stays, it counts steps. Where it grows by a share g per step from step
1/g on, N steps take

    c(N) = N up to 1/g,    c(N) = (1 + g)^(N − 1/g) / g beyond,

so that from there on a step is a share g of the time passed. (For whole 1/g this is the
exact sum of rates.)
"""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike


def clock_of(steps: ArrayLike, growth: float) -> Float[np.ndarray, "..."]:
    """The clock after a number of steps."""
    steps = np.asarray(steps, float)
    if growth == 0.0:
        return steps
    late = np.maximum(steps - 1 / growth, 0.0)
    return np.where(late > 0.0, np.exp(late * np.log1p(growth)) / growth, steps)


def steps_at(clock: ArrayLike, growth: float) -> Float[np.ndarray, "..."]:
    """The inverse: after how many steps the clock shows this."""
    clock = np.asarray(clock, float)
    if growth == 0.0:
        return clock
    late = np.log(np.maximum(growth * clock, 1.0)) / np.log1p(growth)
    return np.where(late > 0.0, 1 / growth + late, clock)
