"""Conditions of a paper as data: at every setting of the knobs, what is met and not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import xarray as xr

from attnflow.browser.symbols import Log, is_symbol, number, symbols_pass
from attnflow.claims.scope import departures
from attnflow.papers.base import Paper
from attnflow.schema.conditions import Condition
from attnflow.schema.settings import canonical_json, plain

Json = dict[str, Any]
Put = Callable[..., None]


def conditions_of(
    paper: Paper, id: str, setting: Any, names: Sequence[str], put: Put
) -> tuple[list[Json], Json]:
    """The items of the paper's conditions, and numbers at which alone they are known.

    Their values and bounds become outputs of the set-up's module by `put`, where they
    depend on numbers.
    """
    items, fixed = _items(paper, setting, names, put)
    text = canonical_json(asdict(setting))
    run = xr.Dataset(attrs={"experiment": id, "setting": text})
    items = [*items, *departures(run, paper)]
    outputs = 0

    def data(value: Any) -> Json | None:
        nonlocal outputs
        if is_symbol(value):
            put(f"condition {outputs}", value, part="condition", n=outputs)
            outputs += 1
            return {"output": outputs - 1}
        if math.isinf(value):
            return {"infinite": 1 if value > 0 else -1}
        return None if math.isnan(value) else {"value": float(value)}

    return [
        {
            "name": item.name,
            "what": item.what,
            "strict": item.strict,
            "reading": item.reading,
            "value": data(item.value),
            "least": data(item.least),
            "most": data(item.most),
        }
        for item in items
    ], fixed


def _items(
    paper: Paper, setting: Any, names: Sequence[str], put: Put
) -> tuple[list[Condition], Json]:
    if paper.conditions is None:
        return [], {}
    fields = plain(asdict(setting))
    log = Log()
    values = {name: number(name, getattr(setting, name), log) for name in names}
    try:
        with symbols_pass():
            items = list(paper.conditions({**fields, **values}))
    except Exception:
        # Conditions that cannot be traced are shown for the page's initial setting
        # only.
        fixed = {name: getattr(setting, name) for name in names}
        return list(paper.conditions(fields)), fixed
    for n, guard in enumerate(log.guards):
        place = {"part": "conditionGuard", "answer": guard.answer}
        put(f"condition guard {n}", guard.symbol, **place)
    return items, {n: getattr(setting, n) for n in log.leaked}
