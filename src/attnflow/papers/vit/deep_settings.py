"""Settings of the experiments of `vit` on noisy MNIST digits."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import NonNegative, Optimised, RuleName

COURSE = ("loss", "accuracy", "test_loss", "test_accuracy", "attention_to_noise")


@dataclass(frozen=True)
class Digits(Optimised):
    """A vision transformer on digits with noise on their border.

    - `snr`: images times SNR/(1 + SNR), and normal noise times 1/(1 + SNR) on a border
      of width `border`; all ten digits, `samples` N of them, in patches of `patch`
      pixels a side; `test_samples` of the test set.
    - `layers` of attention with `heads`, of `width`; `hidden` ReLU neurons.
    - Adam, or another `rule` of `Optimised`, with `learning_rate`, on batches of
      `batch`, until the loss of the whole training set, evaluated every `look` steps,
      is at most `target`, and for at most `steps`; with `target` 0 for all of them.
      `records` after the initial one, evenly spaced over `steps`.
    """

    snr: float = 1.0
    samples: int = 3000
    border: int = 4
    patch: int = 14
    test_samples: int = 2000
    layers: int = 2
    heads: int = 4
    width: int = 32
    hidden: int = 64
    rule: RuleName = "adam"
    learning_rate: NonNegative = 3e-3
    batch: int = 64
    target: float = 0.05
    look: int = 100
    steps: int = 12000
    records: int = 8
    precision: Literal["float64", "float32"] = "float32"
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        if self.steps < 1 or self.records < 1:
            raise ValueError(
                f"steps is {self.steps} and records {self.records}: make at least one "
                "step, and take at least one record."
            )
        if not self.target >= 0:
            raise ValueError(
                f"target is {self.target}: give a loss at which training stops, as in "
                "target=0.05, or 0 to make all steps."
            )


@dataclass(frozen=True)
class DigitImage:
    """One training image of Figure 2, at one SNR.

    - `place`: its index in the order in which the seed draws images.
    - `snr`, `border`: as in `Digits`.
    """

    no_rule: ClassVar[str] = "It draws an image, and trains nothing."
    snr: float = 0.2
    border: int = 4
    place: int = 0

    def __post_init__(self) -> None:
        if self.place < 0:
            raise ValueError(f"place is {self.place}: images are counted from 0.")


RECIPES = (
    Recipe(
        "mnist",
        "A vision transformer on digits with noise on their border",
        Digits(),
        "attnflow.papers.vit.deep_experiments:digits",
        place="Section 6; Figure 2c",
        # The paper states ranges of N and SNR, the border, layers and heads.
        free=tuple({*vars(Digits())}.difference(("border", "layers", "heads"))),
    ),
    Recipe(
        "mnist-image",
        "A digit with noise on its border",
        DigitImage(),
        "attnflow.papers.vit.deep_experiments:digit_image",
        place="Section 6; Figures 2a and 2b",
        free=("snr", "place"),
    ),
)
