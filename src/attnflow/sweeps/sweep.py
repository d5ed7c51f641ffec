"""`sweep`: an experiment of a paper, or a recipe of your own, over its settings."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import xarray as xr

from attnflow.papers.base import Paper
from attnflow.runs.runner import Progress, find_experiment
from attnflow.runs.store import Store
from attnflow.schema import settings
from attnflow.schema.declarations import Recipe
from attnflow.schema.installation import files_of
from attnflow.schema.names import did_you_mean
from attnflow.schema.settings import seed_numbers
from attnflow.sweeps import (
    Executor,
    QuantityMeasure,
    Shelf,
    Status,
    Sweep,
    choose_executor,
    make_axes,
    make_batches,
    parse_measure,
    run_refined,
    run_sweep,
    status_of,
)
from attnflow.sweeps.compute import check_measurable
from attnflow.sweeps.measure import Measure
from attnflow.sweeps.plan import BATCH, example_of
from attnflow.sweeps.validity import ClaimMeasure, check_swept, claim_measure


@dataclass(frozen=True)
class Planned:
    """A sweep that can be run, and what it is called."""

    name: str
    sweep: Sweep


def plan_sweep(
    experiment: str | Recipe,
    given: Mapping[str, Any],
    *,
    zip: Iterable[Sequence[str]] = (),
    seeds: int | Sequence[int] | None = None,
    measure: str | Sequence[str] | None = None,
    batch: int = BATCH,
) -> Planned:
    """The sweep that is asked for, checked as far as it can be before it is run.

    Arguments are those of `sweep`.
    """
    paper, recipe = None, experiment
    if isinstance(experiment, str):
        paper, id = find_experiment(experiment)
        recipe = paper.recipe(id)
    assert isinstance(recipe, Recipe)
    fixed, axes = make_axes(recipe.setting, given, zip)
    setting = settings.replace(recipe.setting, fixed)
    plan = example_of(recipe, setting, axes)
    texts = _texts(plan, measure)
    measures = tuple(_measure(paper, text) for text in texts)
    check_measurable(plan, measures)
    for one in measures:
        if isinstance(one, ClaimMeasure) and paper is not None:
            swept = {key: None for axis in axes for key in axis.keys}
            check_swept(paper, one, {**fixed, **swept})
    sweep = Sweep(
        recipe,
        setting,
        axes,
        seed_numbers(seeds),
        measures,
        code=_code(plan.paper),
        fixed=tuple(fixed.items()),
        size=batch,
    )
    name = f"{paper.slug}/{recipe.id}" if paper else recipe.id
    return Planned(name, sweep)


def sweep(
    experiment: str | Recipe,
    settings: Mapping[str, Any] | None = None,
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
    **more: Any,
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
      that level), `loss~loglog` (a fitted slope), `loss^max` (the largest), a quantity
      or the id of a claim of the paper; the loss without it.
    - `executor`: processes of this machine, a Dask cluster, or this process;
      `workers`: how many; `scheduler`: the address of a cluster that runs already.
    - `batch`: how many cells are computed and stored as one.
    - `limit`: seconds that a cell may take; `retry`: compute failed cells again.
    - `refine`: compute a map over two keys only where the first measure crosses this
      level, or where a verdict is this one; `coarse`: the step of its first cells.

    **Returns:** the measured variables, `outcome` and `error`; see docs/sweeps.md.

    !!! example

        >>> import attnflow as af
        >>> found = af.sweep(
        ...     "mixture/figure1", omega=[0.1, 0.2], steps=20, executor="here"
        ... )
        >>> found["loss"].dims
        ('omega', 'seed')
    """
    made = plan_sweep(
        experiment,
        {**(settings or {}), **more},
        zip=zip,
        seeds=seeds,
        measure=measure,
        batch=batch,
    )
    chosen = choose_executor(executor, workers=workers, scheduler=scheduler)
    options = {"limit": limit, "retry": retry, "progress": progress}
    shelf = Shelf(store.root if store else None)
    with closing(chosen):
        return compute_sweep(
            made, chosen, refine=refine, coarse=coarse, shelf=shelf, **options
        )


def compute_sweep(
    made: Planned,
    executor: Executor,
    *,
    refine: float | str | None = None,
    coarse: int = 8,
    **options: Any,
) -> xr.Dataset:
    """A sweep over its whole grid, or refined; `options` are those of `run_sweep`."""
    if refine is None:
        return run_sweep(made.sweep, executor, name=made.name, **options)
    return run_refined(
        made.sweep,
        executor,
        level=_level(refine),
        coarse=coarse,
        name=made.name,
        **options,
    )


def sweep_status(made: Planned, store: Store | None = None) -> Status:
    """How far a sweep is."""
    shelf = Shelf(store.root if store else None)
    return status_of(make_batches(made.sweep), shelf)


def _level(text: float | str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return str(text)


def _texts(plan: Any, measure: str | Sequence[str] | None) -> list[str]:
    if measure is not None:
        return [measure] if isinstance(measure, str) else list(measure)
    if not hasattr(plan, "observables"):
        raise ValueError(
            f"{plan.id} trains nothing, so that it has no loss. Say what to measure: "
            "one of its variables, or a claim."
        )
    return ["loss"]


def _measure(paper: Paper | None, text: str) -> Measure:
    if paper is not None:
        found = claim_measure(paper, text) or _quantity(paper, text)
        if found is not None:
            return found
        if text.startswith(f"{paper.letter}-"):
            known = [claim.id for claim in paper.claims]
            raise ValueError(
                f"There is no claim {text!r} of {paper.slug}."
                f"{did_you_mean(text, known)} `attnflow list` shows all of them."
            )
    return parse_measure(text)


def _quantity(paper: Paper, text: str) -> QuantityMeasure | None:
    known = {quantity.name: quantity for quantity in paper.quantities}
    if text not in known:
        return None
    # Functions look at runs through the paper's detectors and claims.
    names = ("quantities.py", "stages", "claims")
    own = [f"papers/{paper.slug}/{name}" for name in names]
    _, others = files_of(paper.slug) or (None, [])
    code = _code(paper.slug, *own, others=tuple(others))
    return QuantityMeasure(known[text], code)


@cache
def _code(paper: str, *more: str, others: tuple[Path, ...] = ()) -> str:
    """A digest of what computes cells of a paper, and of what measures them.

    **Arguments:**

    - `more`: files and folders of the library; `others`: files of other packages.
    """
    from attnflow.experiments.versions import (
        digest_files,
        python_files,
        setting_version,
    )

    root = Path(__file__).resolve().parents[1]
    names = ("claims/stages", "sweeps/measure.py", *more)
    files = python_files(root / name for name in names)
    return digest_files(setting_version(paper), [*files, *others])
