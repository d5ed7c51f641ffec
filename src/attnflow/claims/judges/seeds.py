"""Statements in every seed: bounds, identities, and orders of values and of stages."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from attnflow.claims import look
from attnflow.claims.base import Evidence
from attnflow.claims.checks import ROUNDING, Exact, Finding, Measurement, per_seed
from attnflow.claims.judges.base import (
    AbstractJudge,
    Mask,
    Measure,
    Table,
    as_table,
    labelled,
    mask_of,
    measured,
)
from attnflow.claims.stages import Stage
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

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
            table = measured(self.measure, runs)
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
            table = abs(measured(self.error, runs))
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


@dataclass(frozen=True)
class AbstractTurn(AbstractJudge):
    """Values that go in turn along a dim of the table, or along the runs."""

    what: str
    measure: Measure
    along: str = ""
    when: Mask | None = field(default=None, kw_only=True)
    unit: Literal["difference", "log"] = field(default="difference", kw_only=True)
    strict: bool = field(default=True, kw_only=True)
    rounding: float = field(default=ROUNDING, kw_only=True)

    def rises(self, evidence: Evidence, sign: float) -> Finding:
        """The least step in one direction, in every seed."""
        by_name = self.runs(evidence)
        if not self.along:
            runs = [run for (run,) in by_name.values()]
            tables = [measured(self.measure, (run,)) for run in runs]
            return self._finding("", _stack(tables), None, sign)
        checks, numbers = [], {}
        for name, runs in by_name.items():
            table = measured(self.measure, runs)
            mask = mask_of(table, self.when, runs)
            part = self._finding(name, table, mask, sign)
            checks += part.checks
            numbers |= part.numbers
        return Finding(tuple(checks), numbers)

    def _finding(
        self, name: str, table: xr.DataArray, mask: xr.DataArray | None, sign: float
    ) -> Finding:
        dim = self.along or "turn"
        values = xr.apply_ufunc(np.log, table) if self.unit == "log" else table
        change = sign * values.diff(dim, label="lower")
        if mask is not None and dim == TIME:
            mask = look.both(mask)
        margin = look.least(change, mask)
        label = labelled(self.what, name)
        check = per_seed(margin, label, strict=self.strict, rounding=self.rounding)
        return Finding((check,), {f"{label}, least step": look.extent(margin)})


def _stack(tables: Sequence[xr.DataArray]) -> xr.DataArray:
    """Tables of several runs along `turn`, seed by seed in their order."""
    bare = [table.drop_vars(list(table.coords)) for table in tables]
    return xr.concat(bare, dim="turn")


@dataclass(frozen=True)
class Rising(AbstractTurn):
    """Values rise along a dim, or from run to run."""

    def __call__(self, evidence: Evidence) -> Finding:
        """The least rise."""
        return self.rises(evidence, 1.0)

    def words(self) -> str:
        """What rises along what."""
        return f"{self.what} rises along {self.along or 'the runs'}"


@dataclass(frozen=True)
class Falling(AbstractTurn):
    """Values fall along a dim, or from run to run."""

    def __call__(self, evidence: Evidence) -> Finding:
        """The least fall."""
        return self.rises(evidence, -1.0)

    def words(self) -> str:
        """What falls along what."""
        return f"{self.what} falls along {self.along or 'the runs'}"


@dataclass(frozen=True)
class InOrder(AbstractJudge):
    """Stages that end one after the other, in every seed.

    - `stages`: by name, the detectors.
    - `order`: groups of names, each in turn; all stages in their order by default.
    - `never`: names that count as later than everything where they do not happen.
    - `what`: before the order in words, where a claim has several.

    The margin is the least log of a time over the one before it.
    """

    stages: Mapping[str, Stage]
    order: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)
    never: tuple[str, ...] = field(default=(), kw_only=True)
    what: str = field(default="", kw_only=True)

    def __call__(self, evidence: Evidence) -> Finding:
        """A check for each group and run, and the times over seeds."""
        checks: list[Measurement] = []
        numbers: dict[str, Any] = {}
        for name, (run,) in self.runs(evidence).items():
            times = {key: self._times(run, key) for key in self.stages}
            for group in self.groups:
                gaps = [
                    _log(times[late]) - _log(times[early])
                    for early, late in pairwise(group)
                ]
                margin = np.minimum(np.min(gaps, axis=0), _LATEST)
                label = labelled(" < ".join(group), name or self.what)
                checks.append(per_seed(margin, label, strict=True))
            shown = {key: look.extent(value) for key, value in times.items()}
            label = name or self.what
            numbers |= {label: shown} if label else shown
        return Finding(tuple(checks), numbers)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names that must come in turn."""
        return self.order or (tuple(self.stages),)

    def _times(self, run: xr.Dataset, key: str) -> np.ndarray:
        event = self.stages[key](run)
        times = event.times
        if key not in self.never:
            return times
        # An event that was not reached counts as late only if the series is known to
        # the end.
        known = [detected.known for detected in event.detected]
        return np.where(np.isnan(times) & known, np.inf, times)

    def words(self) -> str:
        """The order."""
        orders = "; ".join(" < ".join(group) for group in self.groups)
        meanings = "; ".join(f"{n}: {s.meaning}" for n, s in self.stages.items())
        return f"{orders} ({meanings})"


_LATEST = math.log(1e6)


def _log(times: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(times)
