"""Explorers of experiments: pages that compute, alone, in a site, or in a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnflow.papers.base import Paper, select_papers
from attnflow.papers.base import paper as find_paper
from attnflow.runs.code import code_digest
from attnflow.runs.plan import Job, Needs, carry_out, make_plan
from attnflow.runs.pool import Here, Pool
from attnflow.runs.profile import Profile
from attnflow.runs.progress import Progress, quiet
from attnflow.runs.store import Store
from attnflow.schema.files import write_text
from attnflow.schema.settings import Value, digest
from attnflow.site.agreements import is_measured
from attnflow.site.pages.files import EXPLORER

if TYPE_CHECKING:
    from attnflow.site.pages import Place

HEIGHT = 900
COMPILED = 0.8
"""The share that compiling has of the work; running Python beside it has the rest."""


@dataclass(frozen=True)
class Explorer:
    """An explorer of one experiment, or of all experiments of a paper.

    In a notebook it shows itself; `save` writes it as one file that needs no server.
    """

    name: str
    document: Mapping[str, Any]

    @cached_property
    def html(self) -> str:
        """The whole page."""
        from attnflow.browser.explorer.page import render

        return render(dict(self.document))

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        return write_text(Path(path), self.html)

    def _repr_html_(self) -> str:
        # A frame of its own, whose policy holds for it alone.
        text = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{text}" title="{html.escape(self.name)}" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        ids = ", ".join(e["id"] for e in self.document["experiments"])
        return f"Explorer of {self.name} ({ids})\n  explorer.save('explore.html')"


def explore(
    name: str, /, setting: Mapping[str, Value] | None = None, **more: Value
) -> Explorer:
    """An explorer: a page with sliders that retrains an experiment in the browser.

    **Arguments:**

    - `name`: an experiment such as `mixture/figure1`, or a paper.
    - `setting`, and other keyword arguments: settings of the experiment that the page
      begins with.

    !!! example

        ```python
        af.explore("mixture/figure1", omega=0.05).save("mixture.html")
        ```
    """
    ((paper, id),) = select_papers(name)
    overrides = {**(setting or {}), **more}
    if id is None and overrides:
        raise ValueError(
            f"{', '.join(overrides)} can be set for one experiment, and {name!r} is a "
            f"paper. Write for example {name}/{paper.recipes[0].id}."
        )
    return Explorer(name, explorer_document(paper, id, overrides))


def explorer_document(
    paper: Paper, id: str | None, overrides: Mapping[str, Value] | None = None
) -> dict[str, Any]:
    """The document of an experiment, or of a paper."""
    from attnflow.browser.explorer.document import document
    from attnflow.site.agreements import with_agreement
    from attnflow.site.maps import with_maps

    whole = document(paper, None if id is None else [id], overrides)
    return with_maps(with_agreement(paper, whole))


@dataclass(frozen=True)
class WriteExplorer:
    """The job of writing the explorer of a paper into its folder."""

    slug: str
    directory: Path
    measured: bool = True

    # As measured over five papers.
    usual_seconds = 30.0
    verb = "written"

    def __str__(self) -> str:
        return f"{self.slug}/explorer"

    def do(self, progress: Progress = quiet) -> None:
        """Write the pages, the first one last; none if nothing can be shown."""
        from attnflow.browser.explorer.document import documents
        from attnflow.browser.lowering import Unsupported
        from attnflow.site.agreements import with_agreement
        from attnflow.site.maps import with_maps
        from attnflow.training.programs import make_room

        # Nothing that was compiled for figures serves a page.
        make_room(0, 0)
        paper, page = find_paper(self.slug), self.directory / EXPLORER
        for old in explorer_pages(self.directory):
            old.unlink()

        def compiling(share: float, id: str) -> None:
            progress(COMPILED * share, f"explorer: compiling {self.slug}/{id}")

        try:
            parts = documents(paper, report=compiling)
        except Unsupported:
            return
        files = [
            page.name,
            *(f"{page.stem}-{n}.html" for n in range(2, len(parts) + 1)),
        ]
        book = [
            {"id": experiment["id"], "title": experiment["title"], "file": file}
            for file, part in zip(files, parts, strict=True)
            for experiment in part["experiments"]
        ]
        for number, (file, part) in enumerate(
            reversed(list(zip(files, parts, strict=True)))
        ):

            def measuring(share: float, id: str, done: int = number) -> None:
                share = COMPILED + (1 - COMPILED) * (done + share) / len(parts)
                progress(share, f"explorer: {self.slug}/{id} beside af.run")

            document = {**part, "book": book, "file": file}
            if self.measured:
                document = with_agreement(paper, document, measuring)
            text = Explorer(self.slug, with_maps(document)).html
            mark = _mark(paper, measured=self.measured)
            write_text(page.with_name(file), f"{text}\n{mark}\n")


def write_explorers(
    papers_at: Sequence[tuple[Paper, Place]],
    progress: Progress = quiet,
    *,
    measured: bool = True,
    pool: Pool | Here | None = None,
    profile: Profile | None = None,
) -> list[Path]:
    """Write the explorer of each paper, unless it is there and nothing has changed.

    A paper whose experiments do not fit into one page has several, each with links to
    the others.

    **Arguments:**

    - `progress`: hears which share is done, and what is next.
    - `measured`: say on each page how near it is to `af.run`, for which every
      experiment is run in Python.
    - `pool`: processes that write several explorers side by side; without it they are
      written here, one after the other.
    - `profile`: takes down what explorers take that are written in the pool.
    """
    stale = [
        WriteExplorer(paper.slug, place.directory, measured)
        for paper, place in papers_at
        if not _is_current(place.directory / EXPLORER, paper, measured=measured)
    ]
    if pool is not None and len(stale) > 1:
        jobs: dict[Job, Needs] = {job: (find_paper(job.slug), ()) for job in stale}
        plan = make_plan(jobs, Store().root)
        for _ in carry_out(plan, pool, "explorers", progress, profile):
            pass
    else:
        for number, job in enumerate(stale):

            def heard(share: float, words: str, done: int = number) -> None:
                progress((done + share) / len(stale), words)

            job.do(heard)
    return [page for _, place in papers_at for page in explorer_pages(place.directory)]


def _is_current(page: Path, paper: Paper, *, measured: bool) -> bool:
    """Whether a page was written, to its end, by the present code."""
    marks = {_mark(paper, measured=True), _mark(paper, measured=measured)}
    return page.is_file() and page.read_text("utf-8").rstrip().endswith(tuple(marks))


def _mark(paper: Paper, *, measured: bool) -> str:
    return f"<!-- {_key(paper, measured=measured)} -->"


def explorer_pages(directory: Path) -> list[Path]:
    """The pages of a paper's explorer in a folder, the first one first."""
    first = directory / EXPLORER
    others = sorted(directory.glob(f"{first.stem}-[0-9]*.html"))
    return [page for page in (first, *others) if page.is_file()]


