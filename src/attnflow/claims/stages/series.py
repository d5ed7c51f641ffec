"""A recorded series: selected from a run by a text, and detectors of events in it.

`loss`, `loss_by_group[conflicting]` and `score[+,c1,v1]` are selectors. A detector
reads one series, a plain array, and gives the time of an event or why there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import look_up, unknown

if TYPE_CHECKING:
    from jaxtyping import Float

_GRAMMAR = re.compile(r"\s*(\w+)\s*(?:\[([^\[\]]*)\])?\s*")
EVERY = ":"
Series: TypeAlias = "str | xr.DataArray"
"""A selector such as `score[+,c1,v1]`, or a series computed from a run's variables."""
Times: TypeAlias = 'Float[np.ndarray, " time"]'
Direction = Literal["up", "down"]
Clock = Literal["linear", "log"]


@dataclass(frozen=True)
class Selector:
    """A parsed text: the name of a variable, and labels of its dims in order."""

    name: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}[{','.join(self.labels)}]" if self.labels else self.name


def parse_selector(text: str) -> Selector:
    """The name and the labels of a text such as `score[+,c1,v1]`.

    `parse_selector("score[+,c1,v1]")` is `Selector("score", ("+", "c1", "v1"))`.
    """
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} selects no series: write a name, and labels in brackets if it "
            "has dims of its own, as in loss or score[+,c1,v1]."
        )
    name, inside = match[1], (match[2] or "").strip()
    labels = tuple(part.strip() for part in inside.split(",")) if inside else ()
    return Selector(name, labels)


def select(run: xr.Dataset, text: str) -> xr.DataArray:
    """The series of a run that a selector names.

    Labels stand in the order of the variable's dims after `seed` and `time`. A label
    `:` keeps its dim, and so do labels that are left out at the end; labels of
    numbered dims are numbers: `score[+,c1,v1]`, or `score[+,c1,:]` for all queries.

    **Returns:** dims `seed`, `time` (where the variable has them) and those kept.

    `select(run, "loss_by_group[conflicting]")` has the dims `(seed, time)`.
    """
    selector = parse_selector(text)
    names = {str(name): name for name in run.data_vars}
    variable = run[look_up("variable of this run", selector.name, names)]
    dims = [str(d) for d in variable.dims if d not in (SEED, TIME)]
    if len(selector.labels) > len(dims):
        allowed = f"the dims ({', '.join(dims)})" if dims else "no dims of its own"
        raise ValueError(
            f"{text!r} gives {len(selector.labels)} labels, but {selector.name} has "
            f"{allowed}: give one label for each, in that order."
        )
    pairs = zip(dims, selector.labels, strict=False)
    labels = {dim: label for dim, label in pairs if label != EVERY}
    return variable.isel({dim: _index(variable, dim, labels[dim]) for dim in labels})


def recorded_series(run: xr.Dataset, series: Series, *, entries: bool) -> xr.DataArray:
    """A series with dims (seed, time), and its own behind them with `entries`."""
    array = select(run, series) if isinstance(series, str) else series
    name = series if isinstance(series, str) else array.name
    if not {SEED, TIME} <= set(array.dims):
        raise ValueError(
            f"{name} has the dims {array.dims}: an event needs a recorded series, with "
            "seed and time."
        )
    dims = [str(d) for d in array.dims if d not in (SEED, TIME)]
    if dims and not entries:
        raise ValueError(
            f"{name} still has the dims {dims}: select one entry, as in "
            "score[+,c1,v1], reduce them, or use a Stage with detector='all'."
        )
    return array.transpose(SEED, TIME, *dims)


def _index(variable: xr.DataArray, dim: str, label: str) -> int:
    """The position of a label along a dim, whatever the labels' type is."""
    if dim in variable.coords:
        known = [str(value) for value in variable.coords[dim].values.tolist()]
    else:
        known = [str(i) for i in range(variable.sizes[dim])]
    if label in known:
        return known.index(label)
    for index, name in enumerate(known):
        if _same_number(name, label):
            return index
    shown = [*known[:20], "…", *known[-3:]] if len(known) > 40 else known
    raise unknown(dim, label, shown)


def _same_number(text: str, other: str) -> bool:
    try:
        return float(text) == float(other)
    except ValueError:
        return False


@dataclass(frozen=True)
class Detected:
    """When an event happened in one series (`None` where it did not).

    `reason` says why it did not, or is a remark on the time; it is mostly empty.
    `known` is false where it may have happened in records that are not known.
    """

    time: float | None
    reason: str = ""
    known: bool = True

    @property
    def reached(self) -> bool:
        """Whether the event happened."""
        return self.time is not None


NOTHING = Detected(None, "nothing was recorded", known=False)


def crossing(
    time: Times,
    value: Times,
    level: float,
    *,
    direction: Direction = "up",
    which: Literal["first", "last"] = "first",
    clock: Clock = "linear",
    scale: Clock = "linear",
) -> Detected:
    """When a series crosses a level, between its records by interpolation.

    With `direction` up, the first t with value(t) ≥ level; between the records
    (t₀, v₀) and (t₁, v₁) around it

        t = t₀ + (t₁ − t₀) · (level − v₀) / (v₁ − v₀),

    with log t where `clock` is log (and t₀ > 0), and log v and log level where
    `scale` is log (and all are positive). `which` is the first or the last time that
    the series comes to the level from the other side. A series that starts beyond the
    level has reached it at its start. Records that are NaN are not known: a first time
    is not known where one of them comes before it, a last time where one comes after.

    `crossing(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.2, 0.6]), 0.3)` is at 1.25.
    """
    time, value, holes = _records(time, value)
    if holes.all():
        return NOTHING
    beyond = reaches(value, level, direction)
    entries = np.flatnonzero(beyond & ~np.append(False, beyond[:-1]))
    if len(entries) == 0:
        up, known = direction == "up", value[~holes]
        best = f"most {known.max():.4g}" if up else f"least {known.min():.4g}"
        side = "below" if up else "above"
        reason = f"at {best} up to time {time[-1]:.4g}, {side} {level:.4g}"
        return _not_reached(reason, holes)
    row = int(entries[0] if which == "first" else entries[-1])
    if (holes[:row] if which == "first" else holes[max(row - 1, 0) :]).any():
        return _in_hole(time, holes)
    if row == 0:
        return Detected(float(time[0]), "at the first record already")
    around = slice(row - 1, row + 1)
    return Detected(_between(time[around], value[around], level, clock, scale))


