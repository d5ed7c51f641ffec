"""What is measured in a cell: numbers of its run, by a small grammar.

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

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import first_crossing, parse_selector, select
from attnflow.claims.statistics import fit_line
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.names import look_up

_GRAMMAR = re.compile(
    r"(?P<series>[^@~^]+)"
    r"(?:@(?P<level>[^@~]+)|\^(?P<extreme>\w*)"
    r"|~(?P<kind>\w*)(?::(?P<low>.+)\.\.(?P<high>.+))?)?"
)
_EXAMPLES = "Write for example loss, loss@0.1, loss~loglog or loss~log:100..2000."
_LEAST = 3


@dataclass(frozen=True)
class Column:
    """One variable of a measured cell: a number or a text, for each seed or once."""

    by_seed: bool = True
    text: bool = False


class Measure(Protocol):
    """What turns a cell into numbers and texts."""

    @property
    def text(self) -> str:
        """What was asked for, as it was written."""
        ...

    @property
    def identity(self) -> str:
        """A text that differs where results may differ."""
        ...

    @property
    def columns(self) -> Mapping[str, Column]:
        """The variables that it gives."""
        ...

    @property
    def reads(self) -> tuple[str, ...]:
        """The variables of the cell's run that it reads; none if it needs no run."""
        ...

    @property
    def has_series(self) -> bool:
        """Whether it reads records, and not only what is there at the end."""
        ...

    def of(self, run: xr.Dataset | None, cell: "Cell") -> Mapping[str, Any]:
        """The values of its columns."""
        ...


@dataclass(frozen=True)
class Cell:
    """A cell as a measure sees it: settings that the sweep gives, and its seeds."""

    changes: Mapping[str, Any]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Observed:
    """A number of a run: a last value or an extreme one, a time, or a slope."""

    text: str
    series: str
    level: float | None = None
    extreme: Literal["max", "min"] | None = None
    kind: Literal["loglog", "log", "linear"] | None = None
    window: tuple[float, float] = (-math.inf, math.inf)

    @property
    def identity(self) -> str:
        """Its text says it all."""
        return self.text

    @property
    def columns(self) -> Mapping[str, Column]:
        """One number for each seed."""
        return {self.text: Column()}

    @property
    def reads(self) -> tuple[str, ...]:
        """The one variable that it reads."""
        return (parse_selector(self.series).name,)

    @property
    def has_series(self) -> bool:
        """Whether it reads records."""
        return not (self.level is None and self.kind is None and self.extreme is None)

    def of(self, run: xr.Dataset | None, cell: Cell) -> Mapping[str, Any]:
        """The number for each seed."""
        assert run is not None
        if self.level is not None:
            return {self.text: _time_to(run, self.series, self.level)}
        if self.kind is not None:
            return {self.text: self._slopes(run)}
        if self.extreme is not None:
            return {self.text: self._extremes(run)}
        return {self.text: at_end(run, self.series)}

    def _extremes(self, run: xr.Dataset) -> np.ndarray:
        series = _scalar(select(run, self.series), self.series, TIME)
        largest = self.extreme == "max"
        found = series.max(TIME) if largest else series.min(TIME)
        return found.values.astype(float)

    def _slopes(self, run: xr.Dataset) -> np.ndarray:
        series = _scalar(select(run, self.series), self.series, TIME)
        time = series[TIME].values.astype(float)
        return np.array([self._slope(time, row) for row in series.values])

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


def parse_measure(text: str) -> Observed:
    """The measure that a text means.

    !!! example

        ```python
        parse_measure("loss@0.1").level  # 0.1
        ```
    """
    match = _GRAMMAR.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} measures nothing. {_EXAMPLES}")
    series = str(parse_selector(match["series"]))
    if match["level"] is not None:
        level = _number(text, match["level"])
        return Observed(text.strip(), series, level=level)
    if match["extreme"] is not None:
        known = {name: name for name in ("max", "min")}
        found = cast(Any, look_up(f"extreme in {text!r}:", match["extreme"], known))
        return Observed(text.strip(), series, extreme=found)
    if match["kind"] is None:
        return Observed(text.strip(), series)
    known = {name: name for name in ("loglog", "log", "linear")}
    kind = cast(Any, look_up(f"slope in {text!r}:", match["kind"], known))
    if match["low"] is None:
        return Observed(text.strip(), series, kind=kind)
    window = _number(text, match["low"]), _number(text, match["high"])
    if not window[0] < window[1]:
        raise ValueError(f"{text!r} has a window that ends before it begins.")
    return Observed(text.strip(), series, kind=kind, window=window)


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
    found = _scalar(select(run, series), series).values.astype(float)
    return np.where(np.isfinite(found), found, np.nan)


def check_measures(measures: Sequence[Measure]) -> None:
    """Refuse measures that are none, or give a variable twice."""
    if not measures:
        raise ValueError(f"Nothing is measured. {_EXAMPLES}")
    names = [name for measure in measures for name in measure.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice} is measured twice. Ask for it once.")


def _time_to(run: xr.Dataset, series: str, level: float) -> np.ndarray:
    values = _scalar(select(run, series), series, TIME)
    from_above = np.nanmedian(values.isel(time=0)) > level
    direction = "down" if from_above else "up"
    return first_crossing(run, series, level=level, direction=direction).times


def _scalar(found: xr.DataArray, series: str, *dims: str) -> xr.DataArray:
    wanted = (SEED, *dims)
    if set(found.dims) != set(wanted):
        raise ValueError(
            f"{series} has the dims {found.dims}, and {wanted} are needed: name one "
            "entry, as in loss_by_group[common] or score[+,c1,v1]."
        )
    return found.transpose(*wanted)


def _number(text: str, part: str) -> float:
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} has {part!r} in the place of a number. {_EXAMPLES}")
    return number
