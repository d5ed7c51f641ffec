"""Nested values as a table of rows and columns."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnflow.site.pages.plain import JOIN, leaves, plain


@dataclass(frozen=True)
class Table:
    """Column names, and rows that begin with the row's name."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def tabulate(values: Mapping[str, Any]) -> Table:
    """The values as a table.

    Where every entry is a table itself, and few names would leave gaps, outer names are
    rows and inner names columns; else there is a row for each number, with all names
    that lead to it.
    """
    table = plain(values)
    if not table or not all(isinstance(part, dict) for part in table.values()):
        return _list(table)
    parts = {
        row: {JOIN.join(path): value for path, value in leaves(cells)}
        for row, cells in table.items()
    }
    columns = dict.fromkeys(column for cells in parts.values() for column in cells)
    filled = sum(map(len, parts.values()))
    if 2 * filled < len(parts) * len(columns):
        return _list(table)
    rows = [
        (row, *(cells.get(column) for column in columns))
        for row, cells in parts.items()
    ]
    return Table(("", *columns), tuple(rows))


def _list(table: Mapping[str, Any]) -> Table:
    rows = [(JOIN.join(path), value) for path, value in leaves(table) if path]
    return Table(("", "value"), tuple(rows))


def as_csv(table: Table) -> str:
    """The table as comma-separated text with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()
