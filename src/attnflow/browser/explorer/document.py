"""The document of an explorer: all that a page needs, from declarations alone."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from attnflow.browser.explorer.variants import Pool
from attnflow.browser.explorer.writer import BUDGET, Json, Shared, Writer
from attnflow.browser.lowering import Unsupported
from attnflow.papers.base import Paper
from attnflow.schema.installation import MissingData
from attnflow.schema.settings import Value

VERSION = 1
NO_DATA = "Its data set was not there when this page was made."
ROOM = 560_000
"""Up to which another experiment is put into the same document."""
MOST = 32
"""Variants of one experiment."""
Report = Callable[[float, str], None]
"""Takes the share of the work that is done, and the experiment that is next."""


def _silent(share: float, id: str) -> None:
    pass


def document(
    paper: Paper,
    ids: Sequence[str] | None = None,
    overrides: Mapping[str, Value] | None = None,
    *,
    most: int = MOST,
) -> Json:
    """The document of a paper, or of some of its experiments, of `most` variants each.

    An experiment that has no kernel is listed with the reason; one that was asked for
    by name raises `Unsupported`.
    """
    if ids is None:
        books, missing = _books(paper)
        others = [w for book in books[1:] for w in book.writers]
        missing = [*map(_elsewhere, others), *missing]
        return books[0].json(paper, missing, most, several=True)
    shared = Shared()
    book = _Book()
    for recipe in map(paper.recipe, ids):
        chosen = replace(recipe, setting=recipe.with_overrides(overrides or {}))
        book.add(Writer(paper, chosen, shared))
    return book.json(paper, [], most)


def documents(
    paper: Paper, *, most: int = MOST, report: Report = _silent
) -> list[Json]:
    """The experiments of a paper in as many documents as they need, in their order.

    Each is a page below 1 MB; the first one has the experiments that are not offered.
    `report` hears which share of the work is done, and of which experiment is next.
    """
    # Kernels of the defaults take about half of the time, all others the other half.
    books, missing = _books(paper, lambda share, id: report(share / 2, id))
    return [
        book.json(
            paper,
            [] if n else missing,
            most,
            several=True,
            report=lambda share, id, n=n: report(
                0.5 + (n + share) / len(books) / 2, id
            ),
        )
        for n, book in enumerate(books)
    ]


def _books(paper: Paper, report: Report = _silent) -> "tuple[list[_Book], list[Json]]":
    """The experiments of a paper in books, and those that are not offered."""
    books: list[_Book] = []
    missing: list[Json] = []
    shared = Shared()
    for n, recipe in enumerate(paper.recipes):
        report(n / len(paper.recipes), recipe.id)
        try:
            writer = Writer(paper, recipe, shared)
        except (Unsupported, MissingData) as error:
            # What is said of missing data names directories of this machine.
            why = str(error) if isinstance(error, Unsupported) else NO_DATA
            missing.append({"id": recipe.id, "title": recipe.title, "why": why})
            continue
        book = next((b for b in books if b.has_room(writer)), None)
        if book is None:
            book = _Book()
            books.append(book)
        book.add(writer)
    if not books:
        raise Unsupported(f"No experiment of {paper.slug} can be played in a page.")
    return books, missing


def _elsewhere(writer: "Writer") -> Json:
    name = f"{writer.paper.slug}/{writer.recipe.id}"
    why = f"It has no room beside the others: attnflow explore {name}."
    return {"id": writer.recipe.id, "title": writer.recipe.title, "why": why}


@dataclass
class _Book:
    """Experiments of one document: their modules and arrays are there once each."""

    pool: Pool = field(default_factory=Pool)
    writers: "list[Writer]" = field(default_factory=list)

    def has_room(self, writer: "Writer") -> bool:
        return self.pool.size + writer.size <= ROOM

    def add(self, writer: "Writer") -> None:
        self.writers.append(writer)
        writer.join(self.pool)

    def json(
        self,
        paper: Paper,
        missing: list[Json],
        most: int,
        *,
        several: bool = False,
        report: Report = _silent,
    ) -> Json:
        experiments = []
        for n, writer in enumerate(self.writers):
            report(n / len(self.writers), writer.recipe.id)
            # Space that one experiment does not use is available to the following ones.
            share = (BUDGET - self.pool.size) // (len(self.writers) - n)
            writer.limit, writer.choices = self.pool.size + share, not several
            experiments.append(writer.json(most))
        return {
            "version": VERSION,
            "attnflow": version("attnflow"),
            "paper": _paper_json(paper),
            "modules": self.pool.modules,
            "arrays": self.pool.arrays,
            "experiments": experiments,
            "missing": missing,
        }


def _paper_json(paper: Paper) -> Json:
    fields = dict(re.findall(r"(\w+)\s*=\s*\{(.*?)\}\s*[,\n]", paper.bibtex, re.S))
    url = fields.get("url") or (
        f"https://arxiv.org/abs/{fields['eprint']}" if "eprint" in fields else ""
    )
    people = " ".join(fields.get("author", "").split()).strip("{}").split(" and ")
    authors = [" ".join(reversed(p.split(", ", 1))) for p in people]
    return {
        "slug": paper.slug,
        "letter": paper.letter,
        "title": paper.title,
        "authors": ", ".join(authors),
        "url": url,
        "headline": paper.headline,
        "summary": paper.summary,
    }
