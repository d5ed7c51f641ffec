"""Orders: values that rise or fall in turn, and stages that end one after another."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow.claims import look
from attnflow.claims.base import Evidence
from attnflow.claims.checks import ROUNDING, Finding, Measurement, per_seed
from attnflow.claims.judges.base import (
    AbstractJudge,
    Mask,
    Measure,
    as_table,
    labelled,
    mask_of,
)
from attnflow.claims.stages import Stage
from attnflow.schema.dims import TIME


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
            tables = [as_table(self.measure(run), (run,)) for run in runs]
            return self._finding("", _stack(tables), None, sign)
        checks, numbers = [], {}
        for name, runs in by_name.items():
            table = as_table(self.measure(*runs), runs)
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
        # Not reached is late only where the series was known to the end.
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
