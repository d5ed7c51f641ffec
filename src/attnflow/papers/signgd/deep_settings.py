"""Settings of what `signgd` trains beyond its own model and data."""

from dataclasses import dataclass
from typing import Literal

from attnflow.schema.declarations import Recipe

COURSE = ("loss", "accuracy", "test_loss", "test_accuracy")
BORDER = (*COURSE, "attention_entropy", "attention_to_noise")

# Appendix B.1: rates of gradient descent from these scaled SNRs on, the least first.
_DESCENT_RATES = ((0.0, 1.0), (0.45, 0.6), (0.65, 0.3), (0.85, 0.1))


@dataclass(frozen=True)
class NoisyDigits:
    """The two-layer transformer on patches of digits with noise on their border.

    - `scaled_snr` λ: images times λ, and normal noise times 1 − λ on a border of width
      `border`; `digits` 3 and 7, `samples` of them, in patches of `patch` pixels a
      side. `test_noise`: on all test images too. `pixels` with
      MNIST's mean and deviation taken out (`standard`), from 0 to 1 (`unit`) or to 255
      (`bytes`).
    - `neurons` m_k = m_v; `sigma_0` (none: 0.1/√d); `heads`.
    - `rule` with its `learning_rate` and `steps` (none: the paper's); `beta1`, `beta2`,
      `epsilon` of Adam.
    - `records`: how many times are recorded after the start.
    """

    scaled_snr: float = 0.5
    digits: tuple[int, ...] = (3, 7)
    samples: int = 2000
    border: int = 7
    patch: int = 7
    test_samples: int | None = None
    test_noise: bool = True
    pixels: Literal["unit", "standard", "bytes"] = "standard"
    neurons: int = 10
    sigma_0: float | None = None
    heads: int = 1
    rule: Literal["signgd", "adam", "gd"] = "signgd"
    learning_rate: float | None = None
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-15
    steps: int | None = None
    records: int = 20
    precision: Literal["float64", "float32"] = "float64"
    record: tuple[str, ...] = BORDER

    def __post_init__(self) -> None:
        if len(self.digits) != 2:
            raise ValueError(
                f"digits is {self.digits}: the model tells two classes apart, as in "
                "digits=3,7."
            )
        if self.records < 1:
            raise ValueError(f"records is {self.records}: record at least once.")

    @property
    def rate(self) -> float:
        """The learning rate: as given, or that of the paper."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.rule != "gd":
            return 0.01
        return next(
            rate for least, rate in reversed(_DESCENT_RATES) if self.scaled_snr >= least
        )

    @property
    def last_step(self) -> int:
        """How many steps: as given, or those of the paper."""
        if self.steps is not None:
            return self.steps
        return 500 if self.rule == "gd" else 200


@dataclass(frozen=True)
class Stacked:
    """Appendix B.6: attention blocks below the two-layer transformer, by SignGD.

    - `layers` of attention, the last of which is the paper's own; `residual`: blocks
      add to what they read; `mlp`: blocks have a ReLU layer of `hidden` neurons (none:
      d of them).
    - `reading` of blocks, which the paper does not define: see `READINGS`.
    - `row` of Table 3 and dimension `embed`; `learning_rate` (none: the paper's). Times
      go like 1/(η d), so that half of d and twice the rate show the same picture.
    - `scaled`: gradients are rescaled before they are propagated, so that their signs
      outlive a loss that underflows; without it they are those of plain autograd.
    - `steps`, of which the last of every `every` are recorded.
    """

    layers: int = 2
    residual: bool = True
    mlp: bool = False
    hidden: int | None = None
    reading: Literal["full", "damped", "mean", "factored", "large"] = "full"
    row: Literal["a", "b", "c", "d"] = "a"
    embed: int = 2000
    learning_rate: float | None = None
    scaled: bool = True
    steps: int = 10
    every: int = 1
    test_samples: int = 50
    precision: Literal["float64", "float32"] = "float64"
    record: tuple[str, ...] = ("loss", "key_neuron", "query_neuron", "zero_signs")

    def __post_init__(self) -> None:
        if self.layers < 1 or self.steps < 1:
            raise ValueError(
                f"layers is {self.layers} and steps {self.steps}: use 1 or more each."
            )
        if self.every < 1 or self.steps % self.every:
            raise ValueError(
                f"every is {self.every} and steps {self.steps}: steps must be so many "
                "times a whole number, as in every=10 steps=1000."
            )


READINGS = {
    "full": "W_V is d × d with entries of deviation σ_0, and so are W_1 and W_2. Stage "
    "II is as printed with residuals and in two layers without, and signals are "
    "opposite at first. Then the loss collapses and signals turn, where outvoted noise "
    "should; without residuals signals attend to signals more, as printed",
    "damped": "the same, and a block's output over m_v: as `full`, and signals stay "
    "opposite for longer",
    "mean": "the same over d, a mean over neurons as in the read-out: all four stages, "
    "of which the last halts midway with MLP in plain float32, as printed for "
    "residuals, and hardly begins with exact signs; without residuals all models "
    "are regular, unlike what is printed",
    "factored": "W_O W_V of rank m_v for W_V: hundreds of pairs are not aligned at "
    "t = 10; later as `full`",
    "large": "entries of W_V, W_1 and W_2 of deviation 1/√d, as libraries begin: most "
    "pairs have opposite signs at t = 10; later as `full`",
}
"""What each reading of the undefined blocks is, and what of Appendix B.6 it shows."""

_HERE = "attnflow.papers.signgd.deep_experiments"

RECIPES = (
    Recipe(
        "noisy-mnist",
        "SignGD, Adam or gradient descent on digits with noise on their border",
        NoisyDigits(),
        f"{_HERE}:noisy_digits",
    ),
    Recipe(
        "stack",
        "Attention blocks below the two-layer transformer (Appendix B.6)",
        Stacked(),
        f"{_HERE}:stacked",
    ),
)
