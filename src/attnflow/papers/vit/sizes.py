"""Sizes and scales in which the paper's formulas are written."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DIVISOR = 16.0
"""By which Section 6 divides PyTorch's initial weights."""


@dataclass(frozen=True)
class Sizes:
    """What the formulas of the paper are written in.

    - `samples` N, `length` M, `embed` d, `key_width` d_h; `signal` ‖μ‖, `weak` σ_p,
      `strong` σ̃_p; `gain` ‖w_O‖², in the mean over its law, where training begins;
      `trained`: whether it stays.
    - `sigma_h`, `sigma_v`: standard deviations of initial weights.
    - `learning_rate` η, `target` ε, `delta` δ.
    """

    samples: int
    length: int
    embed: int
    key_width: int
    signal: float
    weak: float
    strong: float
    gain: float
    sigma_h: float
    sigma_v: float
    learning_rate: float
    target: float
    delta: float
    trained: bool = False

    @property
    def power(self) -> float:
        """σ_p² d."""
        return self.weak**2 * self.embed

    @property
    def snr(self) -> float:
        """‖μ‖/(σ_p √d)."""
        return self.signal / math.sqrt(self.power)

    @property
    def strength(self) -> float:
        """N · SNR²."""
        return self.samples * self.snr**2

    @property
    def ratio(self) -> float:
        """C_p = σ̃_p/σ_p."""
        return self.strong / self.weak

    @property
    def least(self) -> float:
        """min(‖μ‖^−2, 1/(σ_p² d))."""
        return min(self.signal**-2, 1 / self.power)

    @property
    def logarithm(self) -> float:
        """log(6N²M²/δ)."""
        return logarithm(self.samples, self.length, self.delta)


def logarithm(samples: int, length: int, delta: float) -> float:
    """log(6N²M²/δ)."""
    return math.log(6 * (samples * length) ** 2 / delta)


def sizes(setting: Any) -> Sizes:
    """The sizes of a `Train` or a `Theory`, as a record or as a run's dictionary."""
    given = setting if isinstance(setting, Mapping) else vars(setting)
    return _trained(given) if "readout" in given else _theory(given)


def _trained(given: Mapping[str, Any]) -> Sizes:
    embed, signal = given["embed"], given["signal"]
    if signal is None:
        signal = given["snr"] * given["sigma_p"] * math.sqrt(embed)
    # A uniform law on (−1/√fan_in, 1/√fan_in) has variance 1/(3 fan_in).
    default = 1 / math.sqrt(3 * embed) / DIVISOR
    readout = given["readout"]
    return Sizes(
        **{n: given[n] for n in ("samples", "length", "embed", "key_width")},
        **{n: given[n] for n in ("learning_rate", "target", "delta")},
        signal=signal,
        weak=given["sigma_p"],
        strong=given["sigma_strong"],
        gain=_or(given.get("gain"), GAINS[readout]),
        sigma_h=_or(given["sigma_h"], default),
        sigma_v=_or(given["sigma_v"], default),
        trained=readout.endswith("trained"),
    )


GAINS = {
    "default16-fixed": 1 / 3 / DIVISOR**2,
    "default16-trained": 1 / 3 / DIVISOR**2,
    "default-fixed": 1 / 3,
    "unit-fixed": 1.0,
}
"""‖w_O‖² in the mean, by its reading: d_v entries of variance 1/(3 d_v)."""


def _theory(given: Mapping[str, Any]) -> Sizes:
    samples, length, width = (given[n] for n in ("samples", "length", "key_width"))
    square = given["strength"] / samples
    least = min(1 / square, 1.0)
    large = logarithm(samples, length, given["delta"])
    weak = 1 / math.sqrt(given["embed"])
    return Sizes(
        samples=samples,
        length=length,
        embed=given["embed"],
        key_width=width,
        signal=math.sqrt(square),
        weak=weak,
        strong=weak * _or(given["ratio"], 5 * math.sqrt(length)),
        gain=1.0,
        sigma_h=math.sqrt(least * width**-0.5 * large ** -given["spread"]),
        sigma_v=given["values"] * math.sqrt(least) * width**-0.25,
        learning_rate=given["rate"] * least,
        target=given["target"],
        delta=given["delta"],
    )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
