"""Numbers, settings and tables as text for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnflow.schema.settings import typed

if TYPE_CHECKING:
    from rich.console import Console

ABSENT = "–"


def number(value: object) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return ABSENT
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def spread(values: object) -> str:
    """A number, or the mean of several with their range."""
    if not isinstance(values, list):
        return number(values)
    known = [float(v) for v in values if v is not None and not math.isnan(v)]
    if not known:
        return ABSENT
    mean = number(sum(known) / len(known))
    return f"{mean} ({number(min(known))} … {number(max(known))})"


def seconds(value: float) -> str:
    """A duration with its unit."""
    if value >= 90:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def settings(values: Mapping[str, object]) -> str:
    """Settings as one would type them."""
    return " ".join(typed(values))


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
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console()
    columns = list(zip(table.columns, *table.rows, strict=True))
    needed = sum(max(map(len, column)) + 3 for column in columns[:-1])
    if needed + _READABLE > console.width:
        _draw_below(table, console)
        return
    rich = RichTable(box=box.SIMPLE_HEAD)
    for k, column in enumerate(table.columns):
        rich.add_column(column, no_wrap=k < len(columns) - 1)
    for row in table.rows:
        rich.add_row(*map(Text, row))
    console.print(rich)


def _draw_below(table: Table, console: "Console") -> None:
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
