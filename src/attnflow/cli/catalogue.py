"""`attnflow list`, `cite` and `new-paper`: papers as they are declared."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import Json, Output, Table, guarded
from attnflow.schema.settings import typed_setting

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
    from attnflow.papers import select_papers
    from attnflow.runs.runner import find_source

    output = Output(json)
    # Mixed experiments belong to no paper, and are listed only by name.
    mixed = [find_source("mix")] if paper == "mix" else None
    papers = mixed or [listed for listed, _ in select_papers(paper)]
    output.give(_content(papers))
    for listed in papers:
        _show(output, listed, settings=paper is not None)
    return 0


def _content(papers: "list[Paper]") -> dict[str, list[dict[str, object]]]:
    claims = ("id", "place", "kind", "statement", "origin", "expected")
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
            {
                "paper": p.slug,
                **{name: getattr(c, name) for name in claims},
                "uses": p.uses_of(c.id),
            }
            for p in papers
            for c in p.claims
        ],
    }


def _show(output: Output, paper: "Paper", *, settings: bool) -> None:
    from attnflow.claims import recorded_words

    output.say(f"{paper.slug}: {paper.title}")
    output.say(f"{paper.summary}\n")
    experiments = [(f"{paper.slug}/{r.id}", r.title) for r in paper.recipes]
    output.show(Table(("experiment", "what"), experiments))
    if settings:
        values = [
            (r.id, " ".join(typed_setting(asdict(r.setting)))) for r in paper.recipes
        ]
        output.show(Table(("experiment", "settings"), values))
    if paper.statistics:
        known = [(statistic.name, statistic.title) for statistic in paper.statistics]
        output.show(Table(("statistic of a sweep", "what"), known))
    exhibits = [(f"{paper.slug}/{e.id}", _kind(e), e.title) for e in paper.shown]
    output.show(Table(("figure or table", "kind", "what"), exhibits))
    claims = [
        (c.id, c.place, str(c.kind), recorded_words(c), c.origin, c.statement)
        for c in paper.claims
    ]
    columns = ("claim", "place", "kind", "recorded", "origin", "statement")
    output.show(Table(columns, claims))


def _kind(exhibit: "Exhibit") -> str:
    return "map" if exhibit.sweeps else exhibit.kind


@guarded
def cite(
    paper: Annotated[str, typer.Argument(metavar="PAPER")], json: Json = None
) -> int:
    """Print the BibTeX entries of a paper and of attnflow."""
    from attnflow.papers.citation import citation

    output = Output(json)
    entries = citation(paper)
    output.give({"paper": paper, "bibtex": entries})
    output.say(entries)
    return 0


@guarded
def new_paper(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    into: Annotated[
        Path, typer.Option(metavar="DIR", help="The directory to write it into.")
    ] = Path(),
    json: Json = None,
) -> int:
    """Write a package for a paper of your own: settings, figures, claims and tests.

    Once installed, it is listed, verified, reproduced and swept like the others.
    """
    from attnflow.cli.scaffold import write_paper

    output = Output(json)
    files = write_paper(name, into)
    output.give({"paper": name, "files": files})
    for file in files:
        output.say(str(file))
    output.say(f"\nNext:\n  pip install -e '{into / name}[test]'")
    output.say(f"  pytest {into / name}\n  attnflow verify {name}")
    output.say(f"Then change what is in {into / name}; its README says where.")
    return 0
