"""Sizes and scales of a setting: Table 3's rows at any dimension.

A setting holds `None` where the paper's fraction of d is meant; `sizes` turns a
setting, or the fields that a run stores, into numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from attnflow.papers.signgd._types import Fields
from attnflow.papers.signgd.settings import Lattice, Train

Field = TypeVar("Field")

RATES = {"gd": 0.1, "momentum": 0.1, "nesterov": 0.1}
"""Learning rates of Appendix B.1, by optimiser: that of gradient descent, and"""
RATE = 1e-4
"""of SignGD and Adam, which every other rule takes too."""
SUPPORT = {"a": 0.04, "b": 0.04, "c": 0.4, "d": 0.4}
ORTHOGONAL = {"a": True, "b": False, "c": True, "d": False}
STEPS_TO_NOISE = 1000
"""Steps in which the lattice's noise inner products move by their initial size."""


@dataclass(frozen=True)
class Sizes:
    """The sizes in which the paper's formulas are written.

    - `samples` n, `support` s, `sigma_p`, `sigma_0`, `key_neurons` m_k,
      `value_neurons` m_v, `learning_rate` η at the first step; `orthogonal`: whether
      noise avoids the signal's coordinate.
    - `growth`: relative growth of the rate per step, once a step is this fraction of
      the elapsed time.
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
                    f"fractions need embed=100 at least; or set {name} itself."
                )
        for name in ("sigma_p", "sigma_0", "learning_rate"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ValueError(
                    f"{name} is {getattr(self, name)}: it must be positive and finite; "
                    "leave it at none for the paper's value."
                )
        if not 0.0 <= self.growth < 0.1:
            raise ValueError(
                f"growth is {self.growth}: it is the fraction of the elapsed time that "
                "a step may take, at least 0 and below 0.1. Use growth=1e-3."
            )

    @property
    def strength(self) -> float:
        """The noise strength σ_p s, the scale of ‖ξ‖₁."""
        return self.sigma_p * self.support


def sizes(setting: Train | Lattice | Fields) -> Sizes:
    """The sizes of a `Train` or a `Lattice`, or of the fields that a run stores."""
    fields = setting if isinstance(setting, Mapping) else vars(setting)
    return _trained(fields) if "row" in fields else _lattice(fields)


def _trained(fields: Fields) -> Sizes:
    embed, row = fields["embed"], fields["row"]
    support = _or(fields["support"], round(SUPPORT[row] * embed))
    return Sizes(
        samples=_or(fields["samples"], round(0.01 * embed)),
        support=support,
        sigma_p=_or(fields["sigma_p"], 2 / math.sqrt(max(support, 1))),
        sigma_0=_or(fields["sigma_0"], 0.1 / math.sqrt(embed)),
        key_neurons=_or(fields["key_neurons"], round(0.05 * embed)),
        value_neurons=_or(fields["value_neurons"], round(0.01 * embed)),
        orthogonal=_or(fields["orthogonal"], ORTHOGONAL[row]),
        learning_rate=_or(fields["learning_rate"], RATES.get(fields["rule"], RATE)),
    )


def _lattice(fields: Fields) -> Sizes:
    support, sigma_0 = fields["support"], fields["sigma_0"]
    root = math.sqrt(max(support, 1))
    return Sizes(
        samples=fields["samples"],
        support=support,
        sigma_p=_or(fields["sigma_p"], 2 / root),
        sigma_0=sigma_0,
        key_neurons=fields["key_neurons"],
        value_neurons=fields["value_neurons"],
        orthogonal=True,
        learning_rate=_or(fields["learning_rate"], sigma_0 / root / STEPS_TO_NOISE),
        growth=fields["growth"],
    )


def _or(value: Field | None, default: Field) -> Field:
    return default if value is None else value
