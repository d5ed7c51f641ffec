"""`sweep`: an experiment of a paper, or a recipe of your own, over its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, Unpack

from attnflow.papers.base import Paper
from attnflow.runs.code import RUN, code_digest
from attnflow.runs.progress import Progress, shown
from attnflow.runs.runner import find_experiment
from attnflow.runs.store import Store
from attnflow.schema import settings
from attnflow.schema.declarations import Recipe
from attnflow.schema.installation import xr
from attnflow.schema.settings import did_you_mean, seed_numbers
from attnflow.sweeps.batch_store import BatchStore
from attnflow.sweeps.boundary import run_refined
from attnflow.sweeps.dataset import Options, run_sweep
from attnflow.sweeps.executors import Executor, choose_executor
from attnflow.sweeps.grid import Values, check_axes, make_axes
from attnflow.sweeps.job import check_readable
from attnflow.sweeps.plan import BATCH, Sweep, example_of
from attnflow.sweeps.statistic import AbstractStatistic, PaperStatistic, parse_statistic
from attnflow.sweeps.validity import ClaimStatistic, check_swept

if TYPE_CHECKING:
    from attnflow.experiments.record import Runnable


def plan_sweep(
    experiment: str | Recipe,
    overrides: Mapping[str, Values],
    *,
    zip: Iterable[Sequence[str]] = (),
    seeds: int | Sequence[int] | None = None,
    measure: str | Sequence[str] | None = None,
    batch: int = BATCH,
) -> Sweep:
    """The sweep that is requested, checked as far as it can be before it is run.

    Arguments are those of `sweep`.
    """
    paper, recipe = None, experiment
    if isinstance(experiment, str):
        paper, id = find_experiment(experiment)
        recipe = paper.recipe(id)
    if not isinstance(recipe, Recipe):
        raise ValueError(
            f"{recipe!r} ({type(recipe).__name__}) is not an experiment. Give a name "
            "like 'mixture/figure1', or a `Recipe` of your own."
        )
    fixed, axes = make_axes(recipe.setting, overrides, zip)
    check_axes(axes)
    setting = settings.replace(recipe.setting, fixed)
    plan = example_of(recipe, setting, axes)
    texts = _texts(plan, measure)
    statistics = tuple(_statistic(paper, text) for text in texts)
    check_readable(plan, statistics)
    for statistic in statistics:
        if isinstance(statistic, ClaimStatistic) and paper is not None:
            swept = (key for axis in axes for key in axis.keys)
            check_swept(paper, statistic, [*fixed, *swept])
    build = recipe.build.partition(":")[0]
    cells = ("attnflow.sweeps.job", "attnflow.sweeps.statistic", *RUN, build)
    return Sweep(
        recipe,
        setting,
        axes,
        seed_numbers(seeds),
        statistics,
        code=code_digest(*cells),
        fixed=tuple(fixed.items()),
        size=batch,
        name=f"{paper.slug}/{recipe.id}" if paper else recipe.id,
    )


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
    """Run an experiment over a grid of settings; the swept keys are dims of the result.

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
    plan = plan_sweep(
        experiment,
        {**(settings or {}), **more},
        zip=zip,
        seeds=seeds,
        measure=measure,
        batch=batch,
    )
    pool = choose_executor(executor, workers=workers, scheduler=scheduler)
    with closing(pool), shown(progress) as bar:
        return compute_sweep(
            plan,
            pool,
            refine=refine,
            coarse=coarse,
            store=BatchStore(store.root if store else None),
            limit=limit,
            retry=retry,
            progress=bar,
        )


def compute_sweep(
    sweep: Sweep,
    executor: Executor,
    *,
    refine: float | str | None = None,
    coarse: int = 8,
    store: BatchStore | None = None,
    **options: Unpack[Options],
) -> xr.Dataset:
    """A sweep over its whole grid by `run_sweep`, or by `run_refined`."""
    if refine is None:
        return run_sweep(sweep, executor, store=store, **options)
    try:
        level = float(refine)
    except ValueError:
        level = str(refine)
    if level != level:
        raise ValueError("refine=nan is not a level. Give a number, or a verdict.")
    return run_refined(
        sweep, executor, level=level, coarse=coarse, store=store, **options
    )


def _texts(plan: Runnable, measure: str | Sequence[str] | None) -> list[str]:
    if measure is not None:
        return [measure] if isinstance(measure, str) else list(measure)
    if not hasattr(plan, "observables"):
        raise ValueError(
            f"{plan.id} trains nothing, so that it has no loss. Say what to measure: "
            "one of its variables, or a claim."
        )
    return ["loss"]


def _statistic(paper: Paper | None, text: str) -> AbstractStatistic:
    if paper is None:
        return parse_statistic(text)
    claims = [claim.id for claim in paper.claims]
    if text in claims:
        return ClaimStatistic(paper.slug, text)
    for statistic in paper.statistics:
        if statistic.name == text:
            code = code_digest(statistic.function.partition(":")[0])
            return PaperStatistic(statistic, code)
    if text.startswith(f"{paper.letter}-"):
        raise ValueError(
            f"There is no claim {text!r} of {paper.slug}.{did_you_mean(text, claims)} "
            "`attnflow list` shows all of them."
        )
    return parse_statistic(text)
