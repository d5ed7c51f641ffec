"""Stages of training: what moves, by which rule, until when, and what is recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import ArrayLike

from attnflow.schema.dataset import Outcome
from attnflow.schema.fields import PARTS
from attnflow.training.descent import descend
from attnflow.training.programs import Axes
from attnflow.training.rules import Batches, Flow, Rules, per_part
from attnflow.training.system import CODES, Event, Leg, Observe, State, System

BOTH = PARTS[:2]
"""The two parts, scores and values."""


@dataclass(frozen=True)
class Reach:
    """An event: a scalar such as `score[+,c1,v1]` reaches a level.

    **Arguments:**

    - `scalar`: an observable with a label for each of its dims.
    - `level`, `direction`: `up` or `down`.
    - `horizon`: how long to wait for it after the stage's start.
    - `every`: descents evaluate it every `every` steps, counted from 0. A loss over
      all samples may cost as much as many steps on batches.
    """

    scalar: str
    level: float
    horizon: float
    direction: str = "up"
    every: int = 1

    def __post_init__(self) -> None:
        if self.direction not in ("up", "down"):
            raise ValueError(f"direction is {self.direction!r}; use 'up' or 'down'.")
        if not self.horizon > 0:
            raise ValueError(f"horizon is {self.horizon}; it must be positive.")
        if self.every < 1:
            raise ValueError(
                f"every is {self.every}; evaluate {self.scalar} after every step "
                "(every=1) or less often (every=10)."
            )

    def __str__(self) -> str:
        way = "rises" if self.direction == "up" else "falls"
        rarely = f", looks every {self.every} steps" if self.every > 1 else ""
        return f"{self.scalar} {way} to {self.level:g} (waits {self.horizon:g}{rarely})"


@dataclass(frozen=True)
class Stage:
    """A stage of training: what is trained, by which rule, until when.

    **Arguments:**

    - `rule`: a `Flow`, a descent rule, or one descent rule for each part.
    - `until`: a time (or step), or a `Reach`.
    - `trains`: what moves, out of `scores` and `values`; or of the weights `keys`,
      `queries`, `W_V`, `w_O` and so on (`attnflow.schema.fields.WEIGHTS`), beside
      which the name of a part is the rest of it.
    - `group`: train on this group of samples alone, with renormalised probabilities.
    - `batches`: what each step of a descent sees of the samples; all of them if `None`.
    """

    rule: Rules
    until: float | Reach
    trains: tuple[str, ...] = BOTH
    group: str | None = None
    name: str = "training"
    batches: Batches | None = None

    def __post_init__(self) -> None:
        odd = [part for part in self.trains if part not in PARTS]
        if odd or not self.trains:
            raise ValueError(
                f"The stage {self.name!r} trains {self.trains or 'nothing'}: name one "
                f"or more of {', '.join(PARTS)}."
            )
        if not isinstance(self.until, Reach) and not self.until > 0:
            raise ValueError(
                f"The stage {self.name!r} ends at {self.until}: give a positive time."
            )
        if self.batches is not None and self.is_flow:
            raise ValueError(
                f"The stage {self.name!r} is a gradient flow, which sees all samples "
                "at once: use a rule of descent, or no batches."
            )
        if self.is_flow and isinstance(self.until, Reach) and self.until.every > 1:
            raise ValueError(
                f"The stage {self.name!r} is a gradient flow, which has no steps to "
                f"look after and finds its event itself: leave out every="
                f"{self.until.every}."
            )

    def __str__(self) -> str:
        end = self.until if isinstance(self.until, Reach) else f"{self.until:g}"
        only = f" on {self.group} samples" if self.group else ""
        seen = f", {self.batches!r}" if self.batches else ""
        rules = per_part(self.rule, self.trains)
        moves = " and ".join(f"{part} by {rule.name}" for part, rule in rules.items())
        return f"{self.name} ({moves}{only}{seen}) until {end}"

    @property
    def is_flow(self) -> bool:
        """Whether the stage follows gradient flow."""
        return isinstance(self.rule, Flow)


@dataclass(frozen=True)
class Grid:
    """Times at which observables are recorded.

    **Arguments:**

    - `points`: the times themselves, or
    - `count` times from `start` to `stop`, `linear` or `log` spaced; log spacing puts
      time 0 in front.
    """

    stop: float = 0.0
    count: int = 201
    start: float = 0.0
    spacing: Literal["linear", "log"] = "linear"
    points: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.points:
            ordered = np.all(np.diff(self.points) > 0) and self.points[0] >= 0
            if not ordered:
                raise ValueError(
                    f"The times to record at are {self.points}: they must not be "
                    "negative and must increase."
                )
        elif self.count < 2 or not self.stop > self.start >= 0:
            raise ValueError(
                f"count is {self.count}, start {self.start}, stop {self.stop}: record "
                "at least twice, between a start >= 0 and a later stop."
            )
        elif self.spacing == "log" and not self.start > 0:
            raise ValueError("A log-spaced grid starts at a positive time: set start.")

    def __str__(self) -> str:
        if self.points:
            first, last, count = self.points[0], self.points[-1], len(self.points)
            return f"{count} times from {first:g} to {last:g}"
        span = f"from {self.start:g} to {self.stop:g}"
        return f"{self.count} times {span}, {self.spacing} spaced"

    def times(self, *, whole: bool) -> np.ndarray:
        """The times; `whole` for steps, which are integers."""
        if self.points:
            times = np.array(self.points, float)
        elif self.spacing == "log":
            inner = np.geomspace(self.start, self.stop, self.count - 1)
            times = np.concatenate([[0.0], inner])
        else:
            times = np.linspace(self.start, self.stop, self.count)
        return np.unique(np.rint(times)) if whole else times


class Records:
    """Rows of observables by seed and time, filled stage by stage.

    Memory is that of the recorded rows, whatever the number of steps between them.
    """

    def __init__(self, times: np.ndarray, seeds: int):
        self.times = times
        self.recorded = np.zeros((seeds, len(times)), bool)
        self.rows: dict[str, np.ndarray] = {}
        self.ends: list[dict[str, np.ndarray]] = []

    def add(self, rows: dict[str, np.ndarray], mask: np.ndarray) -> None:
        """Put `rows[name][seed, time]` where the mask says so."""
        for name, values in rows.items():
            values = np.asarray(values)
            if name not in self.rows:
                self.rows[name] = np.full(values.shape, np.nan)
            self.rows[name][mask] = values[mask]
        self.recorded |= mask

    def add_end(self, rows: Mapping[str, ArrayLike]) -> None:
        """Put the values at the end of a stage."""
        self.ends.append({name: np.asarray(row) for name, row in rows.items()})


class Course(NamedTuple):
    """The records, final state and outcomes of a run; `swamped` as in `Leg`, by stage.

    `starts` and `ends` are by seed and stage.
    """

    records: Records
    state: State
    starts: np.ndarray
    ends: np.ndarray
    outcomes: list[Outcome]
    swamped: list[np.ndarray | None]


def train(
    legs: Sequence[tuple[Stage, System, Axes, Event | None]],
    state: State,
    *,
    seeds: int,
    times: np.ndarray,
    observe: Observe,
    rates: Sequence[Mapping[str, np.ndarray] | None] | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Course:
    """Run the stages one after the other, all seeds side by side.

    `legs` holds, per stage, its record, its system, the system's axes and its event
    (a function of system and state, or `None`). A seed whose stage does not end as it
    should keeps what it has and moves no further. `rates` has, per stage, what
    `descend` takes: learning rates of the seeds where these are not the rule's own.
    """
    records = Records(times, seeds)
    start = np.zeros(seeds)
    outcome = np.full(seeds, CODES.index(Outcome.FINISHED))
    starts: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    swamped: list[np.ndarray | None] = []
    for number, (stage, system, axes, event) in enumerate(legs):

        def report(fraction: float, number: int = number, stage: Stage = stage) -> None:
            if progress is not None:
                progress((number + fraction) / len(legs), stage.name)

        report(0.0)
        leg = _leg(
            stage,
            system,
            axes,
            state,
            start=start,
            times=times,
            observe=observe,
            event=event,
            rates=rates[number] if rates else None,
            report=report,
        )
        fine = _fine(outcome)
        end = np.where(fine, np.asarray(leg.end), start)
        inside = (times >= start[:, None]) & (times <= end[:, None]) & fine[:, None]
        rows = {name: np.asarray(values) for name, values in leg.rows.items()}
        records.add(rows, inside & _finite_rows(rows))
        records.add_end(leg.end_row)
        outcome = np.where(fine, np.asarray(leg.code), outcome)
        starts.append(start)
        swamped.append(leg.swamped)
        ends.append(end)
        state, start = leg.state, end
        report(1.0)
        if not _fine(outcome).any():
            break
    return Course(
        records,
        state,
        np.stack(starts, 1),
        np.stack(ends, 1),
        [CODES[int(code)] for code in outcome],
        swamped,
    )


def _leg(
    stage: Stage,
    system: System,
    axes: Axes,
    state: State,
    *,
    start: np.ndarray,
    times: np.ndarray,
    observe: Observe,
    event: Event | None,
    rates: Mapping[str, np.ndarray] | None,
    report: Callable[[float], None],
) -> Leg:
    if isinstance(stage.until, Reach):
        stop = start + stage.until.horizon
    else:
        stop = np.maximum(np.full(len(start), float(stage.until)), start)
    if isinstance(stage.rule, Flow):
        # diffrax takes longer to import than a descent to compile and run.
        from attnflow.training.flows import flow

        return flow(
            system,
            axes,
            state,
            rule=stage.rule,
            start=start,
            stop=stop,
            times=times,
            observe=observe,
            event=event,
        )
    return descend(
        system,
        axes,
        state,
        rules=per_part(stage.rule, stage.trains),  # pyright: ignore[reportArgumentType]
        start=start,
        # 153.1 / 0.1 is 1530.999…: steps are the nearest whole number.
        stop=int(np.rint(stop.max())),
        times=times,
        observe=observe,
        event=event,
        every=stage.until.every if isinstance(stage.until, Reach) else 1,
        rates=rates,
        progress=report,
    )


def _fine(code: np.ndarray) -> np.ndarray:
    fine = [CODES.index(o) for o in (Outcome.FINISHED, Outcome.EVENT)]
    return np.isin(code, fine)


def _finite_rows(rows: dict[str, np.ndarray]) -> np.ndarray:
    masks = [
        np.isfinite(values).reshape(*values.shape[:2], -1).all(axis=-1)
        for values in rows.values()
    ]
    return np.logical_and.reduce(masks)
