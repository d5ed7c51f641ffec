"""Settings of the computations in `systems`: lost signs, and sizes of Adam's updates.

They need single weights along a run, which no observable records.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class NaiveSigns:
    """Signs of gradients by autodiff, in float32 and float64, along an exact run.

    SignGD in a `row` of Table 3 at dimension `embed`, trained with exact signs; at each
    of `at_steps`, autodiff of the plain model is applied to the weights.
    """

    row: Literal["a", "b", "c", "d"] = "a"
    embed: int = 2000
    at_steps: tuple[int, ...] = (
        *(0, 10, 50, 100, 150, 200, 250),
        *range(300, 900, 25),
        *range(900, 2001, 50),
    )


@dataclass(frozen=True)
class Updates:
    """Mean |update| of W_K and W_Q under Adam, for each of `betas2`.

    In a `row` of Table 3 at dimension `embed`, every `every` steps up to `steps`.
    """

    row: Literal["a", "b", "c", "d"] = "a"
    embed: int = 2000
    beta1: float = 0.0
    betas2: tuple[float, ...] = (0.9, 0.95, 0.99, 0.999)
    epsilon: float = 1e-15
    steps: int = 2000
    every: int = 50
