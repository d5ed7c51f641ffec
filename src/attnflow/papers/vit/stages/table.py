"""Table of stages: formula, detected time and remarks for each."""

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
    """A row of the table: the variable it needs, its meaning and its detector."""

    name: str
    needs: str
    meaning: str
    detector: Callable[[xr.Dataset, series.Regime], Event]


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Stages of a run in the regime it ended in; empty without recorded attention."""
    if TIME not in run.dims or "attention" not in run:
        return []
    return stage_rows(run, series.regime_of(run))


def stage_rows(run: xr.Dataset, regime: series.Regime) -> list[StageRow]:
    """Stages of a run by the formulas and detectors of one regime."""
    size = sizes(schema.setting_of(run))
    times = FORMULAS[regime](size)
    return [_row(run, regime, stage, times) for stage in _STAGES]


def _row(
    run: xr.Dataset, regime: series.Regime, stage: _Stage, times: dict[str, Time]
) -> StageRow:
    size = sizes(schema.setting_of(run))
    time = times.get(stage.name, Time(None))
    ours = times.get(f"{stage.name} ours", Time(None)).steps
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
