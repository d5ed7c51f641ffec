"""Statistics of a cell: numbers computed from its run, by a small grammar.

    loss                      its value when training ended
    loss_by_group[common]     likewise, for one entry of what has dims of its own
    end_time                  any number that a run has for each seed
    loss@0.1                  when it first reaches 0.1, from either side
    loss~loglog               slope of ln loss in ln t, over all records
    loss~log:100..2000        slope of ln loss in t, for 100 ≤ t ≤ 2000
    loss~linear               slope of loss in t
    tangent_sharpness^max     the largest that was recorded, or with ^min the least

What did not happen, and what is not finite, is NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from attnflow import schema
from attnflow.claims.stages import first_crossing, parse_selector, select
from attnflow.claims.statistics.slopes import fit_line
from attnflow.schema.declarations import Statistic
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import look_up
from attnflow.sweeps.grid import Value

_GRAMMAR = re.compile(
    r"(?P<series>[^@~^]+)"
    r"(?:@(?P<level>[^@~]+)|\^(?P<extreme>\w*)"
    r"|~(?P<kind>\w*)(?::(?P<low>.+)\.\.(?P<high>.+))?)?"
)
_EXAMPLES = "Write for example loss, loss@0.1, loss~loglog or loss~log:100..2000."
_LEAST = 3
Extreme = Literal["max", "min"]
Slope = Literal["loglog", "log", "linear"]
_EXTREMES: dict[str, Extreme] = {"max": "max", "min": "min"}
_SLOPES: dict[str, Slope] = {"loglog": "loglog", "log": "log", "linear": "linear"}


@dataclass(frozen=True)
class Column:
    """A variable of a cell: a number or a text, for each seed or once."""

    by_seed: bool = True
    text: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell as a statistic sees it: settings that the sweep gives, and its seeds."""

    changes: Mapping[str, Value]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Outline:
    """What a statistic gives and needs.

    - `text`: its name, as the user wrote it; `identity`: a text that differs where
      results may differ.
    - `columns`: the variables that it gives.
    - `reads`: the variables of the cell's run that it reads; none if it needs no run.
    - `has_series`: whether it reads records, and not only values at the end.
    """

    text: str
    identity: str
    columns: Mapping[str, Column]
    reads: tuple[str, ...] = ()
    has_series: bool = False


class AbstractStatistic(Protocol):
    """Turns a cell into numbers and texts."""

    @property
    def outline(self) -> Outline:
        """What it gives and needs."""
        ...

    def of(
        self, run: xr.Dataset | None, cell: Cell, /
    ) -> Mapping[str, np.ndarray | float | str]:
        """The values of its columns."""
        ...


@dataclass(frozen=True)
class RunStatistic:
    """A number of a run: a last value or an extreme one, a time, or a slope."""

    text: str
    series: str
    level: float | None = None
    extreme: Extreme | None = None
    kind: Slope | None = None
    window: tuple[float, float] = (-math.inf, math.inf)

    @property
    def outline(self) -> Outline:
        """One number for each seed, read off one variable of the run."""
        return Outline(
            self.text,
            identity=self.text,
            columns={self.text: Column()},
            reads=(parse_selector(self.series).name,),
            has_series=self._has_series,
        )

    @property
    def _has_series(self) -> bool:
        return not (self.level is None and self.kind is None and self.extreme is None)

    def of(self, run: xr.Dataset | None, cell: Cell) -> Mapping[str, np.ndarray]:
        """The number for each seed."""
        assert run is not None
        if not self._has_series:
            return {self.text: at_end(run, self.series)}
        series = _scalar(select(run, self.series), self.series, TIME)
        if self.level is not None:
            from_above = np.nanmedian(series.isel(time=0)) > self.level
            direction = "down" if from_above else "up"
            reached = first_crossing(
                run, self.series, level=self.level, direction=direction
            )
            return {self.text: reached.times}
        if self.kind is not None:
            time = series[TIME].values.astype(float)
            slopes = [self._slope(time, row) for row in series.values]
            return {self.text: np.array(slopes)}
        extreme = series.max(TIME) if self.extreme == "max" else series.min(TIME)
        return {self.text: extreme.values.astype(float)}

    def _slope(self, x: np.ndarray, y: np.ndarray) -> float:
        low, high = self.window
        keep = np.isfinite(y) & (x >= low) & (x <= high)
        if self.kind != "linear":
            keep &= y > 0
        if self.kind == "loglog":
            keep &= x > 0
        if keep.sum() < _LEAST:
            return math.nan
        x, y = x[keep], y[keep]
        return fit_line(
            np.log(x) if self.kind == "loglog" else x,
            y if self.kind == "linear" else np.log(y),
        ).slope


