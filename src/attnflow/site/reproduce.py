"""Figures and tables of papers as files: drawn in parallel from runs, and kept.

Runs are stored, and the files of each exhibit are complete or absent: what was done
when it was interrupted or killed is not done again, nor what did not change since.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from attnflow.papers import paper as find_paper
from attnflow.papers import select_papers
from attnflow.papers.base import Paper
from attnflow.runs.code import RUN, code_digest, modules_behind, signature
from attnflow.runs.plan import (
    Job,
    Needs,
    carry_out,
    make_plan,
    runner_of,
)
from attnflow.runs.pool import Here, Pool
from attnflow.runs.profile import Profile
from attnflow.runs.progress import Progress, quiet, shown
from attnflow.runs.runner import Runner, described
from attnflow.runs.store import Store
from attnflow.runs.verify import pool_of
from attnflow.schema.declarations import Exhibit, Request, SweepRequest
from attnflow.schema.installation import MissingData, library_versions, xr
from attnflow.schema.settings import canonical_json, digest
from attnflow.site.explore import write_explorers
from attnflow.site.pages import (
    ExhibitResult,
    Place,
    earlier_result,
    keep_reason,
    make_exhibit,
)
from attnflow.site.write import write_pages
from attnflow.sweeps import BatchStore, choose_executor
from attnflow.sweeps.sweep import compute_sweep, plan_sweep

OUTPUT = Path("attnflow-output")
QUICK = OUTPUT / "quick"
"""Apart, so that smaller runs never take the place of the papers' own."""


@dataclass(frozen=True)
class Drawing:
    """An exhibit of a paper to be drawn, and the folder for its files."""

    paper: Paper
    exhibit: Exhibit
    directory: Path
    quick: bool = False

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return f"{self.paper.slug}/{self.exhibit.id}"

    @property
    def requests(self) -> dict[str, Request]:
        """The runs that it needs, with the smaller settings of `--quick` put in."""
        needs = self.exhibit.needs.items()
        return {name: request.sized(quick=self.quick) for name, request in needs}

    @property
    def key(self) -> str:
        """The address of what it comes to: settings and seeds of runs, and code."""
        exhibit = self.exhibit
        runs = {name: described(self.paper, r) for name, r in self.requests.items()}
        sweeps = {name: [asdict(r), self.quick] for name, r in exhibit.sweeps.items()}
        functions = (
            *(exhibit.shows, exhibit.draw, exhibit.values, exhibit.deviations),
            *(exhibit.stated, exhibit.checks),
        )
        needs = [*exhibit.needs.values(), *exhibit.sweeps.values()]
        modules = {"attnflow.site.pages.exhibit", *RUN, *modules_behind(functions)}
        modules |= self.paper.build_modules(needs)
        texts = (canonical_json(part) for part in (runs, sweeps) if part)
        printed = map(repr, (exhibit.printed, exhibit.tolerance, exhibit.differs))
        code = (code_digest(*sorted(modules)), signature(functions))
        return digest(self.paper.slug, exhibit.id, *texts, *printed, *code)

    def earlier(self) -> ExhibitResult | None:
        """The result in the folder, drawn from the same settings by the same code."""
        result = earlier_result(self.paper.slug, self.exhibit.id, self.directory)
        return result if result is not None and result.key == self.key else None

    def evidence(self, runner: Runner) -> dict[str, xr.Dataset]:
        """Its runs and sweeps by name, as the `runner` computes or reads them."""
        runs = runner.gather(self.paper, self.exhibit.needs)
        sweeps = self.exhibit.sweeps.items()
        return runs | {n: gather_sweep(runner, self.paper, r) for n, r in sweeps}

    def draw(self, runner: Runner) -> ExhibitResult:
        """The files, drawn from runs and sweeps that the `runner` computes or reads."""
        # A runner with its own seeds would draw a different figure, which nobody asked
        # for.
        return make_exhibit(
            self.paper,
            self.exhibit,
            self.evidence(runner),
            self.directory,
            quick=self.quick,
            key=self.key if runner.seeds is None else "",
        )

    def draw_or_leave(self, runner: Runner) -> ExhibitResult | None:
        """The files; none, and a warning, where its data set is not on this machine.

        The reason is kept in its folder, so that its page says it.
        """
        try:
            return self.draw(runner)
        except MissingData as error:
            keep_reason(self.exhibit.id, error.what, self.directory)
            warnings.warn(f"{self.name} is left out: {error}", stacklevel=2)
            return None


