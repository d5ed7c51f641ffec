"""What was seen along series of checkpoints, as a run of training leaves it behind."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnflow.experiments import Experiment, SystemExperiment
from attnflow.runs.checkpoints.look import Looked
from attnflow.schema.dataset import Outcome
from attnflow.training import Course, Reach
from attnflow.training.rules import per_part
from attnflow.training.stages import Records


def as_seen(
    made: Experiment, looked: Sequence[Looked], asked: Sequence[str]
) -> Experiment:
    """The experiment with what was seen of it, as one stage."""
    for one in looked[1:]:
        if not np.array_equal(one.times, looked[0].times):
            raise ValueError(
                f"Checkpoints of the seeds are at different times, {looked[0].times} "
                f"and {one.times}: give all of them at the same ones."
            )
    told = dict.fromkeys((*made.observables, *asked))
    kept = tuple(name for name in told if all(name in x.rows[0] for x in looked))
    first = made.stages[0]
    stage = first if len(made.stages) == 1 else replace(first, name="observed")
    return replace(made, observables=kept, stages=(stage,))


def as_course(looked: Sequence[Looked], observables: Sequence[str]) -> Course:
    """What was seen, as training would have left it behind."""
    times = looked[0].times
    records = Records(times, len(looked))
    counts = np.array([len(one.rows) for one in looked])
    mask = np.arange(len(times)) < counts[:, None]
    rows = {
        name: np.stack([_padded(one, name) for one in looked]) for name in observables
    }
    records.add(rows, mask)
    last = {name: row[np.arange(len(counts)), counts - 1] for name, row in rows.items()}
    records.add_end(last)
    outcomes = [
        Outcome.FINISHED if count == len(times) else Outcome.DIVERGED
        for count in counts
    ]
    starts = np.full((len(looked), 1), times[0])
    return Course(records, None, starts, times[counts - 1][:, None], outcomes, [])


def _padded(one: Looked, name: str) -> np.ndarray:
    """The rows of an observable, NaN where a checkpoint was not finite."""
    found = np.stack([row[name] for row in one.rows]).astype(float)
    spare = len(one.times) - len(found)
    return np.pad(
        found, [(0, spare), *[(0, 0)] * (found.ndim - 1)], constant_values=np.nan
    )


def notes_of(made: Experiment, looked: Sequence[Looked]) -> dict[str, str]:
    """What the run says of itself; what trained it is the user's word."""
    rules = per_part(made.stages[0].rule, made.stages[0].trains)
    named = ", ".join(dict.fromkeys(rule.name for rule in rules.values()))
    kind, count = looked[0].kind, len(looked[0].times)
    notes = {
        "form": "observed",
        "form_reason": f"{kind} that were given at {count} times",
        "rule": f"{named}, as is said" if made.paper else "not told",
        "left_out": json.dumps(looked[0].left_out),
    }
    missing = missing_times(made, looked[0].times) if made.paper else ""
    return {**notes, "missing_times": missing} if missing else notes


def missing_times(made: Experiment | SystemExperiment, found: np.ndarray) -> str:
    """Which records of the experiment are not there, in words; empty: all are."""
    wanted = made.grid.times(whole=not made.is_flow)
    if isinstance(made.stages[-1].until, Reach):
        wanted = wanted[wanted <= found[-1]]
    # Times that were computed otherwise differ in their last digits.
    gap = np.abs(wanted[:, None] - found).min(axis=1)
    missing = wanted[gap > 1e-9 * np.maximum(wanted, 1.0)]
    if not len(missing):
        return ""
    return (
        f"{len(missing)} of the {len(wanted)} times at which its experiment is "
        f"recorded, {missing[0]:g} the first of them; attnflow.times tells all"
    )
