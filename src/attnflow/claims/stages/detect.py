"""Detectors on plain arrays: a time, or the reason why there is none."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

Direction = Literal["up", "down"]
Clock = Literal["linear", "log"]


@dataclass(frozen=True)
class Detected:
    """When something happened in one series.

    **Arguments:**

    - `time`: the time, or `None` where it did not happen.
    - `reason`: why it did not, or what else there is to know; mostly empty.
    """

    time: float | None
    reason: str = ""

    @property
    def reached(self) -> bool:
        """Whether it happened."""
        return self.time is not None


def crossing(
    time: Float[np.ndarray, " time"],
    value: Float[np.ndarray, " time"],
    level: float,
    *,
    direction: Direction = "up",
    which: Literal["first", "last"] = "first",
    clock: Clock = "linear",
    scale: Clock = "linear",
) -> Detected:
    """When a series reaches a level, between its records by interpolation.

    With `direction` up, the first t with value(t) ≥ level; between the records
    (t₀, v₀) and (t₁, v₁) around it

        t = t₀ + (t₁ − t₀) · (level − v₀) / (v₁ − v₀),

    with log t where `clock` is log (and t₀ > 0), and log v and log level where
    `scale` is log (and all are positive). Records that are not finite are left out.

    **Arguments:**

    - `which`: the first or the last time that the series comes to the level from the
      other side. A series that starts beyond the level has reached it at its start.

    !!! example

        ```python
        crossing(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.2, 0.6]), 0.3)  # 1.25
        ```
    """
    time, value = _recorded(time, value)
    if len(time) == 0:
        return Detected(None, "nothing was recorded")
    beyond = _beyond(value, level, direction)
    entries = np.flatnonzero(beyond & ~np.append(False, beyond[:-1]))
    if len(entries) == 0:
        return Detected(None, _not_reached(time, value, level, direction))
    place = int(entries[0] if which == "first" else entries[-1])
    if place == 0:
        return Detected(float(time[0]), "at the first record already")
    around = slice(place - 1, place + 1)
    found = _between(time[around], value[around], level, clock=clock, scale=scale)
    return Detected(found)


def settling(
    time: Float[np.ndarray, " time"],
    value: Float[np.ndarray, " time"],
    level: float,
    *,
    direction: Direction = "up",
    clock: Clock = "linear",
    scale: Clock = "linear",
) -> Detected:
    """From when on a series stays beyond a level until its last record."""
    time, value = _recorded(time, value)
    if len(time) and not _beyond(value, level, direction)[-1]:
        side = "below" if direction == "up" else "above"
        return Detected(
            None, f"ends at {value[-1]:.4g}, {side} {level:.4g}, at time {time[-1]:.4g}"
        )
    return crossing(
        time,
        value,
        level,
        direction=direction,
        which="last",
        clock=clock,
        scale=scale,
    )


def all_crossed(
    time: Float[np.ndarray, " time"],
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
    time, values = _recorded(time, values)
    if len(time) == 0:
        return Detected(None, "nothing was recorded")
    beyond = _beyond(values, level, direction)
    together = np.flatnonzero(beyond.all(axis=1))
    if len(together) == 0:
        most = int(beyond.sum(axis=1).max())
        return Detected(
            None,
            f"at most {most} of {values.shape[1]} entries are beyond {level:.4g} at "
            f"one time, up to time {time[-1]:.4g}",
        )
    place = int(together[0])
    if place == 0:
        return Detected(float(time[0]), "at the first record already")
    around = slice(place - 1, place + 1)
    late = values[around][:, ~beyond[place - 1]]
    times = [
        _between(time[around], entry, level, clock=clock, scale=scale)
        for entry in late.T
    ]
    return Detected(max(times))


def plateau_end(
    time: Float[np.ndarray, " time"],
    value: Float[np.ndarray, " time"],
    tolerance: float,
    *,
    level: float | None = None,
    clock: Clock = "linear",
) -> Detected:
    """When a series leaves a plateau: the first t with |value(t) − level| ≥ tolerance.

    **Arguments:**

    - `level`: the plateau's height; without it, the first recorded value.
    """
    time, value = _recorded(time, value)
    if len(time) == 0:
        return Detected(None, "nothing was recorded")
    height = float(value[0]) if level is None else level
    away = np.abs(value - height)
    if not (away >= tolerance).any():
        return Detected(
            None,
            f"stays within {away.max():.4g} of {height:.4g} up to time {time[-1]:.4g}",
        )
    return crossing(time, away, tolerance, clock=clock)


def extreme(
    time: Float[np.ndarray, " time"],
    value: Float[np.ndarray, " time"],
    kind: Literal["largest", "least"] = "largest",
) -> Detected:
    """The record at which a series is largest or least, and whether it is an end."""
    time, value = _recorded(time, value)
    if len(time) == 0:
        return Detected(None, "nothing was recorded")
    place = int(value.argmax() if kind == "largest" else value.argmin())
    ends = {0: "at the first record", len(time) - 1: "at the last record"}
    return Detected(float(time[place]), ends.get(place, ""))


def _recorded(time: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    time, value = np.asarray(time, float), np.asarray(value, float)
    if time.ndim != 1 or value.shape[:1] != time.shape:
        raise ValueError(
            f"The times have shape {time.shape} and the values {value.shape}: give one "
            "value (or row of values) for each time."
        )
    keep = np.isfinite(value.reshape(len(time), -1)).all(axis=1)
    return time[keep], value[keep]


def _beyond(value: np.ndarray, level: float, direction: Direction) -> np.ndarray:
    if direction not in ("up", "down"):
        raise ValueError(f"direction is {direction!r}: use 'up' or 'down'.")
    return value >= level if direction == "up" else value <= level


def _not_reached(
    time: np.ndarray, value: np.ndarray, level: float, direction: Direction
) -> str:
    best, word = (value.max(), "most") if direction == "up" else (value.min(), "least")
    return f"does not reach {level:.4g} up to time {time[-1]:.4g}: at {word} {best:.4g}"


def _between(
    time: np.ndarray, value: np.ndarray, level: float, *, clock: Clock, scale: Clock
) -> float:
    if scale == "log" and level > 0.0 and (value > 0.0).all():
        value, level = np.log(value), float(np.log(level))
    share = float((level - value[0]) / (value[1] - value[0]))
    if clock == "log" and time[0] > 0.0:
        return float(time[0] * (time[1] / time[0]) ** share)
    return float(time[0] + share * (time[1] - time[0]))