def write_shelf(papers_at: Sequence[tuple[Paper, Place]], site: Path) -> Path:
    """Write a page with links to the explorers of all papers."""
    from attnflow.browser.explorer.page import contents_of, render_shelf

    shelf = []
    for paper, place in papers_at:
        page = place.directory / EXPLORER
        if page.is_file():
            links = [
                {**item, "address": f"{paper.slug}/{item['file']}#{item['id']}"}
                for item in contents_of(page.read_text("utf-8"))
            ]
            shelf.append({"paper": paper, "experiments": links})
    return write_text(site / EXPLORER, render_shelf(shelf))


def _key(paper: Paper, *, measured: bool) -> str:
    """What an explorer depends on: a paper's code, and the compiler's."""
    modules = {recipe.build.partition(":")[0] for recipe in paper.recipes}
    modules |= {"attnflow.browser.explorer.document", "attnflow.site.agreements"}
    modules |= {"attnflow.browser.explorer.page.template"}
    if paper.stage_table is not None:
        modules.add(paper.stage_table.__module__)
    declared = [
        *(repr((c.id, c.statement, str(c.expected))) for c in paper.claims),
        *(repr((e.id, e.title, e.needs, e.shows)) for e in paper.exhibits),
        *(repr((r.id, r.title, r.place, r.setting)) for r in paper.recipes),
    ]
    folder = files("attnflow.browser.explorer")
    page = [*folder.iterdir(), *(folder / "page").iterdir()]
    texts = [f.read_text("utf-8") for f in sorted(page, key=str) if _is_text(f.name)]
    code = code_digest(*sorted(modules))
    engine = str(measured and is_measured())
    return digest("explorer", paper.slug, code, engine, *map(_plain, declared), *texts)


def _plain(text: str) -> str:
    """A text without places in memory, which differ between sessions."""
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _is_text(name: str) -> bool:
    """Whether a file is part of the page and no module of Python."""
    return name.endswith((".js", ".css", ".html"))
