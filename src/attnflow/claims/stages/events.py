"""Events of a run: when something happens in each seed, in which order, by which stage.

A detector of `attnflow.claims.stages.series` is applied to each seed of a series.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from jaxtyping import Float

from attnflow import schema
from attnflow.claims.stages.series import (
    Clock,
    Detected,
    Direction,
    Labels,
    Series,
    all_crossed,
    crossing,
    extreme,
    plateau_end,
    recorded_series,
    settling,
)
from attnflow.schema.dims import SEED, TIME


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
    where: Labels | None = None,
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
        first_crossing(
            run, "loss_by_group", {"group": "conflicting"}, level=0.1, direction="down"
        ).median
        ```
    """
    detector = partial(crossing, level=level, direction=direction)
    return _event(run, series, where, partial(detector, clock=clock, scale=scale), name)


def last_crossing(
    run: xr.Dataset,
    series: Series,
    where: Labels | None = None,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When a series last comes to a level from the other side, per seed."""
    detector = partial(crossing, level=level, direction=direction)
    detector = partial(detector, which="last", clock=clock, scale=scale)
    return _event(run, series, where, detector, name)


def settled(
    run: xr.Dataset,
    series: Series,
    where: Labels | None = None,
    *,
    level: float,
    direction: Direction = "up",
    name: str = "",
) -> Event:
    """From when on a series stays beyond a level, per seed."""
    detector = partial(settling, level=level, direction=direction)
    return _event(run, series, where, detector, name)


def first_all(
    run: xr.Dataset,
    series: Series,
    where: Labels | None = None,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When all entries of a series are first beyond a level together, per seed."""
    detector = partial(all_crossed, level=level, direction=direction)
    detector = partial(detector, clock=clock, scale=scale)
    return _event(run, series, where, detector, name, entries=True)


def plateau_left(
    run: xr.Dataset,
    series: Series,
    where: Labels | None = None,
    *,
    tolerance: float,
    level: float | None = None,
    name: str = "",
) -> Event:
    """When a series leaves its plateau, per seed; see `plateau_end`."""
    detector = partial(plateau_end, tolerance=tolerance, level=level)
    return _event(run, series, where, detector, name)


def extreme_time(
    run: xr.Dataset,
    series: Series,
    where: Labels | None = None,
    *,
    kind: Literal["largest", "least"] = "largest",
    name: str = "",
) -> Event:
    """When a series is largest or least among its records, per seed."""
    return _event(run, series, where, partial(extreme, kind=kind), name)


@dataclass(frozen=True)
class Order:
    """Whether events happened in an order, per seed.

    **Arguments:**

    - `held`: per seed, whether all happened, each strictly after the one before.
    - `gap`: per seed, the least log of a time over the one before it: ln 2 means that
      every event took twice as long as the one before; negative where out of order,
      and −1 where an event did not happen.
    """

    names: tuple[str, ...]
    held: tuple[bool, ...]
    gap: tuple[float, ...]


def order(events: Sequence[Event]) -> Order:
    """Whether `events` happened one after the other, in each seed."""
    if len(events) < 2 or len({event.seeds for event in events}) != 1:
        raise ValueError("An order needs two events or more, of the same seeds.")
    times = np.stack([event.times for event in events])
    happened = np.isfinite(times).all(axis=0)
    safe = np.where(np.isfinite(times), times, 1.0)
    held = happened & (np.diff(safe, axis=0).min(axis=0) > 0.0)
    floor = 1e-12 * float(safe.max(initial=1.0))
    gaps = np.diff(np.log(np.maximum(safe, floor)), axis=0).min(axis=0)
    gaps = np.where(happened, gaps, -1.0)
    names = tuple(event.name for event in events)
    return Order(names, tuple(held.tolist()), tuple(gaps.tolist()))


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
class StageRule:
    """How a boundary between stages is detected.

    **Arguments:**

    - `detector`: run → event, such as `lambda run: first_crossing(run, "loss", …)`.
    - `formula`: setting (a dictionary) → the paper's time, or `None` where the
      setting has none.
    - `meaning`: in words, with the levels that we chose.
    """

    name: str
    detector: Callable[[xr.Dataset], Event]
    formula: Callable[[Mapping[str, Any]], float | None] | None = None
    meaning: str = ""


def stage_table(run: xr.Dataset, rules: Iterable[StageRule]) -> list[StageRow]:
    """A row for each rule, with the formula at the run's setting."""
    rows = []
    for rule in rules:
        event = rule.detector(run)
        formula = rule.formula(schema.setting_of(run)) if rule.formula else None
        if formula is not None and not np.isfinite(formula):
            formula = None
        detected = event.median, event.spread, event.note
        rows.append(StageRow(rule.name, formula, *detected))
    return rows


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
    where: Labels | None,
    detector: partial[Detected],
    name: str,
    *,
    entries: bool = False,
) -> Event:
    array = recorded_series(run, series, where, entries=entries)
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
