"""The stage table of a run: the paper's own time beside the detected one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages.events import Event


@dataclass(frozen=True)
class StageRow:
    """A boundary between stages: its formula, and what was detected.

    **Arguments:**

    - `formula`: the paper's time for it, or `None` where it gives none.
    - `detected`: the median over seeds, or `None` where it was not reached.
    - `spread`: the earliest and the latest seed; `None` with fewer than two.
    """

    name: str
    formula: float | None
    detected: float | None
    spread: tuple[float, float] | None
    note: str


@dataclass(frozen=True)
class StageRule:
    """How a boundary between stages is found.

    **Arguments:**

    - `detector`: run → event, such as `lambda run: first_crossing(run, "loss", …)`.
    - `formula`: setting (a dictionary) → the paper's time, or `None` where the
      setting has none.
    - `meaning`: in words, with the levels that we chose.
    """

    name: str
    detector: Callable[[xr.Dataset], Event]
    formula: Callable[[Mapping[str, Any]], float | None] | None = None
    meaning: str = ""


def stage_table(run: xr.Dataset, rules: Iterable[StageRule]) -> list[StageRow]:
    """One row for each rule, with the formula at the run's own setting."""
    return [_row(run, rule) for rule in rules]


def _row(run: xr.Dataset, rule: StageRule) -> StageRow:
    event = rule.detector(run)
    formula = rule.formula(schema.setting_of(run)) if rule.formula else None
    if formula is not None and not np.isfinite(formula):
        formula = None
    return StageRow(rule.name, formula, event.median, event.spread, event.note)
