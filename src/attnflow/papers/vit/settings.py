"""Settings and named experiments of `vit`.

Where the paper does not specify a choice, the default is the reading that the README
lists; every field can be overridden.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from attnflow.papers.vit.deep_settings import RECIPES as DEEP_RECIPES
from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import (
    Count,
    NonNegative,
    Number,
    Optimised,
    Positive,
    Probability,
    Real,
    Several,
    Size,
    Vast,
)

FormName = Literal["auto", "weights", "tokens", "transport", "gram"]
Readout = Literal["default16-fixed", "default16-trained", "default-fixed", "unit-fixed"]
END = ("loss", "test_loss", "test_accuracy")
COURSE = (*END, "label", "margin", "score", "pair_value", "attention")


@dataclass(frozen=True)
class Train(Optimised):
    """Setting of Section 6 and Appendix A: W_Q, W_K and W_V trained until L_S ≤ ε.

    - `samples` N of `length` M tokens in `embed` d coordinates; `sigma_p` of weak and
      `sigma_strong` of strong noise, `projected` off the signals or not.
    - `snr`: ‖μ‖/(σ_p √d); or `signal`: ‖μ‖ itself.
    - `key_width` d_h, `value_width` d_v.
    - `readout`, the readings of w_O: PyTorch's default divided by 16, `fixed` or
      `trained` with the rest; the default not divided; norm 1. `gain`: ‖w_O‖² in
      expectation (None: that of the reading).
    - `law` of the weights: PyTorch's `uniform`, or `normal` of the same variance;
      `sigma_h`, `sigma_v`: their standard deviations (None: PyTorch's over 16).
    - `rule` and its options, as `Optimised` has them, with the `learning_rate` η;
      `target` ε, at most `steps`.
    - `classes`, `cells`, `draw`, `room`: as in `attnflow.data.noisy_patches`.
    - `delta` of the formulas' log(6N²M²/δ).
    - Records are taken at every step up to `dense`, then at `records` steps evenly
      spaced in their logarithm; with `records=0` only at the end.
    """

    samples: Size = 20
    length: Size = 16
    embed: Vast = 1024
    snr: Positive = 10.0
    signal: Real | None = None
    sigma_p: NonNegative = 0.2
    sigma_strong: NonNegative = 4.0
    projected: bool = False
    key_width: Size = 512
    value_width: Size = 512
    readout: Readout = "default16-trained"
    gain: Real | None = None
    law: Literal["uniform", "normal"] = "uniform"
    sigma_h: NonNegative | None = None
    sigma_v: NonNegative | None = None
    learning_rate: NonNegative = 0.1
    target: Positive = 0.01
    steps: Number = 5000
    classes: Literal["drawn", "equal"] = "drawn"
    cells: Literal["pooled", "independent"] = "pooled"
    draw: Literal["explicit", "sampled"] = "explicit"
    shown: Literal["all", "first"] = "all"
    room: Count | None = None
    test_samples: Count = 100
    delta: Probability = 0.1
    form: FormName = "auto"
    dense: Count = 60
    records: Count = 120
    record: tuple[str, ...] = END

    def __post_init__(self) -> None:
        _check_course(self)
        if self.gain is not None and not self.gain > 0:
            raise ValueError(
                f"gain is {self.gain}: ‖w_O‖² must be positive, as in gain=1. Without "
                "gain the reading's own value is used."
            )
        if self.draw == "sampled" and self.law != "normal":
            raise ValueError(
                "draw is 'sampled', where tokens are known in a basis of their span, "
                f"and law is {self.law!r}: only normal weights have the same law in "
                "every basis. Use law='normal', or draw='explicit'."
            )


@dataclass(frozen=True)
class Theory(Optimised):
    """Setting at the sizes of Condition 4.1, where only Gram matrices are computed.

    Units are those of the weak noise, σ_p² d = 1, and ‖w_O‖ = 1. With
    m = min(‖μ‖^−2, 1):

    - `samples` N, `length` M, `embed` d, `key_width` d_h.
    - `strength`: N · SNR²; `ratio`: C_p = σ̃_p/σ_p (None: 5√M, as the condition
      requires).
    - `rate`: η = rate · m. The condition requires d_h^−½, which takes √d_h/ε steps.
    - `rule`: gradient descent, or its limit at small η, the `flow`, whose time is ηt:
      then `rate` is the unit in which `steps` and records are counted; or any other.
    - `spread`: σ_h² = m d_h^−½ log(6N²M²/δ)^−spread; the condition requires 3/2 to 2.
    - `values`: σ_V = values · m^½ d_h^−¼; at most 1.
    - `target` ε, at most `steps`; `delta` δ; records as in `Train`.
    """

    samples: Size = 16
    length: Size = 4
    embed: Vast = 4 * 10**18
    key_width: Number = 10**12
    strength: Positive = 2000.0
    ratio: Positive | None = None
    rate: NonNegative = 0.01
    spread: NonNegative = 1.75
    values: Real = 0.1
    target: Positive = 0.05
    steps: Number = 20000
    classes: Literal["drawn", "equal"] = "equal"
    cells: Literal["pooled", "independent"] = "pooled"
    test_samples: Count = 10
    delta: Probability = 0.1
    form: FormName = "auto"
    dense: Count = 60
    records: Count = 200
    record: tuple[str, ...] = COURSE

    def __post_init__(self) -> None:
        _check_course(self)
        for name in ("strength", "values"):
            if not getattr(self, name) > 0:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive, as in "
                    f"{name}=1."
                )


@dataclass(frozen=True)
class Draws(Theory):
    """Initial weights and data alone: `draws` for each seed, at explicit `embed`."""

    samples: Size = 40
    length: Size = 3
    embed: Number = 2048
    strength: Positive = 1.0
    values: Real = 1.0
    draws: Size = 100


@dataclass(frozen=True)
class Updates:
    """Weights and data at which the rules of Appendix B are compared with autograd.

    An identity holds at all of them: these give scores and values of order 1.
    """

    no_rule: ClassVar[str] = "One step of gradient descent is held to printed rules."
    samples: Size = 6
    length: Size = 4
    embed: Size = 24
    key_width: Size = 12
    value_width: Size = 8
    signal_norm: Positive = 1.5
    learning_rate: NonNegative = 0.5


@dataclass(frozen=True)
class Map(Optimised):
    """Setting of Figure 1's map: a cell for every number of samples and every SNR.

    SNRs are evenly spaced from `snr_low` to `snr_high`. Cells of one seed share their
    random numbers, unless they are `independent`. All else is as in `Train`; each cell
    is trained until its loss is `target`, in at most `steps`.
    """

    samples: Several[Size] = tuple(range(2, 21, 2))
    snr_low: Positive = 0.16
    snr_high: Positive = 15.6
    snr_count: Size = 12
    length: Size = 16
    embed: Vast = 1024
    sigma_p: NonNegative = 0.2
    sigma_strong: NonNegative = 4.0
    projected: bool = False
    key_width: Size = 512
    value_width: Size = 512
    readout: Readout = "default16-trained"
    learning_rate: NonNegative = 0.1
    target: Positive = 0.01
    steps: Number = 5000
    classes: Literal["drawn", "equal"] = "drawn"
    cells: Literal["pooled", "independent"] = "pooled"
    test_samples: Count = 100
    form: FormName = "auto"

    def __post_init__(self) -> None:
        if not self.samples or min(self.samples) < 1:
            raise ValueError(
                f"samples is {self.samples}: give one or more positive numbers, as in "
                "samples=2,4,8."
            )
        if not (0 < self.snr_low <= self.snr_high and self.snr_count >= 1):
            raise ValueError(
                f"snr_count is {self.snr_count}, snr_low {self.snr_low} and snr_high "
                f"{self.snr_high}: use one SNR or more, and 0 < snr_low <= snr_high."
            )
        if self.test_samples < 1:
            raise ValueError(
                "test_samples is 0, and the map is one of test losses. Use "
                "test_samples=100."
            )


def _check_course(setting: Train | Theory) -> None:
    if setting.steps < 1 or setting.records < 0 or setting.records == 1:
        raise ValueError(
            f"steps is {setting.steps} and records {setting.records}: take at least "
            "one step and record at least twice, or only at the end with records=0."
        )
    if not setting.target > 0:
        raise ValueError(
            f"target is {setting.target}: the training loss never reaches it. Use a "
            "positive one, as in target=0.01."
        )
    if not 0 < setting.delta < 1:
        raise ValueError(
            f"delta is {setting.delta}: it is a probability of failure, between 0 "
            "and 1. Use delta=0.1."
        )


_HERE = "attnflow.papers.vit.experiments"
_COURSE = ("steps", "dense", "records", "record", "form", "cells")
"""Fields that only say what is recorded, for how long, and how it is computed."""
_APPENDIX = Train(
    length=4,
    embed=2048,
    key_width=1024,
    value_width=256,
    sigma_p=0.05,
    sigma_strong=1.0,
    readout="default16-fixed",
    steps=20000,
    record=COURSE,
)


# Unspecified for Appendix A beside what is recorded: w_O, and the loss to train to.
_FREE = (*_COURSE, "test_samples", "target", "readout")


def _appendix(regime: str, figure: int, samples: int, signal: float) -> Recipe:
    return Recipe(
        f"appendix-{regime}",
        f"Appendix A's {regime} setting (Figure {figure})",
        replace(_APPENDIX, samples=samples, signal=signal),
        f"{_HERE}:train",
        place=f"Appendix A; Figure {figure}",
        free=_FREE,
    )


def _theory(regime: str, setting: Theory) -> Recipe:
    title = f"Near Condition 4.1, {regime}: items (3), (6) and (9) are not met"
    return Recipe(f"theory-{regime}", title, setting, f"{_HERE}:theory")


RECIPES = (
    Recipe(
        "map",
        "Figure 1's map of test losses",
        Map(),
        f"{_HERE}:phase_map",
        place="Section 6; Figure 1",
        # Unspecified: w_O, and which cells of the two ranges are computed.
        free=("readout", "samples", "snr_low", "snr_count", "cells", "form"),
    ),
    Recipe(
        "figure1",
        "One cell of Figure 1's map: N samples at one SNR",
        Train(),
        f"{_HERE}:train",
        place="Section 6; Figure 1",
        free=(*_COURSE, "readout", "samples", "snr"),
    ),
    _appendix("benign", 3, 16, 25.0),
    _appendix("harmful", 4, 10, 15.0),
    _theory("benign", Theory()),
    _theory("harmful", Theory(strength=0.25, rate=0.002)),
    Recipe("updates", "Update rules of Appendix B", Updates(), f"{_HERE}:updates"),
    Recipe("draws", "Initial draws of Appendix C", Draws(), f"{_HERE}:draws"),
    *DEEP_RECIPES,
)
