"""Closed forms of the decoder alone, with features fixed and decorrelated.

Each row of `W = FᵀY` moves by itself, `w_n = (M − 1) h(N_n) ζ_n`, where h counts the
visits N of its class and, with `u = M h`,

    e^u + (M − 1) u = M η N + 1,     u = a − ω(a − ln(M − 1)),

with a = (M η N + 1)/(M − 1) and Wright's ω. Time t counts samples of all K classes, so
that N = t/K. The speed of attention is `γ = (M − 1)² h / ((M − 1) + e^u)`, whose
integral is `K (M − 1)² h² / (2 η)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from attnflow.schema.installation import scipy

if TYPE_CHECKING:
    from jaxtyping import Float

Series: TypeAlias = 'Float[np.ndarray, "*times"]'


def log_odds(visits: ArrayLike, vocabulary: float, rate: float) -> Series:
    """Log-odds u = M h after a number of visits to a class.

    For ω > 1, `u = ln((M − 1) ω)` neither cancels nor overflows; a Newton step on
    `expm1(u) + (M − 1) u = M η N` restores the digits of early times.
    """
    right = vocabulary * rate * np.asarray(visits, float)
    a = (right + 1) / (vocabulary - 1)
    omega = scipy.special.wrightomega(a - math.log(vocabulary - 1))
    late = np.log(vocabulary - 1) + np.log(np.maximum(omega, 1.0))
    u = np.where(omega > 1, late, np.maximum(a - omega, 0.0))
    excess = np.expm1(u) + (vocabulary - 1) * u - right
    return u - excess / (np.exp(u) + vocabulary - 1)


def discrete_heights(steps: int, vocabulary: float, rate: float) -> Series:
    """h* after 0, …, `steps` visits: `h* += η / ((M − 1) + e^{M h*})`."""
    u, levels = 0.0, np.zeros(steps + 1)
    for i in range(steps):
        u += vocabulary * rate / (vocabulary - 1 + math.exp(u))
        levels[i + 1] = u
    return levels / vocabulary


@dataclass(frozen=True)
class Decoder:
    """Closed forms of the decoder at given sizes and rates.

    **Arguments:** `classes` K, `vocabulary` M, and the rates η_Y and η_Z.
    """

    classes: int
    vocabulary: float
    value_rate: float
    score_rate: float

    @property
    def clock(self) -> float:
        """K/η_Y, the unit of time."""
        return self.classes / self.value_rate

    def height(self, t: ArrayLike) -> Series:
        """Height h(t/K)."""
        return self._log_odds(t) / self.vocabulary

    def _log_odds(self, t: ArrayLike) -> Series:
        visits = np.asarray(t, float) / self.classes
        return log_odds(visits, self.vocabulary, self.value_rate)

    def speed(self, t: ArrayLike) -> Series:
        """Speed γ(t), which grows like η_Y t/K and decays like K ln t/(η_Y t)."""
        u, others = self._log_odds(t), self.vocabulary - 1
        return others**2 * (u / self.vocabulary) / (others + np.exp(u))

    def speed_integral(self, t: ArrayLike) -> Series:
        """Integral Γ(t) = η_Z ∫γ."""
        ratio = self.score_rate / self.value_rate
        return ratio * self.classes * ((self.vocabulary - 1) * self.height(t)) ** 2 / 2

    def drive_integral(self, t: ArrayLike, scale: float) -> Series:
        """B(t) = ¼ ln(1 + 4Γ/C₀) of the scalar model, which is 0 at 0."""
        return np.log1p(4 * self.speed_integral(t) / scale) / 4

    def printed_drive_integral(self, t: ArrayLike, scale: float) -> Series:
        """The printed ¼ ln(C₀ + 4Γ), which is ¼ ln C₀ at 0."""
        return np.log(scale + 4 * self.speed_integral(t)) / 4

    @property
    def peak(self) -> float:
        """Time at which γ is largest: `u = 1 + W₀((M − 1)/e)`."""
        u = self._peak_log_odds
        others = self.vocabulary - 1
        return self.clock * (math.expm1(u) + others * u) / self.vocabulary

    @property
    def largest_speed(self) -> float:
        """The largest γ, `(M − 1)(u − 1)/M` at the peak."""
        u = self._peak_log_odds
        return (self.vocabulary - 1) * (u - 1) / self.vocabulary

    @property
    def _peak_log_odds(self) -> float:
        return 1 + float(scipy.special.lambertw((self.vocabulary - 1) / math.e).real)

    @property
    def scan_end(self) -> float:
        """t₀' = K ln M/η_Y, up to which the paper has γ = O(η_Y t/K)."""
        return self.clock * math.log(self.vocabulary)

    @property
    def snap(self) -> float:
        """t₀ = 2(1 + ω₁) K ln M/η_Y, from which the paper has γ = O(K ln t/(η_Y t))."""
        return 2 * (1 + self.omega1) * self.scan_end

    @property
    def omega1(self) -> float:
        """ω₁ of Lemma 8: `1 + ω₁ = −W₋₁(−1/(M − 1))/ln M`."""
        root = float(scipy.special.lambertw(-1 / (self.vocabulary - 1), -1).real)
        return -root / math.log(self.vocabulary) - 1
