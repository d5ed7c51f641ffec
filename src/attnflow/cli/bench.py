"""`attnflow bench`: reduced form, plain weights and PyTorch side by side."""

from importlib.util import find_spec
from typing import Annotated, Any

import typer

from attnflow.cli import text
from attnflow.cli.guard import complain, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.progress import shown_progress
from attnflow.cli.tables import Table


@guarded
def bench(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]")] = None,
    json: Json = None,
) -> int:
    """Time the reduced forms against plain weights and against PyTorch."""
    from attnflow import papers
    from attnflow.cli import benchmarks

    output = Output(json)
    slug = papers.paper(paper).slug if paper else None
    if find_spec("torch") is None:
        complain(
            "Warning: PyTorch is not installed, so its column stays empty. "
            "Install it with: pip install 'attnflow[torch]'"
        )
    cases = [c for c in benchmarks.cases() if slug in (None, c.paper)]
    rows, failed = [], []
    with shown_progress() as bar:
        for k, case in enumerate(cases):
            bar.begin(f"{case.id} ({k + 1} of {len(cases)})")
            # Minutes of other cases must not be lost by one that fails.
            try:
                rows.append(benchmarks.run_case(case, bar))
            except RuntimeError as problem:
                failed.append(str(problem))
    output.give({"cases": rows})
    output.show(_table(rows))
    for message in failed:
        complain(message)
    return 1 if failed else 0


def _table(rows: list[dict[str, Any]]) -> Table:
    columns = (
        "case",
        "size",
        "ours",
        "weights",
        "torch",
        "ratio",
        "spread",
        "agreement",
        "memory",
    )
    cells = [
        (f"{row['paper']}/{row['id']}", *(_cell(row[name]) for name in columns[1:]))
        for row in rows
    ]
    return Table(columns, cells)


def _cell(value: Any) -> str:
    return text.settings(value) if isinstance(value, dict) else text.number(value)
