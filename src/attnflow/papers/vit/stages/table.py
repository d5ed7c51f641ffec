"""The table of stages, each with its formula and its caveats in words."""

from collections.abc import Callable
from typing import NamedTuple

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Event, StageRow
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import events, formulas, series
from attnflow.papers.vit.stages.formulas import Time
from attnflow.schema.dims import TIME

FORMULAS = {"benign": formulas.benign, "harmful": formulas.harmful}
WINNERS = {"benign": "the signal", "harmful": "the strong noise"}


class _Stage(NamedTuple):
    """One row: what it looks at, what it means, and how it is found."""

    name: str
    needs: str
    meaning: str
    detector: Callable[[xr.Dataset, series.Regime], Event]


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stages of a run in the regime that it ended in; none without attention."""
    if TIME not in run.dims or "attention" not in run:
        return []
    return stage_rows(run, series.regime_of(run))


def stage_rows(run: xr.Dataset, regime: series.Regime) -> list[StageRow]:
    """The stages of a run, told as those of one regime."""
    size = sizes(schema.setting_of(run))
    known = FORMULAS[regime](size)
    return [_row(run, regime, stage, known) for stage in _STAGES]


def _row(
    run: xr.Dataset, regime: series.Regime, stage: _Stage, known: dict[str, Time]
) -> StageRow:
    size = sizes(schema.setting_of(run))
    time = known.get(stage.name, Time(None))
    ours = known.get(f"{stage.name} ours", Time(None)).steps
    parts = [
        f"{regime}: {stage.meaning.format(winner=WINNERS[regime])}",
        time.reason,
        f"at small ε: {ours:.4g} (ours)" if ours is not None else "",
        "the formula has w_O fixed" if size.trained and time.steps is not None else "",
    ]
    reason = _unknown(run, stage)
    if reason:
        parts.append(f"not known: {reason}")
        return StageRow(stage.name, time.steps, None, None, _joined(parts))
    event = stage.detector(run, regime)
    parts.append(event.note)
    return StageRow(stage.name, time.steps, event.median, event.spread, _joined(parts))


def _unknown(run: xr.Dataset, stage: _Stage) -> str:
    if stage.needs == "value":
        return series.values_unknown(run)
    return "" if stage.needs in run else f"{stage.needs} not recorded"


def _joined(parts: list[str]) -> str:
    return "; ".join(filter(None, parts))


_STAGES = (
    _Stage(
        "T1",
        "value",
        "{winner}'s value is 3M times all others of its sample",
        lambda run, regime: events.values_separate(run, regime),
    ),
    _Stage(
        "T2",
        "value",
        f"the largest value is above {events.SMALL_VALUE:g} for good",
        lambda run, regime: events.values_grown(run),
    ),
    _Stage(
        "T_att",
        "attention",
        f"mean attention to {{winner}} is {events.MOST:g}",
        lambda run, regime: events.attention_won(run, regime),
    ),
    _Stage(
        "T3",
        "loss",
        "the training loss is at most ε",
        lambda run, regime: events.loss_reached(run),
    ),
)
