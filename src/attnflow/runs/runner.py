"""Runs on request: read where they are stored, computed and stored where not."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from attnflow.papers.base import Paper
from attnflow.runs.code import (
    RUN,
    code_digest,
    imports_others,
    is_newer_than_session,
    modules_behind,
)
from attnflow.runs.progress import Progress, shown
from attnflow.runs.store import Store, StoreError, StoreWarning, summarise
from attnflow.schema import outcomes_of
from attnflow.schema.arrays import ArraySource
from attnflow.schema.clock import measured
from attnflow.schema.dataset import Outcome, with_clock
from attnflow.schema.declarations import Request
from attnflow.schema.installation import LIBRARIES, xr
from attnflow.schema.settings import (
    JsonObject,
    address,
    as_record,
    canonical_json,
    digest,
    seed_numbers,
)

if TYPE_CHECKING:
    from attnflow.experiments import Computation, Experiment

_NOT_OURS = {*sys.stdlib_module_names, *LIBRARIES}


class Runner:
    """Computes the runs that claims and exhibits need, each of them once.

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
        self._bytes: dict[str, int] = {}
        self._stages: dict[str, list[dict[str, Any]]] = {}

    @property
    def runs(self) -> tuple[xr.Dataset, ...]:
        """The runs that this runner has returned so far, each of them once."""
        return tuple(self._runs.values())

    def run(self, paper: Paper, request: Request, **inputs: Any) -> xr.Dataset:
        """The run that is asked for; `inputs` are those of `run_experiment`."""
        return self._run(self._order(paper, request, **inputs), paper.stage_table)

    def summary(self, paper: Paper, run: xr.Dataset) -> dict[str, Any]:
        """The summary of a run of this runner, with its stages, by `summarise`."""
        # They were found already where the run was stored.
        stages = self._stages.get(run.attrs["id"])
        if stages is None:
            stages = stage_rows(run, paper.stage_table)
        return summarise(run, stages)

    def stored_summary(
        self, paper: Paper, request: Request, **inputs: Any
    ) -> dict[str, Any] | None:
        """The summary of a run that is stored, by `summarise`; `None` if it is not.

        No array is read, unless code that summarises runs or finds stages has changed.
        """
        if self.store is None or self.rerun:
            return None
        order = self._order(paper, request, **inputs)
        summary = self.store.summary(order.id)
        if summary is None:
            return None
        code = _summary_code(paper.stage_table)
        if summary.get("code") != code:
            run = self._run(order, paper.stage_table)
            stages = stage_rows(run, paper.stage_table)
            summary |= {**summarise(run, stages), "code": code}
            with suppress(StoreError):
                self.store.replace_summary(order.id, summary)
        kept = {"code", "created"}
        shown = {name: value for name, value in summary.items() if name not in kept}
        return {**shown, "experiment": order.name}

    def address(self, paper: Paper, request: Request, **inputs: Any) -> str:
        """The address of a run, whether or not it is stored."""
        return self._order(paper, request, **inputs).id

    def _order(self, paper: Paper, request: Request, **inputs: Any) -> _Order:
        """What to compute for a request, under an address that needs no building."""
        request = request.sized(quick=self.quick)
        recipe = paper.recipe(request.experiment)
        setting = recipe.with_overrides(request.overrides)
        content = {
            "paper": paper.slug,
            "build": recipe.build,
            "setting": as_record(setting),
        }
        return _Order.of(
            partial(recipe.experiment, setting),
            content,
            run_modules(recipe.build),
            name=recipe.id,
            seeds=seed_numbers(self.seeds if request.seeds is None else request.seeds),
            **inputs,
        )

    def gather(self, paper: Paper, needs: Mapping[str, Request]) -> dict[str, Any]:
        """The runs of `needs` by their names; an interrupted one interrupts.

        Without `training_time`: claims and figures join records with states at ends of
        stages, which are on the clock `time` alone.
        """
        evidence = {
            name: self.run(paper, request).drop_vars("training_time", errors="ignore")
            for name, request in needs.items()
        }
        if any(is_interrupted(run) for run in evidence.values()):
            raise KeyboardInterrupt
        return evidence

    def run_experiment(
        self,
        experiment: Experiment | Computation,
        *,
        seeds: int | Sequence[int] | None = None,
        data: ArraySource | None = None,
        weights: ArraySource | None = None,
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
        """
        function = getattr(experiment, "function", "")
        order = _Order.of(
            lambda: experiment,
            experiment.canonical(),
            run_modules(*modules_behind(experiment), function),
            name=experiment.id,
            seeds=seed_numbers(self.seeds if seeds is None else seeds),
            data=data,
            weights=weights,
            record=record,
            at=at,
            lift=lift,
            check=check,
        )
        return self._run(order)

    def _run(
        self, order: _Order, stage_table: Callable[[xr.Dataset], Any] | None = None
    ) -> xr.Dataset:
        # Gives every Dataset `run.attnflow`, from the first run on.
        from attnflow.runs import view as view

        run = self._runs.get(order.id)
        if run is None and not self.rerun:
            run = self._stored(order.id)
        is_new = run is None
        if run is None:
            run = self._compute(order)
        run = run.assign_attrs(id=order.id, experiment=order.name)
        if not is_interrupted(run):
            self._runs.pop(order.id, None)
            self._runs[order.id] = run
            if order.id not in self._bytes:
                self._bytes[order.id] = run.nbytes
            if is_new:
                self._keep(run, stage_table)
            self._let_go()
        return run

    def _let_go(self) -> None:
        """Forget stored runs, those first that were asked for longest ago."""
        # With `rerun`, a run that is dropped here would be computed again.
        if self.memory is None or self.store is None or self.rerun:
            return
        # Kept, since xarray takes long to count them.
        total = sum(self._bytes.values())
        for id in list(self._runs)[:-1]:
            if total <= self.memory:
                return
            if self.store.has(id):
                del self._runs[id]
                total -= self._bytes.pop(id)

    def _compute(self, order: _Order) -> xr.Dataset:
        with measured("imported"):
            from attnflow.experiments import run as compute

            experiment = order.build()

        def work() -> xr.Dataset:
            with self._kept_programs(order.modules):
                return compute(experiment, progress=self.progress, **order.options)

        return self.call(work)

    def _kept_programs(self, modules: tuple[str, ...]) -> AbstractContextManager[None]:
        """A context in which programs of other sessions stand for those of this code.

        Not with `rerun`: it is the way out where code depends on what its digest leaves
        out, such as a file. Not where this is another package: runs of settings that
        were never stored would have its old numbers. And not where a source was written
        after this session began, which may go on with what it has imported before.
        """
        from attnflow.training.programs import keeping

        if self.rerun or imports_others(*modules) or is_newer_than_session(*modules):
            return nullcontext()
        return keeping(code_digest(*modules))

    def _stored(self, id: str) -> xr.Dataset | None:
        if self.store is None or not self.store.has(id):
            return None
        try:
            with measured("read"):
                return self.store.read(id)
        except StoreError as error:
            warnings.warn(f"{error} It is computed anew.", StoreWarning, stacklevel=4)
            return None

    def _keep(self, run: xr.Dataset, stage_table: Callable | None) -> None:
        if self.store is None:
            return
        try:
            with measured("stored"):
                stages = _stages_or_warning(run, stage_table)
                self._stages[run.attrs["id"]] = stages
                code = _summary_code(stage_table)
                self.store.write(run, stages=stages, code=code, replace=self.rerun)
        except StoreError as error:
            # The run took time and is complete: losing it would be worse than not
            # storing it.
            warnings.warn(
                f"{error} The run itself is complete.", StoreWarning, stacklevel=4
            )


def run(
    experiment: str | Experiment | Computation,
    *,
    seeds: int | Sequence[int] | None = None,
    store: Store | Literal[False] | None = None,
    rerun: bool = False,
    progress: Progress | None = None,
    data: ArraySource | None = None,
    weights: ArraySource | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    lift: bool = False,
    check: bool = False,
    **overrides: Any,
) -> xr.Dataset:
    """Run an experiment, or read its stored run.

    **Arguments:**

    - `experiment`: a name such as `mixture/figure1`, or an `Experiment` of your own.
    - `seeds`: how many seeds (0, 1, …), or which ones; one without it.
    - `store`: where runs are kept; `None` is your own store, `False` none.
    - `rerun`: compute it even where it is stored.
    - `progress`: called with a fraction and a message; without it, a notebook shows a
      bar where it takes longer than a second.
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
    inputs = {"data": data, "weights": weights, "record": record, "at": at}
    inputs |= {"check": check, "lift": lift}
    if not isinstance(experiment, str):
        if not hasattr(experiment, "canonical"):
            raise ValueError(
                f"{experiment!r} ({type(experiment).__name__}) is not an experiment. "
                "Give a name such as 'mixture/figure1', or an `Experiment` of your own."
            )
        if overrides:
            raise ValueError(
                f"{sorted(overrides)} cannot be set on an experiment that is built "
                "already. Build it with these settings, or give its name."
            )
        with shown(progress) as bar:
            runner = Runner(store, rerun=rerun, progress=bar)
            return with_clock(runner.run_experiment(experiment, seeds=seeds, **inputs))
    paper, id = find_experiment(experiment)
    numbers = seeds if seeds is None else seed_numbers(seeds)
    with shown(progress) as bar:
        runner = Runner(store, rerun=rerun, progress=bar)
        request = Request(id, overrides, seeds=numbers)
        return with_clock(runner.run(paper, request, **inputs))


@dataclass(frozen=True)
class _Order:
    """A run that is asked for: address, name, what computes it, from which modules.

    Several names may share an address.
    """

    id: str
    name: str
    build: Callable[[], Experiment | Computation]
    modules: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        build: Callable[[], Experiment | Computation],
        content: JsonObject,
        modules: tuple[str, ...],
        *,
        name: str,
        record: Sequence[str] | None = None,
        at: Sequence[float] | None = None,
        **inputs: Any,
    ) -> _Order:
        """The order of a run under the address of its content."""
        id = address(content, code=code_digest(*modules), **inputs)
        recording = _recording(record, at)
        if recording:
            id = digest(id, canonical_json(recording))
        return cls(id, name, build, modules, {**inputs, **recording})


