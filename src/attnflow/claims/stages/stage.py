"""Stages as data: a series, a detector, a level, and the paper's formula for the time.

Python and the browser read the same records.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages.events import (
    Event,
    extreme_time,
    first_all,
    first_crossing,
    last_crossing,
    plateau_left,
    settled,
)
from attnflow.claims.stages.series import (
    NOTHING,
    Clock,
    Detected,
    Direction,
    parse_selector,
    reaches,
)
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import STAGE
from attnflow.schema.settings import JsonObject

Detector = Literal["first", "last", "settled", "all", "plateau", "largest", "least"]
_CROSSINGS: dict[str, Callable[..., Event]] = {
    "first": first_crossing,
    "last": last_crossing,
    "all": first_all,
    "settled": settled,
}


@dataclass(frozen=True)
class StageRow:
    """A boundary between stages: the paper's time for it beside the detected one.

    **Arguments:**

    - `formula`: the paper's time, or `None` where it gives none.
    - `detected`: the median over seeds, or `None` where it was not reached.
    - `spread`: the earliest and the latest seed; `None` with fewer than two.
    """

    name: str
    formula: float | None
    detected: float | None
    spread: tuple[float, float] | None
    note: str


@dataclass(frozen=True)
class Stage:
    """The end of a stage: the time at which a series reaches a level.

    **Arguments:**

    - `name`: as in `T1`; `meaning`: in words, with the levels that we chose.
    - `series`: a selector such as `loss_by_group[conflicting]`, or run → series.
    - `detector`: the first or the last crossing of the level, the time from which the
      series is `settled` beyond it, the time at which `all` entries are, the end of a
      `plateau` (the level is how far it may move), or the extreme itself.
    - `level`: a number, or a function of the setting.
    - `at_end`: the run stops at the level, so that its end counts where no record
      has reached it; the series must be a selector.
    - `formula`: setting → the paper's time.
    - `needs`: variables that must be recorded; those of a selector are.
    """

    name: str
    series: str | Callable[[xr.Dataset], xr.DataArray]
    meaning: str
    detector: Detector = "first"
    level: float | Callable[[JsonObject], float] = 0.0
    direction: Direction = "up"
    clock: Clock = "linear"
    scale: Clock = "linear"
    at_end: bool = False
    formula: Callable[[JsonObject], FormulaTime] | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.at_end and not isinstance(self.series, str):
            raise ValueError(
                f"The stage {self.name} may end with the run, and its series is a "
                "function: give a selector, whose value at the end is kept."
            )

    def __call__(self, run: xr.Dataset) -> Event:
        """The event in each seed of a run."""
        series = self.series if isinstance(self.series, str) else self.series(run)
        event = self._detect(run, series, self.level_of(run))
        return self._at_end(run, event) if self.at_end else event

    def level_of(self, run: xr.Dataset) -> float:
        """The level at the setting of a run."""
        if callable(self.level):
            return self.level(schema.setting_of(run))
        return self.level

    def missing(self, run: xr.Dataset) -> tuple[str, ...]:
        """The variables that it needs and that the run has not recorded."""
        names = self.needs
        if isinstance(self.series, str):
            names = (*names, parse_selector(self.series).name)
        return tuple(name for name in names if name not in run)

    def row(self, run: xr.Dataset) -> StageRow:
        """The formula at the run's setting beside the detected time."""
        formula = FormulaTime(None)
        if self.formula is not None:
            formula = self.formula(schema.setting_of(run))
        missing = self.missing(run)
        if missing:
            note = f"{' and '.join(missing)} not recorded"
            row = StageRow(self.name, formula.time, None, None, note)
        else:
            event = self(run)
            detected = event.median, event.spread, event.note
            row = StageRow(self.name, formula.time, *detected)
        parts = (self.meaning, formula.reason, row.note)
        return replace(row, note="; ".join(part for part in parts if part))

    def _detect(
        self, run: xr.Dataset, series: str | xr.DataArray, level: float
    ) -> Event:
        name = self.name
        if self.detector in ("largest", "least"):
            return extreme_time(run, series, kind=self.detector, name=name)
        if self.detector == "plateau":
            return plateau_left(run, series, tolerance=level, name=name)
        across = partial(_CROSSINGS[self.detector], run, series, level=level, name=name)
        if self.detector == "settled":
            return across(direction=self.direction)
        return across(direction=self.direction, clock=self.clock, scale=self.scale)

    def _at_end(self, run: xr.Dataset, event: Event) -> Event:
        """The event, with the run's end where the level was reached only there."""
        selector = parse_selector(str(self.series))
        name = f"{selector.name}{schema.AT_END}"
        if name not in run or all(event.reached):
            return event
        last = run[name].isel({STAGE: -1})
        values = np.asarray(last.values, float)
        ends = run["end_time"].values
        reached = reaches(values, self.level_of(run), self.direction)
        # A level that may lie in a hole was perhaps reached before the end.
        detected = tuple(
            Detected(float(end))
            if is_reached and not seen.reached and (seen.known or seen == NOTHING)
            else seen
            for seen, is_reached, end in zip(event.detected, reached, ends, strict=True)
        )
        return replace(event, detected=detected)


def stage_table(run: xr.Dataset, stages: Iterable[Stage]) -> list[StageRow]:
    """A row for each stage of a run."""
    return [stage.row(run) for stage in stages]
