"""A batch computed: the runs of its cells, and what is measured in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import EVERY, parse_selector
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Recipe
from attnflow.sweeps.measure import Cell, Column, Measure, Observed
from attnflow.sweeps.plan import Batch, Sweep
from attnflow.sweeps.shelf import FAILED

FAILURES = ("failed", "out-of-time", "killed")
"""Outcomes of cells that have no result, beside those of runs."""
# What a run has without recording it; other bookkeeping is not found in batches.
_AT_HAND = frozenset({"end_time"})


@dataclass(frozen=True)
class Job:
    """What all batches of a sweep have in common, as workers get it.

    **Arguments:**

    - `root`: the directory of the store.
    - `limit`: seconds that a cell may take, or `None`.
    - `pad`: batches have many lengths; see `run_batch`.
    """

    recipe: Recipe
    setting: Any
    fixed: tuple[tuple[str, Any], ...]
    keys: tuple[str, ...]
    seeds: tuple[int, ...]
    measures: tuple[Measure, ...]
    root: str
    limit: float | None = None
    pad: bool = False

    @classmethod
    def of(cls, sweep: Sweep, root: Any, limit: float | None = None) -> "Job":
        """The job of a sweep."""
        return cls(
            sweep.recipe,
            sweep.setting,
            sweep.fixed,
            sweep.keys,
            sweep.seeds,
            sweep.measures,
            str(root),
            limit,
            pad=sweep.chosen is not None,
        )

    @property
    def columns(self) -> dict[str, Column]:
        """All variables that are measured."""
        each = (measure.columns for measure in self.measures)
        return {name: column for columns in each for name, column in columns.items()}

    @property
    def needs_run(self) -> bool:
        """Whether some measure reads the run of the cell."""
        return any(measure.reads for measure in self.measures)


@dataclass(frozen=True)
class Failure:
    """A cell without a result: one of `FAILURES`, and why."""

    outcome: str
    reason: str

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """What an exception makes of a cell."""
        return cls("failed", f"{type(error).__name__}: {error}")


Measured = Mapping[str, Any]
"""The values of a cell's columns, and its `outcome` for each seed."""


def compute(job: Job, batch: Batch) -> list[Measured | Failure]:
    """What every cell of a batch comes to; no cell's error costs another its result."""
    runs: Sequence[Any] = [None] * len(batch)
    if job.needs_run:
        runs = _runs(job, [experiment_of(job, row) for row in batch.rows])
    return [
        run if isinstance(run, Failure) else _measured(job, row, run)
        for row, run in zip(batch.rows, runs, strict=True)
    ]


def experiment_of(job: Job, row: tuple[Any, ...]) -> Any:
    """The experiment of a cell, which records what is measured alone; or a failure."""
    try:
        changes = dict(zip(job.keys, row, strict=True))
        return narrowed(
            job.recipe.experiment(replace(job.setting, **changes)), job.measures
        )
    except Exception as error:
        return Failure.of(error)


def narrowed(experiment: Any, measures: Sequence[Measure]) -> Any:
    """The experiment with those records that are measured, and no others.

    Values at the end are kept apart from records, so that these need no time but 0.
    """
    from attnflow.experiments import Computation
    from attnflow.training import Grid

    if isinstance(experiment, Computation):
        return experiment
    asked = [name for measure in measures for name in measure.reads]
    names = dict.fromkeys(name for name in asked if name not in schema.BOOKKEEPING)
    changes: dict[str, Any] = {}
    if names:
        changes["observables"] = tuple(names)
    if not any(measure.has_series for measure in measures):
        changes["grid"] = Grid(points=(0.0,))
    return replace(experiment, **changes)


def check_measurable(experiment: Any, measures: Sequence[Measure]) -> None:
    """Refuse what no run of the experiment can show, before anything is computed."""
    from attnflow.experiments import Computation, Experiment
    from attnflow.observables import find

    if isinstance(experiment, Computation):
        return
    known = find
    if not isinstance(experiment, Experiment):
        known = experiment.model.registry.find
    for measure, name in ((m, name) for m in measures for name in m.reads):
        if name in schema.BOOKKEEPING:
            continue
        dims = known(name).dims
        if not isinstance(measure, Observed):
            continue
        labels = parse_selector(measure.series).labels
        if len(labels) != len(dims) or EVERY in labels:
            raise ValueError(
                f"{measure.text!r} is no single number: {name} has the dims "
                f"{', '.join(dims) or 'of seeds and times alone'}. Give one label for "
                "each, as in loss_by_group[common]."
            )


def table(
    job: Job, cells: Sequence[int], found: Sequence[Measured | Failure]
) -> xr.Dataset:
    """A batch as it is stored, with the dims `cell` and `seed`."""
    seeds = len(job.seeds)
    variables: dict[str, Any] = {}
    for name, column in job.columns.items():
        shape = (len(found), seeds) if column.by_seed else (len(found),)
        dims = ("cell", "seed") if column.by_seed else ("cell",)
        values = np.full(shape, "" if column.text else np.nan, _kind(column))
        for place, one in enumerate(found):
            if not isinstance(one, Failure):
                values[place] = one[name]
        variables[name] = (dims, values)
    outcomes = [
        [one.outcome] * seeds if isinstance(one, Failure) else list(one["outcome"])
        for one in found
    ]
    errors = [one.reason if isinstance(one, Failure) else "" for one in found]
    variables["outcome"] = (("cell", "seed"), np.array(outcomes, object))
    variables["error"] = ("cell", np.array(errors, object))
    failed = sum(isinstance(one, Failure) for one in found)
    coords = {"cell": list(cells), "seed": list(job.seeds)}
    return xr.Dataset(variables, coords, {FAILED: failed})


def _kind(column: Column) -> Any:
    return object if column.text else np.float64


def _runs(job: Job, plans: list[Any]) -> list[xr.Dataset | Failure]:
    from attnflow.experiments import Experiment, run, run_batch

    found = list(plans)
    whole = [n for n, plan in enumerate(plans) if isinstance(plan, Experiment)]
    if not _from_batches(job):
        whole = []
    alike = [plans[n] for n in whole]
    together = run_batch(alike, seeds=job.seeds, pad=job.pad) if whole else []
    for number, result in zip(whole, together, strict=True):
        found[number] = Failure.of(result) if isinstance(result, Exception) else result
    for number in sorted(set(range(len(plans))) - set(whole)):
        if isinstance(plans[number], Failure):
            continue
        try:
            found[number] = run(plans[number], seeds=job.seeds)
        except Exception as error:
            found[number] = Failure.of(error)
    return found


def _from_batches(job: Job) -> bool:
    """Whether runs side by side have all that is measured."""
    asked = {name for measure in job.measures for name in measure.reads}
    return not asked & (schema.BOOKKEEPING - _AT_HAND)


def _measured(
    job: Job, row: tuple[Any, ...], run: xr.Dataset | None
) -> Measured | Failure:
    outcomes = [Outcome.FINISHED] * len(job.seeds)
    if run is not None:
        outcomes = schema.outcomes_of(run)
    if Outcome.INTERRUPTED in outcomes:
        raise KeyboardInterrupt
    cell = Cell({**dict(job.fixed), **dict(zip(job.keys, row, strict=True))}, job.seeds)
    values: dict[str, Any] = {"outcome": [outcome.label for outcome in outcomes]}
    try:
        for measure in job.measures:
            values |= measure.of(run, cell)
    except Exception as error:
        return Failure.of(error)
    return values
