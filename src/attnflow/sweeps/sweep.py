"""`sweep`: an experiment of a paper, or a recipe of your own, over its settings."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr

from attnflow.papers.base import Paper
from attnflow.runs.code import RUN, code_digest
from attnflow.runs.runner import Progress, find_experiment
from attnflow.runs.store import Store
from attnflow.schema import settings
from attnflow.schema.declarations import Recipe
from attnflow.schema.settings import did_you_mean, seed_numbers
from attnflow.sweeps.batch_store import BatchStore, Status, status_of
from attnflow.sweeps.boundary import run_refined
from attnflow.sweeps.dataset import run_sweep
from attnflow.sweeps.executors import Executor, choose_executor
from attnflow.sweeps.grid import Values, make_axes
from attnflow.sweeps.job import check_readable
from attnflow.sweeps.plan import BATCH, Sweep, example_of, make_batches
from attnflow.sweeps.statistic import (
    AbstractStatistic,
    PaperStatistic,
    parse_statistic,
)
from attnflow.sweeps.validity import ClaimStatistic, check_swept, claim_statistic

if TYPE_CHECKING:
    from attnflow.experiments.record import Runnable


@dataclass(frozen=True)
class Planned:
    """A sweep that can be run, and what it is called."""

    name: str
    sweep: Sweep


def plan_sweep(
    experiment: str | Recipe,
    overrides: Mapping[str, Values],
    *,
    zip: Iterable[Sequence[str]] = (),
    seeds: int | Sequence[int] | None = None,
    measure: str | Sequence[str] | None = None,
    batch: int = BATCH,
) -> Planned:
    """The sweep that is requested, checked as far as it can be before it is run.

    Arguments are those of `sweep`.
    """
    paper, recipe = None, experiment
    if isinstance(experiment, str):
        paper, id = find_experiment(experiment)
        recipe = paper.recipe(id)
    assert isinstance(recipe, Recipe)
    fixed, axes = make_axes(recipe.setting, overrides, zip)
    setting = settings.replace(recipe.setting, fixed)
    plan = example_of(recipe, setting, axes)
    texts = _texts(plan, measure)
    statistics = tuple(_statistic(paper, text) for text in texts)
    check_readable(plan, statistics)
    for statistic in statistics:
        if isinstance(statistic, ClaimStatistic) and paper is not None:
            swept = (key for axis in axes for key in axis.keys)
            check_swept(paper, statistic, [*fixed, *swept])
    sweep = Sweep(
        recipe,
        setting,
        axes,
        seed_numbers(seeds),
        statistics,
        code=_cell_code(recipe),
        fixed=tuple(fixed.items()),
        size=batch,
    )
    name = f"{paper.slug}/{recipe.id}" if paper else recipe.id
    return Planned(name, sweep)


def sweep(
    experiment: str | Recipe,
    settings: Mapping[str, Values] | None = None,
    *,
    zip: Iterable[Sequence[str]] = (),
    seeds: int | Sequence[int] | None = None,
    measure: str | Sequence[str] | None = None,
    executor: Literal["local", "dask", "here"] = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    batch: int = BATCH,
    limit: float | None = None,
    retry: bool = False,
    refine: float | str | None = None,
    coarse: int = 8,
    store: Store | None = None,
    progress: Progress | None = None,
    **more: Values,
) -> xr.Dataset:
    """Run an experiment over settings, into one Dataset with the swept keys as dims.

    What is stored of it is read; what is interrupted goes on where it was.

    **Arguments:**

    - `experiment`: a name such as `mixture/figure1`, or a `Recipe` of your own.
    - `settings`, or keywords: by key a list of values, a text such as `0.01..1:9:log`
      or `16,64`, or one value for all cells.
    - `zip`: groups of keys that go along one dim together, as in `[("a", "b")]`.
    - `seeds`: how many seeds (0, 1, …), or which ones; one without it.
    - `measure`: what to keep of each cell: `loss` (at the end), `loss@0.1` (the time to
      that level), `loss~loglog` (a fitted slope), `loss^max` (the largest), a statistic
      or the id of a claim of the paper; the loss without it.
    - `executor`: processes of this machine, a Dask cluster, or this process;
      `workers`: how many; `scheduler`: the address of a cluster that runs already.
    - `batch`: how many cells are computed and stored as one.
    - `limit`: seconds that a cell may take; `retry`: compute failed cells again.
    - `refine`: compute a map over two keys only where the first statistic crosses this
      level, or where a verdict is this one; `coarse`: the step of its first cells.

    **Returns:** the statistics, `outcome` and `error`; see docs/sweeps.md.

    !!! example

        >>> import attnflow as af
        >>> result = af.sweep(
        ...     "mixture/figure1", omega=[0.1, 0.2], steps=20, executor="here"
        ... )
        >>> result["loss"].dims
        ('omega', 'seed')
    """
    planned = plan_sweep(
        experiment,
        {**(settings or {}), **more},
        zip=zip,
        seeds=seeds,
        measure=measure,
        batch=batch,
    )
    options = {"limit": limit, "retry": retry, "progress": progress}
    batches = BatchStore(store.root if store else None)
    with closing(
        choose_executor(executor, workers=workers, scheduler=scheduler)
    ) as pool:
        return compute_sweep(
            planned, pool, refine=refine, coarse=coarse, store=batches, **options
        )


def compute_sweep(
    planned: Planned,
    executor: Executor,
    *,
    refine: float | str | None = None,
    coarse: int = 8,
    **options: Any,
) -> xr.Dataset:
    """A sweep over its whole grid, or refined; `options` are those of `run_sweep`."""
    sweep, options = planned.sweep, {"name": planned.name, **options}
    if refine is None:
        return run_sweep(sweep, executor, **options)
    try:
        level = float(refine)
    except ValueError:
        level = str(refine)
    return run_refined(sweep, executor, level=level, coarse=coarse, **options)


def sweep_status(planned: Planned, store: Store | None = None) -> Status:
    """How far a sweep is."""
    batches = make_batches(planned.sweep)
    return status_of(batches, BatchStore(store.root if store else None))


def _texts(plan: "Runnable", measure: str | Sequence[str] | None) -> list[str]:
    if measure is not None:
        return [measure] if isinstance(measure, str) else list(measure)
    if not hasattr(plan, "observables"):
        raise ValueError(
            f"{plan.id} trains nothing, so that it has no loss. Say what to measure: "
            "one of its variables, or a claim."
        )
    return ["loss"]


def _statistic(paper: Paper | None, text: str) -> AbstractStatistic:
    if paper is not None:
        statistic = claim_statistic(paper, text) or _paper_statistic(paper, text)
        if statistic is not None:
            return statistic
        if text.startswith(f"{paper.letter}-"):
            known = [claim.id for claim in paper.claims]
            raise ValueError(
                f"There is no claim {text!r} of {paper.slug}."
                f"{did_you_mean(text, known)} `attnflow list` shows all of them."
            )
    return parse_statistic(text)


def _paper_statistic(paper: Paper, text: str) -> PaperStatistic | None:
    known = {statistic.name: statistic for statistic in paper.statistics}
    if text not in known:
        return None
    code = code_digest(known[text].function.partition(":")[0])
    return PaperStatistic(known[text], code)


def _cell_code(recipe: Recipe) -> str:
    """A digest of the code that computes cells of an experiment and reads them."""
    build = recipe.build.partition(":")[0]
    return code_digest("attnflow.sweeps.job", "attnflow.sweeps.statistic", *RUN, build)
