"""Settings of the computations in `systems`: lost signs, Adam's updates, and draws.

The first two need single weights along a run, which no observable records.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True)
class NaiveSigns:
    """Signs of gradients by autodiff, in float32 and float64, along an exact run.

    SignGD in a `row` of Table 3 at dimension `embed`, trained with exact signs; at each
    of `at_steps`, autodiff of the plain model is applied to the weights.
    """

    no_rule: ClassVar[str] = "It is about signs of gradients along SignGD's own run."
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

    no_rule: ClassVar[str] = "Adam's second memory is its axis."
    row: Literal["a", "b", "c", "d"] = "a"
    embed: int = 2000
    beta1: float = 0.0
    betas2: tuple[float, ...] = (0.9, 0.95, 0.99, 0.999)
    epsilon: float = 1e-15
    steps: int = 2000
    every: int = 50


@dataclass(frozen=True)
class Draws:
    """Norms of noise and initial inner products, against the bounds of Appendix C.

    `draws` of `samples` noise tokens with disjoint supports of `support` coordinates,
    and of the weights of `key_neurons` and `value_neurons` in dimension `embed` (none:
    (s n²)², as Condition 3.1 has it), for a `delta`; and `support_draws` of supports
    that may cover the signal's coordinate.
    """

    no_rule: ClassVar[str] = "It trains nothing: data and weights are drawn."
    samples: int = 20
    support: int = 80
    embed: int | None = None
    sigma_p: float | None = None
    key_neurons: int = 100
    value_neurons: int = 20
    delta: float = 0.1
    draws: int = 100
    support_draws: int = 0

    @property
    def dimension(self) -> int:
        """d: `embed`, or that of Condition 3.1."""
        return (
            (self.support * self.samples**2) ** 2 if self.embed is None else self.embed
        )
