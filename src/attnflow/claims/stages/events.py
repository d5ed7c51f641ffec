"""Events of a run: a detector applied to each seed of a recorded series."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr
from jaxtyping import Float

from attnflow.claims.stages import detect
from attnflow.claims.stages.detect import Clock, Detected, Direction
from attnflow.claims.stages.looks import Look, tell
from attnflow.claims.stages.select import select
from attnflow.schema.dims import SEED, TIME

Series = str | xr.DataArray
"""A text such as `score[+,c1,v1]`, or a series computed from the run's variables."""


@dataclass(frozen=True)
class Event:
    """When something happened in each seed of a run."""

    name: str
    seeds: tuple[int, ...]
    found: tuple[Detected, ...]

    @property
    def times(self) -> Float[np.ndarray, " seed"]:
        """The times, NaN where it did not happen."""
        return np.array([np.nan if d.time is None else d.time for d in self.found])

    @property
    def reached(self) -> tuple[bool, ...]:
        """Whether it happened, per seed."""
        return tuple(d.reached for d in self.found)

    @property
    def median(self) -> float | None:
        """The median time over all seeds, those without the event as latest.

        `None` where it did not happen in half of them.
        """
        times = np.where(np.isnan(self.times), np.inf, self.times)
        ordered = np.sort(times)
        middle = ordered[[(len(ordered) - 1) // 2, len(ordered) // 2]]
        return float(middle.mean()) if np.isfinite(middle).all() else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The earliest and the latest time; `None` with fewer than two."""
        times = self.times[np.isfinite(self.times)]
        if len(times) < 2:
            return None
        return float(times.min()), float(times.max())

    @property
    def note(self) -> str:
        """In how many seeds it happened, and the reason of the first where not."""
        missed = [
            (seed, d.reason)
            for seed, d in zip(self.seeds, self.found, strict=True)
            if not d.reached
        ]
        if not missed:
            reasons = {d.reason for d in self.found}
            return reasons.pop() if len(reasons) == 1 else ""
        if len(self.seeds) == 1:
            return f"not reached: {missed[0][1]}"
        return (
            f"not reached in {len(missed)} of {len(self.seeds)} seeds "
            f"(seed {missed[0][0]}: {missed[0][1]})"
        )


def first_crossing(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When a series first reaches a level, per seed; see `detect.crossing`.

    !!! example

        ```python
        first_crossing(
            run, "loss_by_group", {"group": "conflicting"}, level=0.1, direction="down"
        ).median
        ```
    """
    options = {"direction": direction, "clock": clock, "scale": scale}
    rule = partial(detect.crossing, level=level, **options)
    return _event(run, series, where, rule, name)


def last_crossing(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When a series last comes to a level from the other side, per seed."""
    options = {"direction": direction, "clock": clock, "scale": scale}
    rule = partial(detect.crossing, level=level, which="last", **options)
    return _event(run, series, where, rule, name)


def settled(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    level: float,
    direction: Direction = "up",
    name: str = "",
) -> Event:
    """From when on a series stays beyond a level, per seed."""
    rule = partial(detect.settling, level=level, direction=direction)
    return _event(run, series, where, rule, name)


def first_all(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    level: float,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
    name: str = "",
) -> Event:
    """When all entries of a series' own dims are first beyond a level together."""
    options = {"direction": direction, "clock": clock, "scale": scale}
    rule = partial(detect.all_crossed, level=level, **options)
    return _event(run, series, where, rule, name, entries=True)


def plateau_left(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    tolerance: float,
    level: float | None = None,
    name: str = "",
) -> Event:
    """When a series leaves its plateau, per seed; see `detect.plateau_end`."""
    rule = partial(detect.plateau_end, tolerance=tolerance, level=level)
    return _event(run, series, where, rule, name)


def extreme_time(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None = None,
    *,
    kind: Literal["largest", "least"] = "largest",
    name: str = "",
) -> Event:
    """When a series is largest or least among its records, per seed."""
    return _event(run, series, where, partial(detect.extreme, kind=kind), name)


def _event(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None,
    rule: partial[Detected],
    name: str,
    *,
    entries: bool = False,
) -> Event:
    found = _series(run, series, where, entries=entries)
    time = found[TIME].values.astype(float)
    values = found.values
    if entries:
        values = values.reshape(*values.shape[:2], -1)
    recorded = _recorded(run, found)
    event = Event(
        name or (series if isinstance(series, str) else str(series.name or "series")),
        tuple(int(s) for s in found[SEED].values),
        tuple(
            rule(time[rows], one[rows])
            for one, rows in zip(values, recorded, strict=True)
        ),
    )
    level = rule.keywords.get("level")
    tell(Look(event.name, run, found, level, tuple(event.times)))
    return event


def _series(
    run: xr.Dataset,
    series: Series,
    where: Mapping[str, Any] | None,
    *,
    entries: bool,
) -> xr.DataArray:
    """The series with dims (seed, time), and its own behind them with `entries`."""
    found = select(run, series, where) if isinstance(series, str) else series
    missing = [d for d in (SEED, TIME) if d not in found.dims]
    if missing:
        raise ValueError(
            f"{series if isinstance(series, str) else found.name} has the dims "
            f"{found.dims}: an event needs a recorded series, with seed and time."
        )
    own = [str(d) for d in found.dims if d not in (SEED, TIME)]
    if own and not entries:
        raise ValueError(
            f"{series if isinstance(series, str) else found.name} still has the dims "
            f"{own}: select one entry, as in score[+,c1,v1], reduce them, or use "
            "first_all."
        )
    return found.transpose(SEED, TIME, *own)


def _recorded(run: xr.Dataset, series: xr.DataArray) -> np.ndarray:
    if "recorded" not in run:
        return np.ones((series.sizes[SEED], series.sizes[TIME]), bool)
    mask = run["recorded"].sel(seed=series[SEED], time=series[TIME])
    return mask.transpose(SEED, TIME).values.astype(bool)
