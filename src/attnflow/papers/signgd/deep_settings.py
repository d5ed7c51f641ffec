"""Settings of the experiments on noisy digits and on deeper models."""

from dataclasses import dataclass
from typing import Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import Decay, NonNegative, Optimised, RuleName

COURSE = ("loss", "accuracy", "test_loss", "test_accuracy")
BORDER = (*COURSE, "attention_entropy", "attention_to_noise")

# Appendix B.1: gradient descent's rates, each from this scaled SNR on.
_DESCENT_RATES = ((0.0, 1.0), (0.45, 0.6), (0.65, 0.3), (0.85, 0.1))


@dataclass(frozen=True)
class NoisyDigits(Optimised):
    """The two-layer transformer on patches of digits with noise on their border.

    - `scaled_snr` λ: images are multiplied by λ, and normal noise of standard deviation
      1 − λ is added on a border of width `border`; `samples` images of two `digits`, in
      patches of `patch` × `patch` pixels. `test_noise`: test images get noise too.
      `pixels`: standardised by MNIST's mean and standard deviation (`standard`), from 0
      to 1 (`unit`) or from 0 to 255 (`bytes`).
    - `neurons` m_k = m_v; `sigma_0` (none: 0.1/√d); `heads`.
    - `rule` with its `learning_rate` and `steps` (none: the paper's), and its options,
      as `Optimised` has them.
    - `records`: how many records follow the one at step 0.
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
    rule: RuleName = "signgd"
    beta1: Decay = 0.9
    beta2: Decay = 0.999
    epsilon: NonNegative = 1e-15
    steps: int | None = None
    records: int = 20
    precision: Literal["float64", "float32"] = "float64"
    record: tuple[str, ...] = BORDER

    def __post_init__(self) -> None:
        if len(self.digits) != 2:
            raise ValueError(
                f"digits is {self.digits}: the model has two classes. Use two digits, "
                "as in digits=3,7."
            )
        if self.records < 1:
            raise ValueError(f"records is {self.records}: record at least once.")

    @property
    def rate(self) -> float:
        """The learning rate: `learning_rate`, or the paper's."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.rule != "gd":
            return 0.01
        return next(
            rate for least, rate in reversed(_DESCENT_RATES) if self.scaled_snr >= least
        )

    @property
    def last_step(self) -> int:
        """The number of steps: `steps`, or the paper's."""
        if self.steps is not None:
            return self.steps
        return 500 if self.rule == "gd" else 200


@dataclass(frozen=True)
class Stacked(Optimised):
    """Attention blocks below the two-layer transformer, trained with SignGD (B.6).

    - `layers` of attention, the last of which is that of the two-layer transformer;
      `residual`: blocks have residual connections; `mlp`: blocks have a ReLU layer of
      `hidden` neurons (none: d of them).
    - `reading` of the blocks, which the paper does not define: see `READINGS`.
    - `row` of Table 3 and dimension `embed`; `learning_rate` (none: the paper's). Times
      scale as 1/(η d): half of d at twice the rate shows the same picture.
    - `scaled`: loss gradients are rescaled before backpropagation, so that signs
      survive where the loss underflows; without it they are those of plain autograd.
    - `steps`, recorded every `every` steps.
    """

    layers: int = 2
    residual: bool = True
    mlp: bool = False
    hidden: int | None = None
    reading: Literal["full", "damped", "mean", "factored", "large"] = "full"
    row: Literal["a", "b", "c", "d"] = "a"
    embed: int = 2000
    rule: RuleName = "signgd"
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
                f"every is {self.every} and steps {self.steps}: steps must be a "
                "multiple of every, as in every=10 steps=1000."
            )


READINGS = {
    "full": "W_V, W_1 and W_2 are d × d with entries of standard deviation σ_0. Stage "
    "II is as printed with residuals and in two layers without, and signals are "
    "opposite at first. Then the loss collapses and signals turn, where outvoted noise "
    "should; without residuals signals attend to signals more, as printed",
    "damped": "as `full`, with a block's output divided by m_v: as `full`, and signals "
    "stay opposite for longer",
    "mean": "as `full`, divided by d, a mean over neurons as in the read-out: all four "
    "stages, of which the last halts midway with MLP in plain float32, as printed for "
    "residuals, and hardly begins with exact signs; without residuals all models are "
    "regular, unlike what is printed",
    "factored": "W_O W_V of rank m_v in place of W_V: hundreds of pairs are not "
    "aligned at t = 10; later as `full`",
    "large": "entries of W_V, W_1 and W_2 of standard deviation 1/√d, as libraries "
    "initialise them: most pairs have opposite signs at t = 10; later as `full`",
}
"""The readings of the undefined blocks, and what of Appendix B.6 each reproduces."""

_HERE = "attnflow.papers.signgd.deep_experiments"

RECIPES = (
    Recipe(
        "noisy-mnist",
        "SignGD, Adam or gradient descent on digits with noise on their border",
        NoisyDigits(),
        f"{_HERE}:noisy_digits",
        place="Appendix B.1; Figure 2d",
        free=("scaled_snr", "rule", "records", "record"),
    ),
    Recipe(
        "stack",
        "Attention blocks below the two-layer transformer (Appendix B.6)",
        Stacked(),
        f"{_HERE}:stacked",
    ),
)
