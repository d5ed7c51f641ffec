"""Records of a series of checkpoints: observables at each, as training leaves them.

Which loader gives an observable is found at the first checkpoint, without computing
it; then every checkpoint is read once and forgotten.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array

from attnflow.experiments import Experiment, SystemExperiment
from attnflow.experiments.course import Observe, labels_of
from attnflow.experiments.members import Member
from attnflow.experiments.record import rule_names
from attnflow.models.forms import State as FormState
from attnflow.models.systems import Training
from attnflow.observables import find
from attnflow.runs.checkpoints.states import Names, State, explained, pick
from attnflow.runs.checkpoints.systems import Arrays, Loader, Subject, loaders
from attnflow.schema.arrays import fingerprint
from attnflow.schema.dataset import Outcome
from attnflow.schema.settings import digest
from attnflow.training import Course, Reach, Records

TABLES = {"score", "value"}
Rows = dict[str, np.ndarray]


class Plan(NamedTuple):
    """Loaders with the observables that each of them gives.

    - `labels` of dims; `left_out`: observables that none of them gives, and why.
    """

    loaders: list[tuple[Loader, Observe]]
    labels: Mapping[str, tuple[str, ...]]
    left_out: dict[str, str]

    def rows(self, arrays: Arrays) -> Rows:
        """All observables of a checkpoint."""
        by_loader = [_observe(observe, *load(arrays)) for load, observe in self.loaders]
        return {n: np.asarray(row) for rows in by_loader for n, row in rows.items()}


class SeriesRecords(NamedTuple):
    """Records of one series of checkpoints.

    - `times` of all checkpoints; `rows` of those before one that is not finite.
    - `plan`: how they were computed; `kind`: `weights` or `tables`.
    - `fingerprint` of all arrays and times.
    """

    times: np.ndarray
    rows: list[Rows]
    plan: Plan
    kind: str
    fingerprint: str

    def padded(self, name: str) -> np.ndarray:
        """An observable at all times, NaN where a checkpoint was not finite."""
        rows = np.stack([row[name] for row in self.rows]).astype(float)
        widths = [(0, len(self.times) - len(rows)), *[(0, 0)] * (rows.ndim - 1)]
        return np.pad(rows, widths, constant_values=np.nan)


def record_series(
    subject: Subject,
    series: Iterable[tuple[float, State]],
    names: Names | None,
    required: Sequence[str],
) -> SeriesRecords:
    """Observables at every checkpoint; those that are `required` must be there."""
    times, rows, prints = [], [], []
    plan, is_finite = None, True
    for time, state in series:
        if not times:
            subject = subject._replace(has_tables=_has_tables(state, names, subject))
        try:
            arrays = _arrays(subject, state, names)
        except ValueError as error:
            raise ValueError(f"{error} (It is the one at {time:g}.)") from error
        times.append(time)
        prints.append(f"{time!r} {fingerprint(arrays)}")
        is_finite = is_finite and _is_finite(arrays)
        if is_finite:
            plan = plan or _make_plan(subject, arrays, required, is_start=time == 0)
            rows.append(plan.rows(arrays))
    if plan is None:
        raise ValueError(
            f"There is no finite checkpoint among {len(times)}: give one at least."
        )
    return SeriesRecords(np.array(times), rows, plan, subject.kind, digest(*prints))


def _has_tables(state: State, names: Names | None, subject: Subject) -> bool:
    if names and set(names) <= TABLES:
        return True
    return set(state) >= TABLES and not set(subject.shapes) <= set(state)


def _is_finite(arrays: Arrays) -> bool:
    return all(np.isfinite(array).all() for array in arrays.values())


def _arrays(subject: Subject, state: State, names: Names | None) -> Arrays:
    """The arrays of a checkpoint by our names, of shapes that fit."""
    heads = subject.experiment.problem.heads
    arrays = pick(state, subject.shapes, names, heads=heads)
    if _is_finite(arrays):
        try:
            subject.check(arrays)
        except ValueError as error:
            raise explained(error, state, names) from error
    return arrays


def _make_plan(
    subject: Subject, arrays: Arrays, required: Sequence[str], *, is_start: bool
) -> Plan:
    names = dict.fromkeys((*subject.experiment.observables, *required))
    for name in names:
        find(name)
    used, labels, left_out = [], {}, dict.fromkeys(names, "")
    for load in loaders(subject, is_start=is_start):
        system = load(arrays)
        labels = labels or labels_of(system[0])
        reasons = {name: _refusal(name, system) for name in left_out}
        observables = tuple(name for name in left_out if reasons[name] is None)
        if observables:
            used.append((load, Observe(observables)))
        # The reason of the first loader is the one to report.
        left_out = {n: left_out[n] or r for n, r in reasons.items() if r is not None}
        if not left_out:
            break
    for name in required:
        if name in left_out:
            raise ValueError(
                f"{name} cannot be computed from these {subject.kind}: {left_out[name]}"
            )
    return Plan(used, labels, left_out)


def _refusal(name: str, system: Member) -> str | None:
    """Why an observable cannot be computed of a system; `None` if it can."""
    try:
        eqx.filter_eval_shape(Observe((name,)), *system)
    except ValueError as reason:
        return str(reason)
    return None


@eqx.filter_jit
def _observe(observe: Observe, system: Training, state: FormState) -> dict[str, Array]:
    return observe(system, state)


def with_records(
    experiment: Experiment, by_seed: Sequence[SeriesRecords], required: Sequence[str]
) -> Experiment:
    """The experiment with the observables that all seeds have, as one stage."""
    times = by_seed[0].times
    for series in by_seed[1:]:
        if not np.array_equal(series.times, times):
            raise ValueError(
                f"Checkpoints of the seeds are at different times, {times} "
                f"and {series.times}: give all of them at the same ones."
            )
    names = dict.fromkeys((*experiment.observables, *required))
    common = tuple(n for n in names if all(n in series.rows[0] for series in by_seed))
    stage = experiment.stages[0]
    if len(experiment.stages) > 1:
        stage = replace(stage, name="observed")
    return replace(experiment, observables=common, stages=(stage,))


def as_course(by_seed: Sequence[SeriesRecords], observables: Sequence[str]) -> Course:
    """The records as those of a training run."""
    times = by_seed[0].times
    records = Records(times, len(by_seed))
    counts = np.array([len(series.rows) for series in by_seed])
    rows = {
        name: np.stack([series.padded(name) for series in by_seed])
        for name in observables
    }
    records.add(rows, np.arange(len(times)) < counts[:, None])
    seeds = np.arange(len(counts))
    records.add_end({name: row[seeds, counts - 1] for name, row in rows.items()})
    outcomes = [
        Outcome.FINISHED if count == len(times) else Outcome.DIVERGED
        for count in counts
    ]
    starts = np.full((len(by_seed), 1), times[0])
    return Course(records, None, starts, times[counts - 1][:, None], outcomes, [])


def notes_of(experiment: Experiment, series: SeriesRecords) -> dict[str, str]:
    """Attributes of the run; which rule trained it is the user's word."""
    notes = {
        "form": "observed",
        "form_reason": f"{series.kind} that were given at {len(series.times)} times",
        "rule": f"{rule_names(experiment)}, as declared"
        if experiment.paper
        else "not told",
        "left_out": json.dumps(series.plan.left_out),
    }
    missing = missing_times(experiment, series.times) if experiment.paper else ""
    return {**notes, "missing_times": missing} if missing else notes


def missing_times(experiment: Experiment | SystemExperiment, times: np.ndarray) -> str:
    """Which records of the experiment are not there, in words; empty: all are."""
    expected = experiment.grid.times(whole=not experiment.is_flow)
    if isinstance(experiment.stages[-1].until, Reach):
        expected = expected[expected <= times[-1]]
    # Times that were computed otherwise differ in their last digits.
    gap = np.abs(expected[:, None] - times).min(axis=1)
    missing = expected[gap > 1e-9 * np.maximum(expected, 1.0)]
    if not len(missing):
        return ""
    return (
        f"{len(missing)} of the {len(expected)} times at which its experiment is "
        f"recorded, {missing[0]:g} the first of them; attnflow.times tells all"
    )
