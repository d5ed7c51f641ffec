"""Tables of texts: drawn on a terminal, aligned lines in a pipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_READABLE = 24
"""Characters that a column of sentences needs at least."""


@dataclass(frozen=True)
class Table:
    """Rows of texts under columns; the last column may be long."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def plain_lines(table: Table) -> list[str]:
    """A table as aligned lines of text, none of them wrapped."""
    rows = [list(table.columns), *[list(row) for row in table.rows]]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return [*lines, ""]


def draw(table: Table) -> None:
    """Draw a table on the terminal, as wide as that is."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    console = Console()
    columns = list(zip(table.columns, *table.rows, strict=True))
    needed = sum(max(map(len, column)) + 3 for column in columns[:-1])
    if needed + _READABLE > console.width:
        _draw_below(table, console)
        return
    drawn = Drawn(box=box.SIMPLE_HEAD)
    for k, column in enumerate(table.columns):
        drawn.add_column(column, no_wrap=k < len(columns) - 1)
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    console.print(drawn)


def _draw_below(table: Table, console: Any) -> None:
    """On a narrow terminal, each row's long last column comes below the others."""
    from rich.padding import Padding
    from rich.text import Text

    short = Table(table.columns[:-1], [row[:-1] for row in table.rows])
    header, *lines, _ = plain_lines(short)
    console.print(Text(header, style="bold"))
    for line, row in zip(lines, table.rows, strict=True):
        console.print(Text(line))
        console.print(Padding(Text(row[-1], style="dim"), (0, 0, 0, 4)))
    console.print()