@dataclass(frozen=True)
class Draw:
    """The job of drawing an exhibit from its runs and writing its files."""

    slug: str
    id: str
    directory: Path
    root: Path
    quick: bool

    # As measured over the exhibits of five papers, each drawn for light and dark.
    usual_seconds = 2.0
    verb = "drawn"

    def __str__(self) -> str:
        return f"{self.slug}/{self.id}"

    def do(self) -> ExhibitResult | None:
        """The result; runs are read, or computed where computing them had failed."""
        paper = find_paper(self.slug)
        drawing = Drawing(paper, paper.exhibit(self.id), self.directory, self.quick)
        return drawing.draw_or_leave(runner_of(self.root, quick=self.quick))


@dataclass(frozen=True)
class Reproduction:
    """Exhibits that were drawn or are up to date, and the pages that show them."""

    results: tuple[ExhibitResult, ...]
    pages: tuple[Path, ...]


def reproduce(
    target: str | None = None,
    *,
    quick: bool = False,
    maps: bool = False,
    out: str | Path | None = None,
    store: Store | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    report: Callable[[ExhibitResult], None] = lambda result: None,
    profile: Profile | None = None,
    call: Callable[[Callable[[], xr.Dataset]], xr.Dataset] = lambda work: work(),
) -> Reproduction:
    """Draw figures and tables of papers, in parallel, and write their pages.

    What is there already and did not change is left; killed, it goes on where it was.

    **Arguments:**

    - `target`: a paper such as `mixture`, one of its exhibits such as
      `mixture/figure1a`, or all papers.
    - `quick`: smaller runs, and explorers that do not say how near they are to
      `af.run`; `maps`: the maps too, which take minutes each.
    - `out`: the folder; without it `attnflow-output`, or its `quick`.
    - `store`, `workers`, `progress`, `report`, `profile`, `call`: as for
      `draw_exhibits`.
    """
    drawings, places = [], []
    for paper, id in select_papers(target):
        place = output_place(out, paper, alone=target is not None, quick=quick)
        every = paper.shown if maps else paper.exhibits
        exhibits = every if id is None else (paper.exhibit(id),)
        drawings += [Drawing(paper, e, place.directory, quick) for e in exhibits]
        places.append((paper, place))
    with (
        nullcontext(progress) if progress else shown(None) as bar,
        pool_of(workers) as pool,
    ):
        results = draw_exhibits(
            drawings,
            store=store,
            pool=pool,
            progress=bar,
            report=report,
            profile=profile,
            call=call,
        )
        if all(id is None for _, id in select_papers(target)):
            write_explorers(
                places, bar or quiet, measured=not quick, pool=pool, profile=profile
            )
    return Reproduction(tuple(results), tuple(write_pages(places)))


def output_place(
    out: str | Path | None, paper: Paper, *, alone: bool, quick: bool = False
) -> Place:
    """Where a paper's files go, created if need be; one alone may have any folder."""
    site = Path(out) if out else QUICK if quick else OUTPUT
    directory = site if alone and out else site / paper.slug
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(
            f"{directory} cannot be a folder: a file is in its way. Give another one "
            "with --out DIR."
        ) from error
    return Place(directory, site)