def settling(
    time: Times, value: Times, level: float, *, direction: Direction = "up"
) -> Detected:
    """From when on a series stays beyond a level until its last record."""
    time, value, holes = _records(time, value)
    if len(time) and holes[-1]:
        return _in_hole(time, holes)
    if len(time) and not reaches(value, level, direction)[-1]:
        side = f"{'below' if direction == 'up' else 'above'} {level:.4g}"
        end = f"ends at {value[-1]:.4g}, {side}, at time {time[-1]:.4g}"
        return Detected(None, end)
    return crossing(time, value, level, direction=direction, which="last")


def all_crossed(
    time: Times,
    values: Float[np.ndarray, "time entries"],
    level: float,
    *,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
) -> Detected:
    """The first time at which all entries of a series are beyond a level together.

    Between two records it is the time of the last entry to cross.
    """
    time, values, holes = _records(time, values)
    if holes.all():
        return NOTHING
    beyond = reaches(values, level, direction)
    together = np.flatnonzero(beyond.all(axis=1))
    if len(together) == 0:
        most = int(beyond.sum(axis=1).max())
        return _not_reached(
            f"at most {most} of {values.shape[1]} entries are beyond {level:.4g} at "
            f"one time, up to time {time[-1]:.4g}",
            holes,
        )
    row = int(together[0])
    if holes[:row].any():
        return _in_hole(time, holes)
    if row == 0:
        return Detected(float(time[0]), "at the first record already")
    around = slice(row - 1, row + 1)
    late = values[around][:, ~beyond[row - 1]]
    return Detected(max(_between(time[around], v, level, clock, scale) for v in late.T))


def plateau_end(time: Times, value: Times, tolerance: float) -> Detected:
    """When a series leaves a plateau: the first t with |value(t) − level| ≥ tolerance.

    The plateau's level is the first recorded value.
    """
    time, value, holes = _records(time, value)
    if holes.all():
        return NOTHING
    if holes[0]:
        return _in_hole(time, holes)
    height = float(value[0])
    away = np.abs(value - height)
    if not (away >= tolerance).any():
        reason = f"stays within {np.nanmax(away):.4g} of {height:.4g} up to time"
        return _not_reached(f"{reason} {time[-1]:.4g}", holes)
    return crossing(time, away, tolerance)


def extreme(
    time: Times, value: Times, kind: Literal["largest", "least"] = "largest"
) -> Detected:
    """The record at which a series is largest or least, and whether it is an end."""
    time, value, holes = _records(time, value)
    if holes.any() or not len(time):
        return _in_hole(time, holes) if len(time) else NOTHING
    row = int(value.argmax() if kind == "largest" else value.argmin())
    ends = {0: "at the first record", len(time) - 1: "at the last record"}
    return Detected(float(time[row]), ends.get(row, ""))


def _records(
    time: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and values, and which of the records are not known."""
    time, value = np.asarray(time, float), np.asarray(value, float)
    if time.ndim != 1 or value.shape[:1] != time.shape:
        raise ValueError(
            f"The times have shape {time.shape} and the values {value.shape}: give one "
            "value (or row of values) for each time."
        )
    holes = np.asarray(np.isnan(value).any(axis=tuple(range(1, value.ndim))))
    return time, value, holes


def _not_reached(reason: str, holes: np.ndarray) -> Detected:
    if not holes.any():
        return Detected(None, reason)
    unknown = f"{holes.sum()} of {len(holes)} records not known"
    return Detected(None, f"{reason}, {unknown}", known=False)


def _in_hole(time: np.ndarray, holes: np.ndarray) -> Detected:
    """No time, since it may lie where the series is not known."""
    unknown = time[holes]
    where = f"from time {unknown[0]:.4g} to {unknown[-1]:.4g}"
    reason = f"may lie where the series is not known, {where}"
    return Detected(None, reason, known=False)


def reaches(value: np.ndarray, level: float, direction: Direction) -> np.ndarray:
    """Whether each value is at a level or beyond it; not where it is NaN."""
    if direction not in ("up", "down"):
        raise ValueError(f"direction is {direction!r}: use 'up' or 'down'.")
    return value >= level if direction == "up" else value <= level


def _between(
    time: np.ndarray, value: np.ndarray, level: float, clock: Clock, scale: Clock
) -> float:
    """The time of the level between two records, by interpolation."""
    if scale == "log" and level > 0.0 and (value > 0.0).all():
        value, level = np.log(value), float(np.log(level))
    share = float((level - value[0]) / (value[1] - value[0]))
    if not np.isfinite(share):
        return float(time[1])
    if clock == "log" and time[0] > 0.0:
        return float(time[0] * (time[1] / time[0]) ** share)
    return float(time[0] + share * (time[1] - time[0]))