def run_modules(*paths: str) -> tuple[str, ...]:
    """The modules with which the code that a run depends on begins.

    These are what computes every run, and what is at `paths`, modules or functions: the
    function that builds an experiment of a paper, which names that of a computation;
    the modules of the parts of an experiment that somebody built.
    """
    modules = {path.partition(":")[0] for path in paths if path}
    ours = {m for m in modules if m.partition(".")[0] not in _NOT_OURS}
    return tuple(sorted({*RUN, *ours}))


def _summary_code(stage_table: Callable[[xr.Dataset], Any] | None) -> str:
    """A digest of the code behind the summary of a run."""
    return code_digest("attnflow.runs.store", *modules_behind(stage_table))


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
    names = [record] if isinstance(record, str) else list(record or ())
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"record={record!r}: give names of observables, as texts.")
    times = [] if at is None else [float(time) for time in at]
    if not all(0 <= time < math.inf for time in times):
        raise ValueError(f"at={at!r}: give times that are finite and not negative.")
    options = {"record": names, "at": times}
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


def described(paper: Paper, request: Request) -> dict[str, Any]:
    """The run that a request means, as plain data: experiment, setting and seeds."""
    recipe = paper.recipe(request.experiment)
    return {
        "experiment": request.experiment,
        "setting": asdict(recipe.with_overrides(request.overrides)),
        "seeds": seed_numbers(request.seeds),
    }