def draw_exhibits(
    drawings: Sequence[Drawing],
    *,
    store: Store | None = None,
    workers: int | None = None,
    pool: Pool | Here | None = None,
    progress: Progress | None = None,
    report: Callable[[ExhibitResult], None] = lambda result: None,
    profile: Profile | None = None,
    call: Callable[[Callable[[], xr.Dataset]], xr.Dataset] = lambda work: work(),
) -> list[ExhibitResult]:
    """Draw exhibits in parallel, from runs that are computed once for all.

    An exhibit of one run that is wanted alone is drawn in this process; so is each map,
    whose cells are shared out instead.

    **Arguments:**

    - `store`, `workers`, `pool`, `progress`: as for `verify_claims`.
    - `report`: called with each result as soon as its files are written.
    - `profile`: takes down where the time of exhibits goes that workers draw.
    - `call`: calls long computations of this process, as for `Runner`.

    **Returns:** the results, in order. What needs a data set that is not on this
    machine is left out with a warning; wanted alone, it is an error.
    """
    store = store or Store()
    results = {drawing.name: drawing.earlier() for drawing in drawings}
    new = [drawing for drawing in drawings if results[drawing.name] is None]
    is_alone = len(drawings) == 1
    shared = [
        drawing
        for drawing in new
        if not drawing.exhibit.sweeps
        and not (is_alone and len(drawing.exhibit.needs) < 2)
    ]
    if shared:
        jobs: dict[Job, Needs] = {
            Draw(d.paper.slug, d.exhibit.id, d.directory, store.root, d.quick): (
                d.paper,
                list(d.requests.values()),
            )
            for d in shared
        }
        plan = make_plan(jobs, store.root)
        with pool_of(workers, pool) as team, warnings.catch_warnings():
            if is_alone:
                warnings.filterwarnings("ignore", message=".* is left out: ")
            for job, result in carry_out(plan, team, "exhibits", progress, profile):
                results[str(job)] = result
                if result is not None:
                    report(result)
    for drawing in new:
        if results[drawing.name] is None and (is_alone or drawing not in shared):
            runner = Runner(store, quick=drawing.quick, progress=progress, call=call)
            draw = drawing.draw if is_alone else drawing.draw_or_leave
            results[drawing.name] = result = draw(runner)
            if result is not None:
                report(result)
    return [result for result in results.values() if result is not None]


def gather_sweep(runner: Runner, paper: Paper, request: SweepRequest) -> xr.Dataset:
    """The Dataset of a sweep, with those attributes of a run that a sweep has.

    `wall_seconds` is the CPU time of all its cells, whenever they were computed, and
    `changed` names the settings of `--quick`.
    """
    if runner.store is None:
        raise ValueError(
            f"{paper.slug}/{request.experiment} is swept, which needs a store for its "
            "batches: give the runner one, as in Runner(Store('directory'))."
        )
    sized = request.sized(quick=runner.quick)
    plan = plan_sweep(
        f"{paper.slug}/{request.experiment}",
        sized.settings,
        zip=request.zip,
        seeds=sized.seeds,
        measure=request.measure,
        batch=request.batch,
    )
    batches = BatchStore(runner.store.root)

    def compute() -> xr.Dataset:
        # Starting processes takes longer than a quick sweep does.
        executor = choose_executor("here" if runner.quick else "local")
        with closing(executor):
            return compute_sweep(
                plan,
                executor,
                refine=request.refine,
                coarse=request.coarse,
                store=batches,
                retry=True,
                progress=runner.progress,
            )

    cells = runner.call(compute) if runner.quick else compute()
    seeds = ["seeds"] if request.quick_seeds is not None else []
    changed = sorted([*request.quick, *seeds]) if runner.quick else []
    count, id = int(cells["error"].size), cells.attrs["sweep"]
    about = {
        "cells_computed": count,
        "cells_full": count,
        # A refined sweep has its own two numbers.
        **cells.attrs,
        "id": id,
        "experiment": plan.recipe.id,
        "wall_seconds": batches.seconds(id),
        "versions": json.dumps(library_versions()),
        "platform": f"{platform.machine()} {platform.system()}",
        "changed": json.dumps(changed),
    }
    return cells.assign_attrs(about)
