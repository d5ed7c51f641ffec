"""`attnflow runs`: the stored runs."""

from typing import Annotated, Any

import typer

from attnflow.cli import text
from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.tables import Table


@guarded
def runs(
    paper: Annotated[str | None, typer.Option(help="Only this paper's.")] = None,
    json: Json = None,
) -> int:
    """List the stored runs, newest first."""
    from attnflow import papers
    from attnflow.runs.store import Store

    output = Output(json)
    store = Store()
    slug = papers.paper(paper).slug if paper else None
    found = [s for s in store.list() if slug in (None, s["paper"])]
    output.give({"runs": found})
    output.say(f"{len(found)} runs in {store.root}\n")
    columns = ("run", "experiment", "form", "outcome", "seeds", "time", "setting")
    output.show(Table(columns, [_row(summary) for summary in found]))
    return 0


def _row(summary: dict[str, Any]) -> tuple[str, ...]:
    return (
        summary["id"],
        f"{summary['paper']}/{summary['experiment']}",
        summary["form"],
        summary["outcome"],
        str(len(summary["seeds"])),
        text.seconds(summary["seconds"]),
        text.settings(summary["setting"]),
    )
