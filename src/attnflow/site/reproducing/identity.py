"""What decides a figure or table: the runs it is made from, and the code that draws."""

from dataclasses import asdict

from attnflow.papers.base import Paper
from attnflow.runs.jobs import code_digest, described
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.settings import canonical_json, digest

DRAWING = ("figures", "site", "claims", "schema")
"""What turns runs into pictures and numbers, beside the paper's own folder."""


def exhibit_key(paper: Paper, exhibit: Exhibit, *, quick: bool) -> str:
    """The address of what an exhibit comes to: settings and seeds of runs, and code."""
    asked = requests_of(exhibit, quick=quick)
    made = {name: described(paper, request) for name, request in asked.items()}
    swept = {name: [asdict(request), quick] for name, request in exhibit.sweeps.items()}
    code = code_digest(paper.slug, DRAWING)
    texts = (canonical_json(part) for part in (made, swept) if part)
    return digest(paper.slug, exhibit.id, *texts, code)


def requests_of(exhibit: Exhibit, *, quick: bool) -> dict[str, Request]:
    """The runs that an exhibit needs, with the smaller settings of `--quick` put in."""
    return {name: request.sized(quick=quick) for name, request in exhibit.needs.items()}
