"""The items of conditions that a statement assumes, as rows of a table."""

import math
from collections.abc import Iterable, Mapping, Sequence

from attnflow.schema.conditions import Condition

ABSENT = "–"
COLUMNS = ("item", "condition", "value", "allowed", "met", "slack", "runs")
_MET = {True: "yes", False: "no", None: "not read"}


def condition_rows(
    items: Mapping[str, Mapping[str, Condition]],
) -> list[tuple[str, ...]]:
    """By item, one row for the runs that meet it and one for those that do not."""
    groups: dict[tuple[str, bool | None], dict[str, Condition]] = {}
    for run, conditions in items.items():
        for name, item in conditions.items():
            groups.setdefault((name, item.met), {})[run] = item
    order = list(dict.fromkeys(name for name, _ in groups))
    ranked = sorted(groups, key=lambda key: (order.index(key[0]), key[1] is not True))
    return [_condition_row(groups[key], len(items)) for key in ranked]


def _condition_row(items: Mapping[str, Condition], runs: int) -> tuple[str, ...]:
    conditions = list(items.values())
    first = conditions[0]
    reading = f" [{first.reading}]" if first.reading else ""
    factors = [item.slack for item in conditions if item.slack is not None]
    unread = first.met is None
    return (
        first.name,
        f"{first.what}{reading}",
        ABSENT if unread else _span(item.value for item in conditions),
        ABSENT if unread else _allowed(conditions),
        _MET[first.met],
        _span(factors) if factors else ABSENT,
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
    return ", ".join(sides) or "any"


def _span(numbers: Iterable[float]) -> str:
    """A number, or the least and the largest of several."""
    texts = ["∞" if n == math.inf else f"{n:.3g}" for n in sorted(numbers)]
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} … {texts[-1]}"
