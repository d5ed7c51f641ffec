"""Claims of a paper that speak of an experiment: recorded verdicts, and live parts.

A part of a claim's predicate is live where it compares what a run records: an order of
stages, or a measure of each record with a bound. A page computes it for its own run and
says what it has compared; the recorded verdict stays that of the claim's own runs.
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import xarray as xr

from attnflow.browser.explorer.statistics import Statistics
from attnflow.claims.judges import All, AtLeast, AtMost, Equal, InOrder, Near
from attnflow.claims.judges.base import as_table
from attnflow.claims.judges.seeds import AbstractComparison
from attnflow.claims.stages import Stage
from attnflow.papers.base import Paper
from attnflow.schema.dims import SEED, TIME

Json = dict[str, Any]
Series = Callable[[xr.Dataset], xr.DataArray]


def claims_of(paper: Paper, id: str, live: Json) -> list[Json]:
    """The claims that need a run of this experiment; `live` are their live parts."""
    return [_claim(claim, live.get(claim.id)) for claim in _of(paper, id)]


def _of(paper: Paper, id: str) -> list[Any]:
    return [
        claim
        for claim in paper.claims
        if any(request.experiment == id for request in claim.needs.values())
    ]


def _claim(claim: Any, live: Json | None) -> Json:
    correction = claim.correction
    return {
        "id": claim.id,
        "place": claim.place,
        "statement": claim.statement,
        "kind": str(claim.kind),
        "origin": claim.origin,
        "verdict": str(claim.expected),
        "reading": str(claim.expected),
        "scope": None,
        "corrected": None
        if correction is None
        else {
            "kind": str(correction.kind),
            "statement": correction.statement,
            "verdict": str(correction.expected),
        },
        "under": list(claim.under),
        "live": live is not None,
        "map": None,
    }


def live_parts(paper: Paper, id: str, statistics: Statistics) -> dict[str, Json]:
    """By claim, those parts of its predicate that a page can compute."""
    live = {}
    for claim in _of(paper, id):
        judge = claim.judge
        parts = judge.parts if isinstance(judge, All) else (judge,)
        names = [n for n, r in claim.needs.items() if r.experiment == id]
        made = [_part(part, names, statistics) for part in parts]
        known = [part for part in made if part is not None]
        if known:
            live[claim.id] = {"parts": known, "of": len(parts)}
    return live


def _part(part: Any, names: Sequence[str], statistics: Statistics) -> Json | None:
    """A part of a predicate as data, if it is about one run of this experiment."""
    patterns = getattr(part, "of", ())
    if not any(fnmatchcase(n, p) for n in names for p in patterns) or part.together:
        return None
    if isinstance(part, InOrder):
        return _order(part, statistics)
    if isinstance(part, AtLeast | AtMost | Near):
        return _comparison(part, statistics)
    if isinstance(part, Equal) and part.when is None:
        return _identity(part, statistics)
    return None


def _order(order: InOrder, statistics: Statistics) -> Json | None:
    stages = {n: _detector(stage, statistics) for n, stage in order.stages.items()}
    if any(detector is None for detector in stages.values()):
        return None
    return {
        "kind": "order",
        "groups": [list(group) for group in order.groups],
        "never": list(order.never),
        "stages": stages,
    }


def _comparison(part: AbstractComparison, statistics: Statistics) -> Json | None:
    """A measure that is compared with a number at each record."""
    is_near = isinstance(part, Near)
    bound: Any = part.target if is_near else part.bound  # pyright: ignore[reportAttributeAccessIssue] # `AtLeast` and `AtMost` have one
    if part.when is not None or isinstance(bound, Mapping):
        return None
    sign = "=" if is_near else "≥" if isinstance(part, AtLeast) else "≤"

    def table(run: xr.Dataset) -> xr.DataArray:
        return as_table(part.measure(run), (run,))

    def margin(run: xr.Dataset) -> xr.DataArray:
        return _reduced(part.margins(table(run), "", (run,)), "min")

    def value(run: xr.Dataset) -> xr.DataArray:
        return _reduced(table(run), "max" if sign == "≤" else "min")

    def limit(run: xr.Dataset) -> xr.DataArray:
        how = "min" if sign == "≤" else "max"
        return _reduced(as_table(bound(run), (run,)), how)

    functions = (margin, value, limit) if callable(bound) else (margin, value)
    numbers = [statistics.add(function)[0] for function in functions]
    if None in numbers:
        return None
    return {
        "kind": "compare",
        "what": part.what,
        "margin": numbers[0],
        "value": numbers[1],
        "bound": {"series": numbers[2]} if callable(bound) else {"value": float(bound)},
        "within": part.within if is_near else None,
        "unit": part.unit,
        "sign": {"≥": ">", "≤": "<"}.get(sign, sign) if part.strict else sign,
        "strict": part.strict,
        "rounding": part.rounding,
    }


def _identity(part: Equal, statistics: Statistics) -> Json | None:
    """An error of each record, within a tolerance that is a number."""
    if callable(part.tolerance):
        return None

    def error(run: xr.Dataset) -> xr.DataArray:
        return _reduced(abs(as_table(part.error(run), (run,))), "max")

    number, _ = statistics.add(error)
    if number is None:
        return None
    return {
        "kind": "identity",
        "what": part.what,
        "value": number,
        "bound": float(part.tolerance),
    }


def _reduced(table: xr.DataArray, how: str) -> xr.DataArray:
    """The worst entry of each record; NaN where one is."""
    dims = [d for d in table.dims if d not in (SEED, TIME)]
    return getattr(table, how)(dims, skipna=False) if dims else table


def _detector(stage: Stage, statistics: Statistics) -> Json | None:
    how: Json = {
        "kind": stage.detector,
        "level": {"value": 0.0},
        "direction": stage.direction,
        "clock": stage.clock,
        "scale": stage.scale,
        "atEnd": stage.at_end,
    }
    if callable(stage.level):
        # A level that the setting decides is a series that does not change.
        how["levelSeries"], _ = statistics.add(lambda run: _constant(run, stage))
        if how["levelSeries"] is None:
            return None
    else:
        how["level"]["value"] = float(stage.level)
    if isinstance(stage.series, str):
        return {"selector": stage.series, **how}
    number, _ = statistics.add(stage.series)
    return None if number is None else {"series": number, **how}


def _constant(run: xr.Dataset, stage: Stage) -> xr.DataArray:
    zeros = xr.zeros_like(run["recorded"], float)
    return zeros + stage.level_of(run)
