"""Sizes and scales in the paper's notation, computed from settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attnflow.papers.vit._types import Field, Fields, Regime
from attnflow.papers.vit.settings import Theory, Train

DIVISOR = 16.0
"""Divisor of PyTorch's initial weights in Section 6."""


@dataclass(frozen=True)
class Sizes:
    """Sizes and scales of a setting, in which the paper's formulas are written.

    - `samples` N, `length` M, `embed` d, `key_width` d_h; `signal` ‖μ‖, `weak` σ_p,
      `strong` σ̃_p; `gain`: expected ‖w_O‖² at initialisation; `trained`: whether
      w_O is trained.
    - `sigma_h`, `sigma_v`: standard deviations of initial weights.
    - `learning_rate` η, `target` ε, `delta` δ.
    - `flow`: whether η is 0. Times are then ηt, and `learning_rate`, by which formulas
      divide, is 1.
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
    flow: bool = False

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
    def regime(self) -> Regime:
        """Which token wins: the signal where N‖μ‖²/(σ̃_p²d) > 2.5 (claim D-ctrl)."""
        return "benign" if self.strength > 2.5 * self.ratio**2 else "harmful"

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


def sizes(setting: Train | Theory | Fields) -> Sizes:
    """Sizes of a `Train` or `Theory` setting, or of the dictionary that a run has."""
    fields = setting if isinstance(setting, Mapping) else vars(setting)
    return _trained(fields) if "readout" in fields else _theory(fields)


def _trained(fields: Fields) -> Sizes:
    embed, signal = fields["embed"], fields["signal"]
    if signal is None:
        signal = fields["snr"] * fields["sigma_p"] * math.sqrt(embed)
    # A uniform law on (−1/√fan_in, 1/√fan_in) has variance 1/(3 fan_in).
    default = 1 / math.sqrt(3 * embed) / DIVISOR
    readout = fields["readout"]
    return Sizes(
        **{n: fields[n] for n in ("samples", "length", "embed", "key_width")},
        **{n: fields[n] for n in ("learning_rate", "target", "delta")},
        signal=signal,
        weak=fields["sigma_p"],
        strong=fields["sigma_strong"],
        gain=_or(fields.get("gain"), GAINS[readout]),
        sigma_h=_or(fields["sigma_h"], default),
        sigma_v=_or(fields["sigma_v"], default),
        trained=readout.endswith("trained"),
        flow=fields.get("rule") == "flow",
    )


GAINS = {
    "default16-fixed": 1 / 3 / DIVISOR**2,
    "default16-trained": 1 / 3 / DIVISOR**2,
    "default-fixed": 1 / 3,
    "unit-fixed": 1.0,
}
"""Expected ‖w_O‖² by reading: PyTorch's default has d_v entries of 1/(3 d_v)."""


def _theory(fields: Fields) -> Sizes:
    samples, length, width = (fields[n] for n in ("samples", "length", "key_width"))
    square = fields["strength"] / samples
    least = min(1 / square, 1.0)
    large = logarithm(samples, length, fields["delta"])
    weak = 1 / math.sqrt(fields["embed"])
    flow = fields["rule"] == "flow"
    return Sizes(
        samples=samples,
        length=length,
        embed=fields["embed"],
        key_width=width,
        signal=math.sqrt(square),
        weak=weak,
        strong=weak * _or(fields["ratio"], 5 * math.sqrt(length)),
        gain=1.0,
        sigma_h=math.sqrt(least * width**-0.5 * large ** -fields["spread"]),
        sigma_v=fields["values"] * math.sqrt(least) * width**-0.25,
        learning_rate=1.0 if flow else fields["rate"] * least,
        target=fields["target"],
        delta=fields["delta"],
        flow=flow,
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def inside(
    samples: int, strength: float, target: float, length: int = 2
) -> dict[str, Field]:
    """Sizes with equality in items (1) and (2); the flow, in units of item (6)'s η."""
    fourth = max(strength / samples, samples / strength) ** 2
    scarce = (samples / target) ** 2
    # Rounded up, since both are whole numbers.
    width = math.ceil(fourth * scarce * (1 + 1e-9))
    return {
        "samples": samples,
        "strength": strength,
        "target": target,
        "length": length,
        "key_width": width,
        "embed": math.ceil(width * scarce * (1 + 1e-9)),
        "rate": width**-0.5,
        "rule": "flow",
        "steps": 10**14,
        "records": 0,
        "record": ("loss", "test_loss"),
    }
