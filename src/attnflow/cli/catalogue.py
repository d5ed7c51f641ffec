"""`attnflow list`, `cite` and `new-paper`: papers as they are declared."""

import inspect
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import ABSENT, Json, Output, Table, guarded
from attnflow.schema.settings import typed_setting

if TYPE_CHECKING:
    from attnflow.papers.base import Paper
    from attnflow.schema.declarations import Exhibit, Recipe


@guarded
def list_all(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER[/EXPERIMENT]", help="mixture, say, or mixture/figure1."
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List everything in every paper.")
    ] = False,
    json: Json = None,
) -> int:
    """List the papers; with a paper, its experiments, figures and tables, and claims.

    With an experiment, list its settings: type, range, unit and default.
    `mix` lists the parts of mixed experiments. JSON always contains everything.
    """
    from attnflow.papers import select_papers
    from attnflow.runs.runner import find_experiment, find_source

    output = Output(json)
    if paper is not None and "/" in paper:
        found, id = find_experiment(paper)
        _show_experiment(output, found, found.recipe(id))
        return 0
    # Mixed experiments belong to no paper, and are listed only by name.
    mixed = [find_source("mix")] if paper == "mix" else None
    papers = mixed or [listed for listed, _ in select_papers(paper)]
    output.give(_content(papers))
    if paper is None and not every:
        _summarise(output, papers)
        return 0
    for listed in papers:
        _show(output, listed, settings=paper is not None)
    return 0


def _summarise(output: Output, papers: "list[Paper]") -> None:
    """A line for each paper, and what to type next."""
    columns = (
        "paper",
        "ids",
        "experiments",
        "figures, tables, maps",
        "claims",
        "title",
    )
    rows = [
        (
            paper.slug,
            f"{paper.letter}-…",
            str(len(paper.recipes)),
            str(len(paper.shown)),
            str(len(paper.claims)),
            paper.title,
        )
        for paper in papers
    ]
    output.show(Table(columns, rows))
    if not papers:
        return
    first = papers[0]
    output.say(f"attnflow list {first.slug}       all of one paper")
    output.say(f"attnflow run {first.slug}/{first.recipes[0].id}")
    output.say(f"attnflow reproduce {first.slug}/{first.headline}")
    output.say(f"attnflow verify {first.slug}/{first.headline_claims[0]} --explain")


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
        output.show(Table(("experiment", "settings"), _settings(paper)))
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


def _settings(paper: "Paper") -> list[tuple[str, str]]:
    """The settings of each experiment; where an earlier one has them, what differs."""
    rows: list[tuple[str, str]] = []
    first: dict[type, Recipe] = {}
    for recipe in paper.recipes:
        setting = asdict(recipe.setting)
        model = first.setdefault(type(recipe.setting), recipe)
        if model is not recipe:
            usual = asdict(model.setting)
            setting = {k: v for k, v in setting.items() if v != usual[k]}
        start = () if model is recipe else (f"as {model.id}:",)
        text = " ".join((*start, *typed_setting(setting)))
        rows.append((recipe.id, text if setting else f"as {model.id}"))
    return rows


def _show_experiment(output: Output, paper: "Paper", recipe: "Recipe") -> None:
    """The settings of an experiment: what they mean, and what each of them takes."""
    from attnflow.schema.field_table import field_table

    table = field_table({recipe.id: recipe.setting})
    about = {"paper": paper.slug, "id": recipe.id, "title": recipe.title}
    settings = [row.as_json() for row in table]
    output.give({"experiments": [{**about, "settings": settings}]})
    output.say(f"{paper.slug}/{recipe.id}: {recipe.title}")
    output.say(f"declared in {recipe.place}\n" if recipe.place else "")
    output.say(f"{inspect.getdoc(type(recipe.setting))}\n")
    rows = [(r.name, r.default, r.kind, r.unit or ABSENT, r.takes) for r in table]
    output.show(Table(("setting", "default", "kind", "unit", "takes"), rows))
    output.say("Another value of a number compiles nothing; one of a shape does.")


def _kind(exhibit: "Exhibit") -> str:
    return "map" if exhibit.sweeps else exhibit.kind


@guarded
def cite(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="mixture, say.")],
    json: Json = None,
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
    name: Annotated[str, typer.Argument(metavar="NAME", help="needle, say.")],
    into: Annotated[
        Path, typer.Option(metavar="DIR", help="Parent directory of the package.")
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
