"""Sizes and scales: Table 3's rows at any dimension, each of them open to change.

A setting holds `None` where the paper's own fraction of d is meant; `sizes` turns a
setting, or what a run kept of it, into numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RATES = {"signgd": 1e-4, "adam": 1e-4, "gd": 0.1}
"""Appendix B.1's learning rates, by optimiser."""
SUPPORT = {"a": 0.04, "b": 0.04, "c": 0.4, "d": 0.4}
ORTHOGONAL = {"a": True, "b": False, "c": True, "d": False}
STEPS_TO_NOISE = 1000
"""Steps in which the lattice model's noise inner products move by their own size."""


@dataclass(frozen=True)
class Sizes:
    """What the formulas of the paper are written in.

    - `samples` n, `support` s, `sigma_p`, `sigma_0`, `key_neurons` m_k,
      `value_neurons` m_v, `learning_rate` η at the first step; `orthogonal`: whether
      noise avoids the signal's coordinate.
    - `growth` of the rate per step once it is a share `growth` of the time passed.
    """

    samples: int
    support: int
    sigma_p: float
    sigma_0: float
    key_neurons: int
    value_neurons: int
    orthogonal: bool
    learning_rate: float
    growth: float = 0.0

    def __post_init__(self) -> None:
        for name in ("samples", "support", "key_neurons", "value_neurons"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive. Table 3's "
                    f"fractions need embed=100 at least; or give {name} itself."
                )
        for name in ("sigma_p", "sigma_0", "learning_rate"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive and finite; "
                    f"leave it at none for the paper's own."
                )
        if not 0.0 <= self.growth < 0.1:
            raise ValueError(
                f"growth is {self.growth}: it is the share of the time passed that a "
                "step may take, at least 0 and below 0.1. Use growth=1e-3."
            )

    @property
    def strength(self) -> float:
        """σ_p s, the scale of ‖ξ‖₁."""
        return self.sigma_p * self.support


def sizes(setting: Any) -> Sizes:
    """The sizes of a `Train` or a `Lattice`, as a record or as a run's dictionary."""
    given = setting if isinstance(setting, Mapping) else vars(setting)
    return _trained(given) if "row" in given else _lattice(given)


def _trained(given: Mapping[str, Any]) -> Sizes:
    embed, row = given["embed"], given["row"]
    support = _or(given["support"], round(SUPPORT[row] * embed))
    return Sizes(
        samples=_or(given["samples"], round(0.01 * embed)),
        support=support,
        sigma_p=_or(given["sigma_p"], 2 / math.sqrt(max(support, 1))),
        sigma_0=_or(given["sigma_0"], 0.1 / math.sqrt(embed)),
        key_neurons=_or(given["key_neurons"], round(0.05 * embed)),
        value_neurons=_or(given["value_neurons"], round(0.01 * embed)),
        orthogonal=_or(given["orthogonal"], ORTHOGONAL[row]),
        learning_rate=_or(given["learning_rate"], RATES[given["rule"]]),
    )


def _lattice(given: Mapping[str, Any]) -> Sizes:
    support, sigma_0 = given["support"], given["sigma_0"]
    root = math.sqrt(max(support, 1))
    return Sizes(
        samples=given["samples"],
        support=support,
        sigma_p=_or(given["sigma_p"], 2 / root),
        sigma_0=sigma_0,
        key_neurons=given["key_neurons"],
        value_neurons=given["value_neurons"],
        orthogonal=True,
        learning_rate=_or(given["learning_rate"], sigma_0 / root / STEPS_TO_NOISE),
        growth=given["growth"],
    )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
