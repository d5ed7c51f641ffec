"""Bounds and identities: the worst entry of a measure, compared in every seed."""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import xarray as xr

from attnflow.claims import look
from attnflow.claims.base import Evidence
from attnflow.claims.checks import ROUNDING, Exact, Finding, per_seed
from attnflow.claims.judges.base import (
    AbstractJudge,
    Mask,
    Measure,
    Table,
    as_table,
    labelled,
    mask_of,
)

Bound = float | Callable[..., Table] | Mapping[str, float]
"""A number, a function of the same runs as the measure, or numbers by run."""
Unit = Literal["ratio", "difference", "log"]


def _bound_of(bound: Bound, name: str, runs: Sequence[xr.Dataset]) -> xr.DataArray:
    if callable(bound):
        return as_table(bound(*runs), runs)
    number = bound[name] if isinstance(bound, Mapping) else bound
    return xr.DataArray(float(number))


def _bound_words(bound: Bound) -> str:
    if isinstance(bound, Mapping):
        return ", ".join(f"{number:g} ({name})" for name, number in bound.items())
    return "its bound" if callable(bound) else f"{bound:g}"


@dataclass(frozen=True)
class AbstractComparison(AbstractJudge):
    """A measure whose worst entry is compared with a bound in every seed.

    - `when`: run → mask of the records that are meant; all that were recorded by
      default. `period` says it in words.
    - `unit` of the margin: `ratio` (of the difference to the bound), `difference`
      (needed where the bound is 0), or `log` of the ratio.
    - `rounding`: the numerical error of a margin.
    - `strict`: equality is not enough.
    """

    what: str
    measure: Measure
    when: Mask | None = field(default=None, kw_only=True)
    period: str = field(default="", kw_only=True)
    unit: Unit = field(default="ratio", kw_only=True)
    rounding: float = field(default=ROUNDING, kw_only=True)
    strict: bool = field(default=False, kw_only=True)

    @abc.abstractmethod
    def margins(
        self, table: xr.DataArray, name: str, runs: Sequence[xr.Dataset]
    ) -> xr.DataArray:
        """How far each entry is inside its bound, in the unit."""

    @abc.abstractmethod
    def worst(self, table: xr.DataArray, mask: xr.DataArray | None) -> np.ndarray:
        """The entry of each seed that is printed."""

    def __call__(self, evidence: Evidence) -> Finding:
        """One check for each run, and the worst entries over seeds."""
        checks, numbers = [], {}
        for name, runs in self.runs(evidence).items():
            table = as_table(self.measure(*runs), runs)
            mask = mask_of(table, self.when, runs)
            margin = look.least(self.margins(table, name, runs), mask)
            label = labelled(self.what, name)
            numbers[label] = look.extent(self.worst(table, mask))
            check = per_seed(margin, label, rounding=self.rounding, strict=self.strict)
            checks.append(check)
        return Finding(tuple(checks), numbers)

    def in_unit(self, value: xr.DataArray, bound: xr.DataArray) -> xr.DataArray:
        """Value − bound in the unit of the margin."""
        if self.unit == "difference":
            return value - bound
        if self.unit == "log":
            return xr.apply_ufunc(np.log, value / bound)
        if not (bound > 0).all():
            raise ValueError(
                f"The bound of {self.what!r} is not positive everywhere: use "
                "unit='difference'."
            )
        return value / bound - 1.0


@dataclass(frozen=True)
class AtLeast(AbstractComparison):
    """Every entry of a measure is at least a bound."""

    bound: Bound

    def margins(
        self, table: xr.DataArray, name: str, runs: Sequence[xr.Dataset]
    ) -> xr.DataArray:
        """Entry less bound."""
        return self.in_unit(table, _bound_of(self.bound, name, runs))

    def worst(self, table: xr.DataArray, mask: xr.DataArray | None) -> np.ndarray:
        """The least entry."""
        return look.least(table, mask)

    def words(self) -> str:
        """What is at least which bound, and when."""
        sign = ">" if self.strict else "≥"
        return _joined(f"{self.what} {sign} {_bound_words(self.bound)}", self.period)


@dataclass(frozen=True)
class AtMost(AbstractComparison):
    """Every entry of a measure is at most a bound."""

    bound: Bound

    def margins(
        self, table: xr.DataArray, name: str, runs: Sequence[xr.Dataset]
    ) -> xr.DataArray:
        """Bound less entry."""
        return -self.in_unit(table, _bound_of(self.bound, name, runs))

    def worst(self, table: xr.DataArray, mask: xr.DataArray | None) -> np.ndarray:
        """The largest entry."""
        return look.largest(table, mask)

    def words(self) -> str:
        """What is at most which bound, and when."""
        sign = "<" if self.strict else "≤"
        return _joined(f"{self.what} {sign} {_bound_words(self.bound)}", self.period)


@dataclass(frozen=True)
class Near(AbstractComparison):
    """Every entry of a measure is near a target: `within` it, in the unit.

    The margin is in units of `within`: 1 at the target, 0 at the end of the range.
    """

    target: Bound
    within: float

    def margins(
        self, table: xr.DataArray, name: str, runs: Sequence[xr.Dataset]
    ) -> xr.DataArray:
        """1 − distance / within."""
        target = _bound_of(self.target, name, runs)
        return 1.0 - abs(self.in_unit(table, target)) / self.within

    def worst(self, table: xr.DataArray, mask: xr.DataArray | None) -> np.ndarray:
        """The middle of the range of entries."""
        return (look.least(table, mask) + look.largest(table, mask)) / 2

    def words(self) -> str:
        """What is near which target, and when."""
        target = _bound_words(self.target)
        sign = {"ratio": "·(1 ± ", "difference": " ± (", "log": "·e^±("}[self.unit]
        text = f"{self.what} = {target}{sign}{self.within:g})"
        return _joined(text, self.period)


@dataclass(frozen=True)
class Equal(AbstractJudge):
    """An identity: the largest error of all entries and seeds is within arithmetic.

    `tolerance` is derived, and a function of the run where sizes enter it.
    """

    what: str
    error: Measure
    tolerance: float | Callable[..., float]
    when: Mask | None = field(default=None, kw_only=True)

    def __call__(self, evidence: Evidence) -> Finding:
        """One check for each run."""
        checks, numbers = [], {}
        for name, runs in self.runs(evidence).items():
            table = abs(as_table(self.error(*runs), runs))
            errors = look.largest(table, mask_of(table, self.when, runs))
            tolerance = self.tolerance
            if callable(tolerance):
                tolerance = float(tolerance(*runs))
            label = labelled(self.what, name)
            checks.append(Exact(float(errors.max()), tolerance, label))
            numbers[label] = float(errors.max())
        return Finding(tuple(checks), numbers)

    def words(self) -> str:
        """What is equal within which tolerance."""
        tolerance = self.tolerance
        text = "arithmetic" if callable(tolerance) else f"{tolerance:.2g}"
        return f"{self.what}, largest of all entries, within {text}"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
