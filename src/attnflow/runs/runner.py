"""Runs on request: read where they are stored, computed and stored where not."""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr

from attnflow.papers.base import Paper

# Gives every Dataset `run.attnflow`, from the first run on.
from attnflow.runs import view as view
from attnflow.runs.code import RUN, code_digest, modules_behind
from attnflow.runs.store import Store, StoreError, StoreWarning
from attnflow.schema import outcomes_of
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Request
from attnflow.schema.installation import LIBRARIES
from attnflow.schema.settings import canonical_json, digest, seed_numbers

if TYPE_CHECKING:
    from attnflow.experiments import Computation, Experiment

Progress = Callable[[float, str], None]
"""What is told how far a run is, as a fraction, and what it is doing."""

Arrays = Mapping[str, Any] | str | Path
"""Arrays by name, or the path of an `.npz` file of them."""

_NOT_OURS = {*sys.stdlib_module_names, *LIBRARIES}


class Runner:
    """Makes the runs that claims and exhibits ask for, each of them once.

    **Arguments:**

    - `store`: where runs are kept; `None` is the user's own store, `False` none.
    - `seeds`: how many seeds, or which ones, where a request leaves that open.
    - `quick`: use the requests' smaller settings.
    - `rerun`: compute anew what is stored already.
    - `progress`: called with a fraction and a message while a run is computed.
    - `call`: calls the computation; the command line does so in a thread.
    - `memory`: bytes of stored runs that are kept in memory, the last ones; others are
      read again. All of them without it.
    """

    def __init__(
        self,
        store: Store | Literal[False] | None = None,
        *,
        seeds: int | Sequence[int] | None = None,
        quick: bool = False,
        rerun: bool = False,
        progress: Progress | None = None,
        call: Callable[[Callable[[], xr.Dataset]], xr.Dataset] = lambda work: work(),
        memory: int | None = None,
    ):
        self.store = Store() if store is None else store or None
        self.seeds = seeds
        self.quick = quick
        self.rerun = rerun
        self.progress = progress
        self.call = call
        self.memory = memory
        self._runs: dict[str, xr.Dataset] = {}

    @property
    def runs(self) -> tuple[xr.Dataset, ...]:
        """The runs that this runner has returned so far, each of them once."""
        return tuple(self._runs.values())

    def run(self, paper: Paper, request: Request, **inputs: Any) -> xr.Dataset:
        """The run that is asked for; `inputs` are those of `run_experiment`."""
        request = request.sized(quick=self.quick)
        recipe = paper.recipe(request.experiment)
        return self.run_experiment(
            recipe.experiment(recipe.with_overrides(request.overrides)),
            seeds=request.seeds,
            name=recipe.id,
            build=recipe.build,
            stage_table=paper.stage_table,
            **inputs,
        )

    def gather(self, paper: Paper, needs: Mapping[str, Request]) -> dict[str, Any]:
        """The runs of `needs` by their names; an interrupted one interrupts."""
        evidence = {name: self.run(paper, request) for name, request in needs.items()}
        if any(is_interrupted(run) for run in evidence.values()):
            raise KeyboardInterrupt
        return evidence

    def run_experiment(
        self,
        experiment: "Experiment | Computation",
        *,
        seeds: int | Sequence[int] | None = None,
        name: str | None = None,
        build: str = "",
        stage_table: Callable[[xr.Dataset], Any] | None = None,
        data: Arrays | None = None,
        weights: Arrays | None = None,
        record: Sequence[str] | None = None,
        at: Sequence[float] | None = None,
        lift: bool = False,
        check: bool = False,
    ) -> xr.Dataset:
        """The run of an experiment: from memory, from the store, or computed.

        **Arguments:**

        - `data`, `weights`: in the place of what the experiment draws.
        - `record`, `at`: which observables to record, and at which times.
        - `lift`: add all weights at the end.
        - `check`: repeat a flow at a tenth of its tolerance.
        - `name`: what the run is called; several names may share an address.
        - `build`: the path of the function that built the experiment.
        - `stage_table`: what the stored summary says about stages.
        """
        from attnflow.experiments import address

        numbers = seed_numbers(self.seeds if seeds is None else seeds)
        inputs = {"data": data, "weights": weights, "check": check, "lift": lift}
        recording = _recording(record, at)
        id = address(
            experiment, seeds=numbers, code=run_code(experiment, build), **inputs
        )
        if recording:
            id = digest(id, canonical_json(recording))
        run = self._runs.get(id)
        if run is None and not self.rerun:
            run = self._stored(id)
        is_new = run is None
        if run is None:
            run = self._compute(experiment, seeds=numbers, **inputs, **recording)
        run = run.assign_attrs(id=id, experiment=name or run.attrs["experiment"])
        if not is_interrupted(run):
            self._runs.pop(id, None)
            self._runs[id] = run
            if is_new:
                self._keep(run, stage_table)
            self._let_go()
        return run

    def _let_go(self) -> None:
        """Forget stored runs, those first that were asked for longest ago."""
        # Who computes anew what is stored would do so again.
        if self.memory is None or self.store is None or self.rerun:
            return
        total = sum(run.nbytes for run in self._runs.values())
        for id in list(self._runs)[:-1]:
            if total <= self.memory:
                return
            if self.store.has(id):
                total -= self._runs.pop(id).nbytes

    def _compute(self, experiment: Any, **arguments: Any) -> xr.Dataset:
        from attnflow.experiments import run as compute

        work = partial(compute, experiment, progress=self.progress, **arguments)
        return self.call(work)

    def _stored(self, id: str) -> xr.Dataset | None:
        if self.store is None or not self.store.has(id):
            return None
        try:
            return self.store.read(id)
        except StoreError as error:
            with suppress(StoreError):
                self.store.remove(id)
            warnings.warn(f"{error} It is computed anew.", StoreWarning, stacklevel=4)
            return None

    def _keep(self, run: xr.Dataset, stage_table: Callable | None) -> None:
        if self.store is None:
            return
        try:
            stages = _stages_or_warning(run, stage_table)
            self.store.write(run, stages=stages, replace=self.rerun)
        except StoreError as error:
            # The run took time and is whole: losing it would be the greater harm.
            warnings.warn(
                f"{error} The run itself is complete.", StoreWarning, stacklevel=4
            )


