"""The conditions of theorems as numbers, as a table of the runs of a claim."""

import math
from collections.abc import Iterable, Mapping, Sequence

from attnflow.cli.tables import Table
from attnflow.schema.conditions import Condition

COLUMNS = ("item", "condition", "value", "allowed", "met", "runs")


def condition_table(conditions: Mapping[str, Sequence[Condition]]) -> Table:
    """By item, one row for the runs that meet it and one for those that do not."""
    found: dict[str, dict[bool, dict[str, Condition]]] = {}
    for run, items in conditions.items():
        for item in items:
            by_met = found.setdefault(item.name, {True: {}, False: {}})
            by_met[item.met][run] = item
    groups = [of for by_met in found.values() for of in by_met.values() if of]
    return Table(COLUMNS, [_row(of, len(conditions)) for of in groups])


def _row(items: Mapping[str, Condition], runs: int) -> tuple[str, ...]:
    every = list(items.values())
    one = every[0]
    return (
        one.name,
        one.what,
        _span(item.value for item in every),
        _allowed(every),
        "yes" if one.met else "no",
        "all" if len(items) == runs else f"{len(items)} of {runs}: {'; '.join(items)}",
    )


def _allowed(items: Sequence[Condition]) -> str:
    """`≥ 64`, `< 0.5`, `1`, `0.1 … 10`: bounds, which may differ from run to run."""
    least, most = (
        _span(getattr(item, name) for item in items) for name in ("least", "most")
    )
    if all(item.least == item.most for item in items):
        return least
    strict = items[0].strict
    sides = []
    if any(item.least > -math.inf for item in items):
        sides.append(f"{'>' if strict else '≥'} {least}")
    if any(item.most < math.inf for item in items):
        sides.append(f"{'<' if strict else '≤'} {most}")
    return ", ".join(sides)


def _span(numbers: Iterable[float]) -> str:
    """A number, or the least and the largest of several."""
    told = list(dict.fromkeys(_short(number) for number in sorted(numbers)))
    return told[0] if len(told) == 1 else f"{told[0]} … {told[-1]}"


def _short(number: float) -> str:
    return "∞" if number == math.inf else f"{number:.3g}"
