"""A check of figures and tables that were drawn: records, and the files they seal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from attnflow.papers import papers
from attnflow.papers.base import Paper
from attnflow.runs.check import Finding, Unmended, leftovers
from attnflow.runs.store import Store
from attnflow.schema.declarations import Exhibit
from attnflow.schema.installation import MissingData
from attnflow.site.pages import Place, earlier_result
from attnflow.site.reproduce import QUICK, Drawing, draw_exhibits
from attnflow.site.write import write_pages


def check_site(site: Path, store: Store) -> Iterator[Finding]:
    """Findings about the exhibits that lie in a site."""
    for paper in papers().values():
        place = Place(site / paper.slug, site)
        if place.directory.is_dir():
            yield from leftovers(place.directory)
            for exhibit in paper.shown:
                record = place.directory / f"{exhibit.id}.json"
                if record.exists():
                    yield _finding(paper, exhibit, place, store)


def _finding(paper: Paper, exhibit: Exhibit, place: Place, store: Store) -> Finding:
    record = place.directory / f"{exhibit.id}.json"
    if earlier_result(paper.slug, exhibit.id, place.directory) is not None:
        return Finding("exhibit", record)
    mend = partial(_draw, paper, exhibit, place, store)
    trouble = "or a file that it seals is damaged, missing, or of another version"
    return Finding("exhibit", record, "damaged", trouble, mend)


def _draw(paper: Paper, exhibit: Exhibit, place: Place, store: Store) -> str:
    quick = place.site.name == QUICK.name
    with suppress(OSError, ValueError, AttributeError):
        record = place.directory / f"{exhibit.id}.json"
        quick = bool(json.loads(record.read_text("utf-8")).get("quick", quick))
    drawing = Drawing(paper, exhibit, place.directory, quick)
    try:
        draw_exhibits([drawing], store=store)
    except MissingData as error:
        raise Unmended(str(error)) from error
    write_pages([(paper, place)])
    return "drawn anew"
