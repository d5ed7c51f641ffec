"""Events of a run: when something happens in each seed; stages, which end in events.

A detector of `attnflow.claims.stages.series` is applied to each seed of a series. A
stage is data: a series, a detector, a level, and the paper's formula for the time.
Python and the browser read the same records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnflow import schema
from attnflow.claims.stages.series import (
    NOTHING,
    Clock,
    Detected,
    Direction,
    Series,
    all_crossed,
    crossing,
    extreme,
    parse_selector,
    plateau_end,
    reaches,
    recorded_series,
    settling,
)
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import SEED, STAGE, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import JsonObject

if TYPE_CHECKING:
    from jaxtyping import Float


@dataclass(frozen=True)
class Event:
    """When something happened in each seed of a run."""

    name: str
    seeds: tuple[int, ...]
    detected: tuple[Detected, ...]

    @property
    def times(self) -> Float[np.ndarray, " seed"]:
        """The times, NaN where it did not happen."""
        return np.array([np.nan if d.time is None else d.time for d in self.detected])

    @property
    def reached(self) -> tuple[bool, ...]:
        """Whether it happened, per seed."""
        return tuple(d.reached for d in self.detected)

    @property
    def median(self) -> float | None:
        """The median time over all seeds, those without the event as latest.

        `None` where it did not happen in half of them.
        """
        ordered = np.sort(np.where(np.isnan(self.times), np.inf, self.times))
        middle = ordered[[(len(ordered) - 1) // 2, len(ordered) // 2]]
        return float(middle.mean()) if np.isfinite(middle).all() else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The earliest and the latest time; `None` with fewer than two."""
        times = self.times[np.isfinite(self.times)]
        return (float(times.min()), float(times.max())) if len(times) > 1 else None

    @property
    def note(self) -> str:
        """In how many seeds it happened, and the reason of the first where not."""
        pairs = zip(self.seeds, self.detected, strict=True)
        missed = [(seed, d.reason) for seed, d in pairs if not d.reached]
        if not missed:
            reasons = {d.reason for d in self.detected}
            return reasons.pop() if len(reasons) == 1 else ""
        seed, reason = missed[0]
        if len(self.seeds) == 1:
            return f"not reached: {reason}"
        count = f"{len(missed)} of {len(self.seeds)} seeds"
        return f"not reached in {count} (seed {seed}: {reason})"


def first_crossing(
    run: xr.Dataset,
    series: Series,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When a series first reaches a level, per seed; see `crossing`.

    !!! example

        ```python
        loss = "loss_by_group[conflicting]"
        first_crossing(run, loss, level=0.1, direction="down").median
        ```
    """
    detector = partial(crossing, level=level, direction=direction)
    return _event(run, series, partial(detector, clock=clock, scale=scale), name)


def settled(run: xr.Dataset, series: Series, *, level: float, name: str = "") -> Event:
    """From when on a series stays above a level, per seed."""
    return _event(run, series, partial(settling, level=level), name)


def largest_at(run: xr.Dataset, series: Series) -> Event:
    """When a series is largest among its records, per seed."""
    return _event(run, series, partial(extreme))


def order_gap(events: Sequence[Event]) -> Float[np.ndarray, " seed"]:
    """By how much events happened in their order, per seed.

    The least log of a time over the one before it: ln 2 means that every event took
    twice as long as the one before; negative where they are out of order, and NaN
    where one did not happen.
    """
    if len(events) < 2 or len({event.seeds for event in events}) != 1:
        raise ValueError("An order needs two events or more, of the same seeds.")
    times = np.stack([event.times for event in events])
    # An event at time 0 has no logarithm: it comes before all others.
    floor = 1e-12 * float(np.nanmax(times, initial=1.0))
    return np.diff(np.log(np.maximum(times, floor)), axis=0).min(axis=0)


@dataclass(frozen=True)
class Detection:
    """A series that a detector read, for pictures and explanations of a verdict.

    **Arguments:**

    - `run`: where it comes from; `series`: with dims `(seed, time)`, and its own behind
      them where the detector reads all its entries.
    - `level`: what the series had to reach; `None` where there is no such level.
    - `times`: when it did, per seed; NaN where it did not.
    """

    name: str
    run: xr.Dataset
    series: xr.DataArray
    level: float | None
    times: tuple[float, ...]


_detections: ContextVar[list[Detection] | None] = ContextVar("detections", default=None)


@contextmanager
def record_detections() -> Iterator[list[Detection]]:
    """The series that detectors read inside the context, in their order."""
    detections: list[Detection] = []
    token = _detections.set(detections)
    try:
        yield detections
    finally:
        _detections.reset(token)


def _event(
    run: xr.Dataset,
    series: Series,
    detector: partial[Detected],
    name: str = "",
    *,
    entries: bool = False,
) -> Event:
    array = recorded_series(run, series, entries=entries)
    time = array[TIME].values.astype(float)
    values = array.values
    if entries:
        values = values.reshape(*values.shape[:2], -1)
    masks = np.ones(values.shape[:2], bool)
    if "recorded" in run:
        recorded = run["recorded"].sel(seed=array[SEED], time=array[TIME])
        masks = recorded.transpose(SEED, TIME).values.astype(bool)
    event = Event(
        name or (series if isinstance(series, str) else str(series.name or "series")),
        tuple(int(seed) for seed in array[SEED].values),
        tuple(
            detector(time[mask], value[mask])
            for value, mask in zip(values, masks, strict=True)
        ),
    )
    if (detections := _detections.get()) is not None:
        level, times = detector.keywords.get("level"), tuple(event.times)
        detections.append(Detection(event.name, run, array, level, times))
    return event


Detector = Literal["first", "last", "settled", "all", "plateau", "largest", "least"]
_CROSSINGS: dict[str, Callable[..., Detected]] = {
    "first": crossing,
    "last": partial(crossing, which="last"),
    "all": all_crossed,
    "settled": settling,
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
        detector, entries = self._detector(self.level_of(run)), self.detector == "all"
        event = _event(run, series, detector, self.name, entries=entries)
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

    def _detector(self, level: float) -> partial[Detected]:
        """The detector of one seed's series."""
        if self.detector in ("largest", "least"):
            return partial(extreme, kind=self.detector)
        if self.detector == "plateau":
            return partial(plateau_end, tolerance=level)
        across = partial(
            _CROSSINGS[self.detector], level=level, direction=self.direction
        )
        if self.detector == "settled":
            return across
        return partial(across, clock=self.clock, scale=self.scale)

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
        # If the level may have been crossed in unknown records, it may have been
        # reached before the end.
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
