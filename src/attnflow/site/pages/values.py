"""Values of an exhibit: as JSON, text and tables, and beside the paper's numbers."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnflow.schema.settings import plain

Keys = tuple[str, ...]

JOIN = " · "
"""Between the names that lead to a number."""


Plain = float | str | list["Plain"] | dict[str, "Plain"] | None
"""What JSON can hold."""


def leaves(table: Plain, path: Keys = ()) -> Iterator[tuple[Keys, Plain]]:
    """The entries of a nested table, each with the names that lead to it."""
    if not isinstance(table, Mapping):
        yield path, table
        return
    for name, part in table.items():
        yield from leaves(part, (*path, str(name)))


@dataclass(frozen=True)
class Compared:
    """A printed number, ours, and how far they are apart.

    `deviation` is |ours − printed| / |printed| (of a list, the largest; where zero is
    printed, |ours|), or over a standard deviation; `None` where there is nothing of
    ours to compare. `differs` is the recorded reason why they do not agree; empty where
    they should.
    """

    name: str
    printed: Plain
    ours: Plain
    deviation: float | None
    agrees: bool
    differs: str = ""


def compare(
    values: Mapping[str, object],
    printed: Mapping[str, object],
    tolerance: float,
    deviations: Mapping[str, object] | None = None,
) -> tuple[Compared, ...]:
    """Every printed number with ours of the same name, at a relative tolerance.

    With `deviations`, by the names of `printed`, the tolerance is in units of these.
    """
    entries, units = (dict(leaves(plain(t or {}))) for t in (values, deviations))
    rows = []
    for path, theirs in leaves(plain(printed)):
        ours = entries.get(path)
        deviation = _deviation(theirs, ours, units.get(path))
        agrees = deviation is not None and deviation <= tolerance
        rows.append(Compared(JOIN.join(path), theirs, ours, deviation, agrees))
    return tuple(rows)


def _deviation(printed: Any, ours: Any, unit: Any = None) -> float | None:
    if isinstance(printed, str) or isinstance(ours, str):
        return 0.0 if printed == ours else None
    if ours is None or np.shape(printed) != np.shape(ours):
        return None
    x, y = np.asarray(printed, float), np.asarray(ours, float)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return None
    scale = np.where(x == 0, 1.0, np.abs(x)) if unit is None else unit
    return float(np.max(np.abs(y - x) / scale, initial=0.0))


@dataclass(frozen=True)
class Table:
    """Column names, and rows that begin with the row's name."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Plain, ...], ...]


def tabulate(values: Mapping[str, object]) -> Table:
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


def _list(table: dict[str, Plain]) -> Table:
    rows = [(JOIN.join(path), value) for path, value in leaves(table) if path]
    return Table(("", "value"), tuple(rows))


def as_csv(table: Table) -> str:
    """The table as comma-separated text with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOTHING = "–"


def number_text(value: object, digits: int = 4) -> str:
    """A value as text: `0.125`, `3.1×10⁻⁵`, `20 000`, `yes`, `1.2, 3.4`, `a: 1; b: 2`.

    Numbers keep `digits` significant digits and a proper minus.
    """
    value = value if isinstance(value, float) else plain(value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: NOTHING}[value]
    if isinstance(value, int | float):
        return _number(value, digits)
    if isinstance(value, dict):
        parts = [f"{name}: {number_text(v, digits)}" for name, v in value.items()]
        return "; ".join(parts) or NOTHING
    if isinstance(value, list):
        return ", ".join(number_text(part, digits) for part in value) or NOTHING
    return str(value)


def _number(value: float, digits: int) -> str:
    size = abs(value)
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else _signed("-∞" if value < 0 else "∞")
    if isinstance(value, int) and size < 1e15:
        return _signed(f"{value:,}".replace(",", "\u202f") if size >= 1e4 else value)
    if size != 0 and not 1e-3 <= size < 1e6:
        factor, _, exponent = f"{value:.{digits - 1}e}".partition("e")
        factor = factor.rstrip("0").rstrip(".") if "." in factor else factor
        return _signed(f"{factor}×10") + str(int(exponent)).translate(_SUPERSCRIPTS)
    rounded = float(f"{value:.{digits}g}") if size < 1e4 else round(value)
    return _signed(f"{rounded:g}" if size < 1e4 else f"{rounded:.0f}")


def _signed(text: object) -> str:
    return str(text).replace("-", "−")


def seconds_text(seconds: float | None) -> str:
    """A duration: `0.4 s`, `12 s`, `3 min`, `1.5 h`."""
    if seconds is None:
        return NOTHING
    if seconds < 0.095:
        return "< 0.1 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5940 else f"{seconds / 3600:.1f} h"


def sort_key(value: object) -> str:
    """The text by which a column is sorted; an empty one goes last."""
    return "" if value is None else str(value)
