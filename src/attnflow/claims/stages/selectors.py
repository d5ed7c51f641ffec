"""Selectors of series: `loss`, `loss_by_group[conflicting]`, `score[+,c1,v1]`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import xarray as xr

from attnflow.schema.dims import SEED, TIME
from attnflow.schema.names import look_up, unknown

_GRAMMAR = re.compile(r"\s*(\w+)\s*(?:\[([^\[\]]*)\])?\s*")
EVERY = ":"
Labels = Mapping[str, str | float]
"""Labels by dim, such as `{"group": "conflicting"}`."""
Series = str | xr.DataArray
"""A selector such as `score[+,c1,v1]`, or a series computed from a run's variables."""


@dataclass(frozen=True)
class Selector:
    """A parsed text: the name of a variable, and labels of its dims in order."""

    name: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}[{','.join(self.labels)}]" if self.labels else self.name


def parse_selector(text: str) -> Selector:
    """The name and the labels of a text such as `score[+,c1,v1]`.

    !!! example

        ```python
        parse_selector("score[+,c1,v1]")  # Selector("score", ("+", "c1", "v1"))
        ```
    """
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} selects no series: write a name, and labels in brackets if it "
            "has dims of its own, as in loss or score[+,c1,v1]."
        )
    name, inside = match[1], (match[2] or "").strip()
    labels = tuple(part.strip() for part in inside.split(",")) if inside else ()
    return Selector(name, labels)


def select(run: xr.Dataset, text: str, where: Labels | None = None) -> xr.DataArray:
    """The series of a run that a selector names.

    Labels stand in the order of the variable's dims after `seed` and `time`. A label
    `:` keeps its dim, and so do labels that are left out at the end; labels of
    numbered dims are numbers.

    **Arguments:**

    - `text`: such as `score[+,c1,v1]`, or `score[+,c1,:]` for all queries.
    - `where`: labels by dim, instead of or beside those in the text.

    **Returns:** dims `seed`, `time` (where the variable has them) and those kept.

    !!! example

        ```python
        select(run, "loss_by_group[conflicting]")  # dims (seed, time)
        select(run, "loss_by_group", {"group": "conflicting"})  # the same
        ```
    """
    selector = parse_selector(text)
    names = {str(name): name for name in run.data_vars}
    variable = run[look_up("variable of this run", selector.name, names)]
    dims = [str(d) for d in variable.dims if d not in (SEED, TIME)]
    if len(selector.labels) > len(dims):
        allowed = f"the dims ({', '.join(dims)})" if dims else "no dims of its own"
        raise ValueError(
            f"{text!r} gives {len(selector.labels)} labels, but {selector.name} has "
            f"{allowed}: give one label for each, in that order."
        )
    pairs = zip(dims, selector.labels, strict=False)
    labels: dict[str, str | float] = {d: label for d, label in pairs if label != EVERY}
    for dim, label in (where or {}).items():
        if dim not in dims:
            raise unknown(f"dim of {selector.name}", dim, dims)
        labels[dim] = label
    return variable.isel({dim: _index(variable, dim, labels[dim]) for dim in labels})


def recorded_series(
    run: xr.Dataset, series: Series, where: Labels | None, *, entries: bool
) -> xr.DataArray:
    """A series with dims (seed, time), and its own behind them with `entries`."""
    array = select(run, series, where) if isinstance(series, str) else series
    name = series if isinstance(series, str) else array.name
    if not {SEED, TIME} <= set(array.dims):
        raise ValueError(
            f"{name} has the dims {array.dims}: an event needs a recorded series, with "
            "seed and time."
        )
    dims = [str(d) for d in array.dims if d not in (SEED, TIME)]
    if dims and not entries:
        raise ValueError(
            f"{name} still has the dims {dims}: select one entry, as in "
            "score[+,c1,v1], reduce them, or use first_all."
        )
    return array.transpose(SEED, TIME, *dims)


def quantile(series: xr.DataArray, q: float, dim: str) -> xr.DataArray:
    """The `q`-quantile over a dim: 0.5 is the median, 0 the least, 1 the largest."""
    if dim not in series.dims:
        raise unknown(f"dim of {series.name}", dim, map(str, series.dims))
    return series.quantile(q, dim=dim, skipna=False).drop_vars("quantile")


def _index(variable: xr.DataArray, dim: str, label: str | float) -> int:
    """The position of a label along a dim, whatever the labels' type is."""
    if dim in variable.coords:
        known = [str(value) for value in variable.coords[dim].values.tolist()]
    else:
        known = [str(i) for i in range(variable.sizes[dim])]
    if str(label) in known:
        return known.index(str(label))
    for index, name in enumerate(known):
        if _same_number(name, str(label)):
            return index
    shown = [*known[:20], "…", *known[-3:]] if len(known) > 40 else known
    raise unknown(dim, str(label), shown)


def _same_number(text: str, other: str) -> bool:
    try:
        return float(text) == float(other)
    except ValueError:
        return False
