"""`attnflow list`: what there is."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli import text
from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.tables import Table
from attnflow.cli.target import chosen_papers

if TYPE_CHECKING:
    from attnflow.papers.base import Paper
    from attnflow.schema.declarations import Exhibit


@guarded
def list_all(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]")] = None,
    json: Json = None,
) -> int:
    """List papers, their experiments, figures and tables, and claims.

    With a paper, also the settings of its experiments; `mix` is for mixed ones.
    """
    from attnflow.runs.runner import find_source

    output = Output(json)
    # Mixed experiments are listed when asked for: they are no paper.
    mixed = [find_source("mix")] if paper == "mix" else None
    found = mixed or [listed for listed, _ in chosen_papers(paper)]
    output.give(_content(found))
    for each in found:
        _show(output, each, settings=paper is not None)
    return 0


def _content(papers: "list[Paper]") -> dict[str, Any]:
    claims = ("id", "place", "statement", "origin", "expected")
    return {
        "papers": [{"slug": p.slug, "title": p.title} for p in papers],
        "experiments": [
            {"paper": p.slug, "id": r.id} for p in papers for r in p.recipes
        ],
        "exhibits": [
            {"paper": p.slug, "id": e.id, "kind": _kind(e)}
            for p in papers
            for e in p.shown
        ],
        "claims": [
            {"paper": p.slug, **{name: getattr(c, name) for name in claims}}
            for p in papers
            for c in p.claims
        ],
    }


def _show(output: Output, paper: "Paper", *, settings: bool) -> None:
    output.say(f"{paper.slug}: {paper.title}")
    output.say(f"{paper.summary}\n")
    experiments = [(f"{paper.slug}/{r.id}", r.title) for r in paper.recipes]
    output.show(Table(("experiment", "what"), experiments))
    if settings:
        values = [(r.id, text.settings(asdict(r.setting))) for r in paper.recipes]
        output.show(Table(("experiment", "settings"), values))
    if paper.statistics:
        known = [(statistic.name, statistic.title) for statistic in paper.statistics]
        output.show(Table(("statistic of a sweep", "what"), known))
    exhibits = [(f"{paper.slug}/{e.id}", _kind(e), e.title) for e in paper.shown]
    output.show(Table(("figure or table", "kind", "what"), exhibits))
    claims = [
        (c.id, c.place, str(c.expected), c.origin, c.statement) for c in paper.claims
    ]
    output.show(Table(("claim", "place", "recorded", "origin", "statement"), claims))


def _kind(exhibit: "Exhibit") -> str:
    return "map" if exhibit.sweeps else exhibit.kind
