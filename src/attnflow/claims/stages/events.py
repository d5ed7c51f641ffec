"""Events of a run: when something happens in each seed, and in which order.

A detector of `attnflow.claims.stages.series` is applied to each seed of a series.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import xarray as xr
from jaxtyping import Float

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
    """By how much events happened in an order, per seed.

    `gap` is the least log of a time over the one before it: ln 2 means that every event
    took twice as long as the one before; negative where they are out of order, and NaN
    where one did not happen.
    """

    names: tuple[str, ...]
    gap: tuple[float, ...]


def order(events: Sequence[Event]) -> Order:
    """The order of events in each seed."""
    if len(events) < 2 or len({event.seeds for event in events}) != 1:
        raise ValueError("An order needs two events or more, of the same seeds.")
    times = np.stack([event.times for event in events])
    # An event at time 0 has no logarithm: it comes before all others.
    floor = 1e-12 * float(np.nanmax(times, initial=1.0))
    gaps = np.diff(np.log(np.maximum(times, floor)), axis=0).min(axis=0)
    return Order(tuple(event.name for event in events), tuple(gaps.tolist()))


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