@dataclass(frozen=True)
class PaperStatistic:
    """A number that a paper's function computes from the run of a cell, for each seed.

    `code` is a digest of the code that computes it.
    """

    statistic: Statistic
    code: str

    @property
    def outline(self) -> Outline:
        """One number for each seed, from any record of what the function reads."""
        name, function = self.statistic.name, self.statistic.function
        return Outline(
            name,
            identity=f"{name} {function} {self.code}",
            columns={name: Column()},
            reads=self.statistic.reads,
            has_series=True,
        )

    def of(self, run: xr.Dataset | None, cell: Cell) -> Mapping[str, np.ndarray]:
        """The number for each seed; NaN where it is not finite."""
        assert run is not None
        numbers = np.asarray(self.statistic.of(run), float)
        if numbers.shape != (len(cell.seeds),):
            raise ValueError(
                f"{self.statistic.function} gave numbers of shape {numbers.shape} for "
                f"{len(cell.seeds)} seeds. Let it give one number for each seed."
            )
        return {self.statistic.name: np.where(np.isfinite(numbers), numbers, np.nan)}


def parse_statistic(text: str) -> RunStatistic:
    """The statistic of a run that a text means.

    `parse_statistic("loss@0.1").level` is `0.1`.
    """
    text = text.strip()
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} measures nothing. {_EXAMPLES}")
    series = str(parse_selector(match["series"]))
    if match["level"] is not None:
        return RunStatistic(text, series, level=_number(text, match["level"]))
    if match["extreme"] is not None:
        extreme = look_up(f"extreme in {text!r}:", match["extreme"], _EXTREMES)
        return RunStatistic(text, series, extreme=extreme)
    if match["kind"] is None:
        return RunStatistic(text, series)
    kind = look_up(f"slope in {text!r}:", match["kind"], _SLOPES)
    if match["low"] is None:
        return RunStatistic(text, series, kind=kind)
    window = _number(text, match["low"]), _number(text, match["high"])
    if not window[0] < window[1]:
        raise ValueError(f"{text!r} has a window that ends before it begins.")
    return RunStatistic(text, series, kind=kind, window=window)


def at_end(run: xr.Dataset, series: str) -> np.ndarray:
    """What a run has for each seed when its training ended; NaN if it is not finite.

    Where a seed ended in one of several stages, it is the value at that stage's end.
    """
    name = parse_selector(series).name
    ends = f"{name}_at_end"
    if ends in run:
        ended = run["stage_end"].values == run["end_time"].values[:, None]
        picks = xr.DataArray(ended.argmax(axis=1), dims=SEED)
        run = xr.Dataset({name: run[ends].isel(stage=picks)}, attrs=run.attrs)
    elif name in run and TIME in run[name].dims:
        run = xr.Dataset({name: schema.last(run, name)}, attrs=run.attrs)
    values = _scalar(select(run, series), series).values.astype(float)
    return np.where(np.isfinite(values), values, np.nan)


def check_statistics(statistics: Sequence[AbstractStatistic]) -> None:
    """Refuse an empty list of statistics, and those that give a variable twice."""
    if not statistics:
        raise ValueError(f"Nothing is measured. {_EXAMPLES}")
    names = [name for statistic in statistics for name in statistic.outline.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice} is measured twice. Ask for it once.")


def _scalar(values: xr.DataArray, series: str, *dims: str) -> xr.DataArray:
    needed = (SEED, *dims)
    if set(values.dims) != set(needed):
        raise ValueError(
            f"{series} has the dims {values.dims}, and {needed} are needed: name one "
            "entry, as in loss_by_group[common] or score[+,c1,v1]."
        )
    return values.transpose(*needed)


def _number(text: str, part: str) -> float:
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} has {part!r} in the place of a number. {_EXAMPLES}")
    return number
