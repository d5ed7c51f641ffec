"""Tables of numbers as plain values: what JSON, CSV and HTML can hold."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

Path = tuple[str, ...]

JOIN = " · "
"""Between the names that lead to a number."""


def plain(value: Any) -> Any:
    """The value with builtin types alone; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray | np.generic | xr.DataArray):
        return plain(np.asarray(value).tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def leaves(table: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """What a nested table holds at its ends, with the names that lead there."""
    if not isinstance(table, Mapping):
        yield path, table
        return
    for name, part in table.items():
        yield from leaves(part, (*path, str(name)))


def at(table: Any, path: Path) -> Any:
    """What a nested table holds at the end of a path; `None` where there is nothing."""
    for name in path:
        if not isinstance(table, Mapping) or name not in table:
            return None
        table = table[name]
    return table
