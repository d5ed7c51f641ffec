"""`attnflow diff`: two claims tables side by side."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli import text
from attnflow.cli.guard import OTHERWISE, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.tables import Table

if TYPE_CHECKING:
    from attnflow.claims import Row
    from attnflow.claims.table import Change


@guarded
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD.json")],
    new: Annotated[Path, typer.Argument(metavar="NEW.json")],
    json: Json = None,
) -> int:
    """Compare two claims tables that `attnflow verify --json FILE` wrote.

    The exit code is 1 where a claim was decided in both, and not alike.
    """
    from attnflow.claims.table import Kind, compare, read_table

    output = Output(json)
    before, after = read_table(old), read_table(new)
    changes = compare(before, after)
    same = len(before) - sum(change.old is not None for change in changes)
    output.give({"changes": [c.as_json() for c in changes], "same": same})
    output.show(changes_table(changes))
    kinds = Counter(str(change.kind) for change in changes)
    told = "; ".join(f"{kind}: {count}" for kind, count in kinds.items())
    output.say(f"Alike in both: {same}. {told}".rstrip())
    return OTHERWISE if any(c.kind is Kind.OPPOSITE for c in changes) else 0


def changes_table(changes: "list[Change]") -> Table:
    """Claims that differ, old beside new."""
    rows = [
        (c.row.id, str(c.kind), _in_short(c.old), _in_short(c.new), c.row.statement)
        for c in changes
    ]
    return Table(("claim", "differs", "old", "new", "statement"), rows)


def _in_short(row: "Row | None") -> str:
    """`holds (theorem) 5/5, margin 0.93`."""
    if row is None:
        return text.ABSENT
    held = f"{row.held}/{row.seeds}, margin {text.number(row.margin)}"
    return f"{row.verdict} ({row.scope}) {held}"
