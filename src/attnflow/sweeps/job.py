"""A batch as a job: the runs of its cells, and their statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.claims.stages import EVERY, parse_selector
from attnflow.schema.dataset import Outcome
from attnflow.schema.installation import xr
from attnflow.sweeps.batch_store import FAILED
from attnflow.sweeps.grid import Value
from attnflow.sweeps.plan import Batch, Sweep
from attnflow.sweeps.statistic import AbstractStatistic, Cell, RunStatistic

if TYPE_CHECKING:
    # Workers whose statistics need no run import no JAX.
    from attnflow.experiments.record import Runnable

# What a run has without recording it; run_batch gives no other bookkeeping.
_IN_BATCHES = frozenset({"end_time"})
Values = Mapping[str, np.ndarray | float | str | list[str]]
"""The values of a cell's columns, and its `outcome` for each seed."""


@dataclass(frozen=True)
class Job:
    """What workers need for any batch of a sweep.

    `root` is the directory of the store, `limit` the seconds that a cell may take.
    """

    sweep: Sweep
    root: str
    limit: float | None = None

    @property
    def reads(self) -> set[str]:
        """The variables of a cell's run that statistics read."""
        return {name for each in self.sweep.statistics for name in each.outline.reads}


@dataclass(frozen=True)
class Failure:
    """A cell without a result: one of `FAILURES`, and why."""

    outcome: str
    reason: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure of a cell by an exception."""
        return cls("failed", f"{type(error).__name__}: {error}")


def compute(job: Job, batch: Batch) -> list[Values | Failure]:
    """The values of every cell of a batch; no cell's error costs another its result."""
    runs: Sequence[xr.Dataset | Failure | None] = [None] * len(batch)
    if job.reads:
        runs = _runs(job, [_experiment(job, row) for row in batch.rows])
    return [
        run if isinstance(run, Failure) else _values(job, row, run)
        for row, run in zip(batch.rows, runs, strict=True)
    ]


def narrowed(experiment: Runnable, statistics: Sequence[AbstractStatistic]) -> Runnable:
    """The experiment with those records that statistics read, and no others.

    Values at the end are kept apart from records, so that these need no time but 0.
    """
    from attnflow.experiments import Computation
    from attnflow.training import Grid

    if isinstance(experiment, Computation):
        return experiment
    reads = [name for each in statistics for name in each.outline.reads]
    names = dict.fromkeys(name for name in reads if name not in schema.BOOKKEEPING)
    if names:
        experiment = replace(experiment, observables=tuple(names))
    if not any(statistic.outline.has_series for statistic in statistics):
        experiment = replace(experiment, grid=Grid(points=(0.0,)))
    return experiment


def check_readable(
    experiment: Runnable, statistics: Sequence[AbstractStatistic]
) -> None:
    """Refuse statistics that no run of the experiment has, before anything runs."""
    from attnflow.experiments import Computation, Experiment
    from attnflow.observables import find

    if isinstance(experiment, Computation):
        return
    known = find
    if not isinstance(experiment, Experiment):
        known = experiment.model.registry.find
    for statistic, name in ((s, name) for s in statistics for name in s.outline.reads):
        if name in schema.BOOKKEEPING:
            continue
        dims = known(name).dims
        if not isinstance(statistic, RunStatistic):
            continue
        labels = parse_selector(statistic.series).labels
        if len(labels) != len(dims) or EVERY in labels:
            raise ValueError(
                f"{statistic.text!r} is not a single number: {name} has the dims "
                f"{', '.join(dims) or 'of seeds and times alone'}. Give one label for "
                "each, as in loss_by_group[common]."
            )


def as_batch(
    job: Job, cells: Sequence[int], results: Sequence[Values | Failure]
) -> xr.Dataset:
    """A batch as it is stored, with the dims `cell` and `seed`."""
    arrays = job.sweep.blank(len(results))
    for number, result in enumerate(results):
        if isinstance(result, Failure):
            result = {"outcome": result.outcome, "error": result.reason}
        for name, value in result.items():
            arrays[name][number] = value
    dims = ("cell", "seed")
    variables = {name: (dims[: a.ndim], a) for name, a in arrays.items()}
    coords = {"cell": list(cells), "seed": list(job.sweep.seeds)}
    failed = sum(isinstance(result, Failure) for result in results)
    return xr.Dataset(variables, coords, {FAILED: failed})


def _experiment(job: Job, row: tuple[Value, ...]) -> Runnable | Failure:
    """The experiment of a cell, which records what statistics read; or a failure."""
    try:
        changes = dict(zip(job.sweep.keys, row, strict=True))
        setting = replace(job.sweep.setting, **changes)
        return narrowed(job.sweep.recipe.experiment(setting), job.sweep.statistics)
    except Exception as error:
        return Failure.of(error)


def _runs(job: Job, plans: list[Runnable | Failure]) -> list[xr.Dataset | Failure]:
    from attnflow.experiments import Experiment, run, run_batch

    seeds = job.sweep.seeds
    together: dict[int, Experiment] = {}
    # Runs computed side by side have only the bookkeeping of a batch.
    if not job.reads & (schema.BOOKKEEPING - _IN_BATCHES):
        together = {n: p for n, p in enumerate(plans) if isinstance(p, Experiment)}
    # Batches of a subset of a grid have many lengths: pad them to few programs.
    pad = job.sweep.subset is not None
    runs = run_batch(list(together.values()), seeds=seeds, pad=pad) if together else ()
    done = dict(zip(together, runs, strict=True))
    results: list[xr.Dataset | Failure] = []
    for number, plan in enumerate(plans):
        if isinstance(plan, Failure):
            results.append(plan)
            continue
        try:
            result = done[number] if number in done else run(plan, seeds=seeds)
        except Exception as error:
            result = error
        results.append(Failure.of(result) if isinstance(result, Exception) else result)
    return results


def _values(
    job: Job, row: tuple[Value, ...], run: xr.Dataset | None
) -> Values | Failure:
    sweep = job.sweep
    outcomes = [Outcome.FINISHED] * len(sweep.seeds)
    if run is not None:
        outcomes = schema.outcomes_of(run)
    if Outcome.INTERRUPTED in outcomes:
        raise KeyboardInterrupt
    swept = dict(zip(sweep.keys, row, strict=True))
    cell = Cell({**dict(sweep.fixed), **swept}, sweep.seeds)
    values = {}
    try:
        for statistic in sweep.statistics:
            values |= statistic.of(run, cell)
    except Exception as error:
        return Failure.of(error)
    return {**values, "outcome": [outcome.label for outcome in outcomes]}