def run(
    experiment: "str | Experiment | Computation",
    *,
    seeds: int | Sequence[int] | None = None,
    store: Store | Literal[False] | None = None,
    rerun: bool = False,
    progress: Progress | None = None,
    data: Arrays | None = None,
    weights: Arrays | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    lift: bool = False,
    check: bool = False,
    **overrides: Any,
) -> xr.Dataset:
    """Run an experiment, or read its run where it is stored.

    **Arguments:**

    - `experiment`: a name such as `mixture/figure1`, or an `Experiment` of your own.
    - `seeds`: how many seeds (0, 1, …), or which ones; one without it.
    - `store`: where runs are kept; `None` is your own store, `False` none.
    - `rerun`: compute it even where it is stored.
    - `data`, `weights`: arrays by name, or an `.npz` file, in the place of drawn ones.
    - `record`, `at`: which observables to record, and at which times.
    - `lift`: add all weights at the end, as `W_K_final` and so on.
    - `check`: repeat a flow at a tenth of its tolerance and tell, as `refinement`, by
      how much what was recorded changes.
    - `overrides`: settings that differ from the experiment's own.

    **Returns:** the run; `attnflow.schema` says what is in it.

    !!! example

        >>> import attnflow as af
        >>> run = af.run("mixture/figure1", steps=20, records=3, store=False)
        >>> run["loss"].sel(seed=0).round(3).values
        array([0.693, 0.531, 0.488])
        >>> run["score"].sel(head="+", key="c1", query="v1").dims
        ('seed', 'time')
        >>> run.attrs["form"]
        'gram'

    The same at any width, for several seeds: `af.run("mixture/figure1", seeds=3,
    width="infinite")`.
    """
    runner = Runner(store, rerun=rerun, progress=progress)
    inputs = {"data": data, "weights": weights, "record": record, "at": at}
    inputs |= {"check": check, "lift": lift}
    if not isinstance(experiment, str):
        if overrides:
            raise ValueError(
                f"{sorted(overrides)} cannot be set on an experiment that is built "
                "already. Build it with these settings, or give its name."
            )
        return runner.run_experiment(experiment, seeds=seeds, **inputs)
    paper, id = find_experiment(experiment)
    numbers = seeds if seeds is None or isinstance(seeds, int) else tuple(seeds)
    return runner.run(paper, Request(id, overrides, seeds=numbers), **inputs)


def run_code(experiment: "Experiment | Computation", build: str = "") -> str:
    """A digest of the code that a run depends on.

    That is what builds the experiment, or where somebody built it, the modules of its
    parts; a computation's function; and what computes every run.
    """
    start = [build.partition(":")[0]] if build else modules_behind(experiment)
    function = getattr(experiment, "function", "").partition(":")[0]
    modules = {module for module in (*start, function) if module}
    ours = {m for m in modules if m.partition(".")[0] not in _NOT_OURS}
    return code_digest(*sorted({*RUN, *ours}))


def find_experiment(name: str) -> tuple[Paper, str]:
    """The paper and the experiment's id of a name such as `mixture/figure1`.

    `mix/TASK` is no paper's, and is found like one.
    """
    slug, _, id = name.partition("/")
    paper = find_source(slug)
    if not id:
        known = ", ".join(f"{slug}/{recipe.id}" for recipe in paper.recipes)
        raise ValueError(
            f"{name!r} names a paper. Name one of its experiments: {known}."
        )
    return paper, paper.recipe(id).id


def find_source(slug: str) -> Paper:
    """The paper of a short name; `mix` stands for mixed experiments."""
    if slug == "mix":
        # Its settings are those of tasks, which import JAX.
        from attnflow.papers.mix import MIX

        return MIX
    from attnflow.papers import paper

    return paper(slug)


def stage_rows(run: xr.Dataset, stage_table: Callable | None) -> list[dict[str, Any]]:
    """The stage table of a run as plain rows; empty where its paper has none."""
    rows = stage_table(run) if stage_table else ()
    return [asdict(row) for row in rows]


def _recording(
    record: Sequence[str] | None, at: Sequence[float] | None
) -> dict[str, Any]:
    """What was asked to be recorded beside the usual; empty where nothing was."""
    names = [record] if isinstance(record, str) else record
    options = {"record": names and list(names), "at": at and [float(t) for t in at]}
    return {name: value for name, value in options.items() if value}


def _stages_or_warning(run: xr.Dataset, stage_table: Callable | None) -> list[dict]:
    try:
        return stage_rows(run, stage_table)
    except Exception as error:
        # A detector that fails on an unusual run must not cost the run.
        warnings.warn(
            f"The stages of {run.attrs['id']} could not be found: {error!r}.",
            StoreWarning,
            stacklevel=5,
        )
        return []


def is_interrupted(run: xr.Dataset) -> bool:
    """Whether the run ended before its end because somebody stopped it."""
    return Outcome.INTERRUPTED in outcomes_of(run)
