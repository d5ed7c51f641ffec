"""What led to a verdict as tables: one CSV file each, whole and exact."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from attnflow.claims import (
    All,
    Estimate,
    Evidence,
    Exact,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Rule,
    Slope,
)
from attnflow.claims.base import Judge
from attnflow.claims.decision import decide_check
from attnflow.claims.judgement import corrected_rule_of, rule_of
from attnflow.claims.judges.seeds import AbstractComparison, InOrder, Near
from attnflow.claims.table import as_stated
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import canonical_json, plain
from attnflow.site.explain import Explanation
from attnflow.site.explain.explanation import AS_CORRECTED

MOST, TOTAL = 20_000, 200_000
"""Numbers of a variable, and of all that a claim reads, that are written as text.

Beyond, records are left out: a claim's folder stays below some megabytes.
"""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV; numbers have all their digits, what is not known is empty."""
    return _written(columns, ([_cell(value) for value in row] for row in rows))


def _written(columns: Sequence[str], cells: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(cells)
    return text.getvalue()


def _cell(value: object) -> object:
    # Most cells are these, and there are a million of them in a paper's claims.
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is str or type(value) is int:
        return value
    value = plain(value)
    return canonical_json(value) if isinstance(value, list | dict) else value


def checks_of(explanation: Explanation) -> list[tuple[str, Measurement, Rule]]:
    """The checks of both statements, each with the statement and its rule."""
    claim = explanation.claim
    rule = rule_of(claim)
    printed = as_stated(claim.origin)
    checks = [(printed, check, rule) for check in explanation.printed.finding.checks]
    if explanation.corrected is not None:
        rule = corrected_rule_of(claim)
        found = explanation.corrected.finding.checks
        checks += [(AS_CORRECTED, check, rule) for check in found]
    return checks


CHECKS = (
    *("statement", "check", "rule", "kind", "verdict", "margin", "unit", "result"),
    "numbers",
)
_UNITS = {
    "ratio": "distance to the bound ÷ bound",
    "difference": "distance to the bound",
    "log": "ln of the ratio to the bound",
}
_OWN = "the judge's own: see its code"


def unit_of(check: Measurement, judge: Judge) -> str:
    """The unit of a check's margin, in words."""
    if isinstance(check, Exact):
        return "1 − error ÷ tolerance"
    if isinstance(check, Ladder):
        return "share of the band of the slope, or of the logarithm of the constant"
    if isinstance(check, Slope | Estimate):
        return "1 − distance to the stated number ÷ tolerance"
    if isinstance(check, HighProbability):
        return "1 − bound on the rate of failures ÷ δ"
    if isinstance(check, LargeEnough):
        return "decades above the smallest size that has it"
    parts = judge.parts if isinstance(judge, All) else (judge,)
    what = getattr(check, "what", "")
    for part in parts:
        if isinstance(part, Near) and what.endswith(part.what):
            return f"1 − ({_UNITS[part.unit]}) ÷ {part.within:g}"
        if isinstance(part, AbstractComparison) and what.endswith(part.what):
            return _UNITS[part.unit]
        if isinstance(part, InOrder) and " < " in what:
            return "ln of a time over the one before it"
    return _OWN


def check_rows(explanation: Explanation) -> list[tuple[Any, ...]]:
    """Each check with its verdict, its margin and every number that it compares."""
    claim, rows = explanation.claim, []
    for statement, check, rule in checks_of(explanation):
        decision = decide_check(check, rule)
        numbers = asdict(check)
        what = numbers.pop("what", "")
        correction = claim.correction if statement == AS_CORRECTED else None
        unit = unit_of(check, correction.judge if correction else claim.judge)
        names = (statement, what, type(check).__name__, rule.kind)
        found = (decision.verdict, decision.margin, unit, decision.note)
        rows.append((*names, *found, numbers))
    return rows


SEEDS = ("check", "seed", "held", "margin")


def seed_rows(explanation: Explanation) -> list[tuple[Any, ...]]:
    """Each check over seeds, seed by seed."""
    return [
        (check, result["seed"], result["held"], result["margin"])
        for check, results in explanation.seeds.items()
        for result in results
    ]


POINTS = ("statement", "check", "x", "value of x", "y", "value of y")


def point_rows(explanation: Explanation) -> list[tuple[Any, ...]]:
    """Each point of a ladder of sizes, of a fitted line, or of draws at a size."""
    return [
        (statement, getattr(check, "what", ""), names[0], x, names[1], y)
        for statement, check, _ in checks_of(explanation)
        for names, points in [_points(check)]
        for x, y in points
    ]


def _points(check: Measurement) -> tuple[tuple[str, str], Iterable[tuple[Any, Any]]]:
    if isinstance(check, Ladder):
        points = zip(check.size, check.ratio, strict=True)
        return (check.axis, "measured ÷ predicted"), points
    if isinstance(check, Slope):
        return check.axes, zip(check.x, check.y, strict=True)
    if isinstance(check, LargeEnough):
        return (check.axis, "holds"), zip(check.size, check.held, strict=True)
    if isinstance(check, HighProbability):
        points = zip(check.draws, check.failures, strict=True)
        return ("draws", "failures"), points
    return ("", ""), ()


CONDITIONS = (
    *("run", "item", "condition", "value", "least", "most"),
    *("strict", "met", "slack", "reading"),
)


def condition_rows(explanation: Explanation) -> list[tuple[Any, ...]]:
    """Each item of the assumed conditions in each judged run."""
    return [
        (
            *(run, item.name, item.what, item.value, item.least, item.most),
            *(item.strict, item.met, item.slack, item.reading),
        )
        for run, items in explanation.items.items()
        for item in items.values()
    ]


TRIALS = ("statement", "trial", "change", "verdict")


def trial_rows(explanation: Explanation) -> list[tuple[str, ...]]:
    """Each change of the runs that was tried, and the verdict under it."""
    tried = explanation.tried
    groups = {
        "generated change": tried.generated,
        "later times unknown": tried.unknown,
        "named mutation": tried.mutations,
    }
    rows = [
        (tried.statement, kind, change, verdict)
        for kind, verdicts in groups.items()
        for change, verdict in verdicts.items()
    ]
    printed = as_stated(explanation.claim.origin)
    mends = [(printed, "mend", *entry) for entry in tried.mends.items()]
    return [*rows, *mends]


def read_variables(
    explanation: Explanation, evidence: Evidence
) -> dict[tuple[str, str], xr.DataArray]:
    """By run and name, the variables that the judges read."""
    readings = (explanation.printed, explanation.corrected)
    pairs = [pair for reading in readings if reading for pair in reading.reads]
    return {(run, name): evidence[run][name] for run, name in dict.fromkeys(pairs)}


def thinned(values: xr.DataArray, variables: int = 1) -> tuple[xr.DataArray, str]:
    """At most about `MOST` numbers, and in words which are left out.

    Of so many variables each has its part of `TOTAL`.

    Each k-th record and the last one; where one record has more numbers than that,
    each k-th entry along its longest dim too.
    """
    words = []
    limit = min(MOST, TOTAL // variables)
    most = 1.1 * limit  # since the last record is kept too
    for dim in sorted(values.dims, key=lambda d: (d != TIME, -values.sizes[d])):
        count = values.sizes[dim]
        every = min(math.ceil(values.size / limit), count)
        if values.size > most and every > 1:
            places = np.unique([*range(0, count, every), count - 1])
            values = values.isel({dim: places})
            words.append(f"one in {every} along {dim}")
    return values, ", ".join(words)


def extremes(runs: Mapping[str, xr.DataArray]) -> tuple[str, str]:
    """The least and the largest number of a variable over runs, each with its place.

    So a reader sees where a bound is violated, or nearly so.
    """
    numbers = {
        name: values.where(np.isfinite(values))
        for name, values in runs.items()
        if values.dtype.kind in "fiu" and np.isfinite(values).any()
    }
    if not numbers:
        return "", ""
    least = min(numbers, key=lambda name: float(numbers[name].min()))
    largest = max(numbers, key=lambda name: float(numbers[name].max()))
    many = len(runs) > 1
    return (
        _place(numbers[least], np.nanargmin, least if many else ""),
        _place(numbers[largest], np.nanargmax, largest if many else ""),
    )


def _place(
    values: xr.DataArray, choose: Callable[[np.ndarray], np.intp], run: str
) -> str:
    place = np.unravel_index(choose(values.values), values.shape)
    labels = [
        f"{dim} {_number(_labels(values, str(dim))[int(k)])}"
        for dim, k in zip(values.dims, place, strict=True)
    ]
    where = "; ".join([*([run] if run else []), *labels])
    number = f"{float(values.values[place]):.6g}"
    return f"{number} at {where}" if where else number


def _number(label: object) -> str:
    return f"{label:.6g}" if isinstance(label, float) else str(label)


def variable_csv(values: xr.DataArray) -> str:
    """A variable with a line for each of its numbers, by the labels of its dims."""
    names = [str(dim) for dim in values.dims]
    labels = [[_cell(label) for label in _labels(values, name)] for name in names]
    numbers = map(_cell, values.values.ravel().tolist())
    # A product has the order of an array's entries: the last dim moves first.
    rows = ((*place, n) for place, n in zip(product(*labels), numbers, strict=True))
    return _written((*names, str(values.name)), rows)


def _labels(values: xr.DataArray, dim: str) -> Sequence[object]:
    if dim in values.coords:
        return values[dim].values.tolist()
    return range(values.sizes[dim])


def number_rows(numbers: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """The numbers that a judge prints, nested ones by their joined names."""
    rows: list[tuple[str, Any]] = []
    for name, value in numbers.items():
        whole = f"{path} · {name}" if path else str(name)
        nested = isinstance(value, Mapping)
        rows += number_rows(value, whole) if nested else [(whole, value)]
    return rows
