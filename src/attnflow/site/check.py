"""A check of figures and tables that were drawn: records, and the files they seal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attnflow.papers import papers
from attnflow.papers.base import Paper
from attnflow.runs.check import Finding, Unrepaired, leftovers, remove
from attnflow.runs.store import Store
from attnflow.schema.installation import MissingData
from attnflow.site.pages import Place, earlier_result
from attnflow.site.reproduce import QUICK, Drawing, draw_exhibits
from attnflow.site.write import write_pages


def check_site(site: Path, store: Store) -> Iterator[Finding]:
    """Findings about the exhibits that lie in a site, or in a paper's own folder."""
    every = papers()
    for directory in (site, *(site / slug for slug in every)):
        if not directory.is_dir():
            continue
        yield from leftovers(directory)
        for record in sorted(directory.glob("*.json")):
            # Other JSON files are not ours: a record has a picture, or a seal if the
            # picture is lost.
            if record.with_suffix(".svg").exists() or "seal" in _content(record):
                alone = [every[directory.name]] if directory != site else every.values()
                candidates = [p for p in alone if _shows(p, record.stem)]
                if candidates:
                    yield _finding(candidates, Place(directory, site), record, store)


def _content(record: Path) -> dict[str, Any]:
    """What a record says; empty where it cannot be read."""
    with suppress(OSError, ValueError, TypeError):
        return dict(json.loads(record.read_text("utf-8")))
    return {}


def _shows(paper: Paper, id: str) -> bool:
    return any(exhibit.id == id for exhibit in paper.shown)


def _finding(papers: list[Paper], place: Place, record: Path, store: Store) -> Finding:
    """The finding about a record, of which it is not said whose exhibit it is."""
    for paper in papers:
        if earlier_result(paper.slug, record.stem, place.directory) is not None:
            return Finding("exhibit", record)
    repair = partial(_draw, papers, place, record, store)
    trouble = "or a file that it seals is damaged, missing, or of another version"
    return Finding("exhibit", record, "damaged", trouble, repair)


def _draw(papers: list[Paper], place: Place, record: Path, store: Store) -> str:
    content = _content(record)
    named = [paper for paper in papers if paper.slug == content.get("paper")]
    if not named and len(papers) > 1:
        return remove(record, "whose exhibit it is cannot be read; reproduce it again")
    paper = (named or papers)[0]
    quick = bool(content.get("quick", place.site.name == QUICK.name))
    drawing = Drawing(paper, paper.exhibit(record.stem), place.directory, quick)
    try:
        draw_exhibits([drawing], store=store)
    except MissingData as error:
        raise Unrepaired(str(error)) from error
    write_pages([(paper, place)])
    return "drawn anew"
