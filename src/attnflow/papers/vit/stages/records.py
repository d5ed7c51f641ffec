"""Stages of both regimes as records; a run may end them in another order than printed.

The levels 0.1 (values that are no longer o(1)) and 0.9 (attention that has become
sparse) are ours.
"""

from __future__ import annotations

from functools import partial

from attnflow.claims.stages import Stage, StageRow
from attnflow.claims.stages import stage_table as rows_of
from attnflow.papers.vit._types import Fields, Regime
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import series
from attnflow.papers.vit.stages.formulas import FORMULAS
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

SMALL_VALUE = 0.1
"""Our reading of o(1) in stage two, where all values are still small."""
MOST = 0.9
"""Mean attention at which a token counts as the winner."""


def _formula(setting: Fields, *, regime: Regime, name: str) -> FormulaTime:
    size = sizes(setting)
    times = FORMULAS[regime](size)
    printed, ours = times[name], times.get(f"{name} ours")
    parts = (
        printed.reason,
        f"at small ε: {ours.time:.4g} (ours)" if ours else "",
        "the formula has w_O fixed" if size.trained and printed.time else "",
    )
    return FormulaTime(printed.time, "; ".join(filter(None, parts)))


def loss_reached(level: float) -> Stage:
    """The end of training to a loss: the run's own end counts."""
    return Stage(
        f"loss {level:g}",
        "loss",
        f"the training loss is at most {level:g}",
        level=level,
        direction="down",
        scale="log",
        at_end=True,
    )


def _stages(regime: Regime) -> dict[str, Stage]:
    winner = {"benign": "the signal", "harmful": "the strong noise"}[regime]
    time = partial(_formula, regime=regime)
    stages = (
        Stage(
            "T1",
            partial(series.separation, regime=regime),
            f"{regime}: {winner}'s value is 3M times all others of its sample",
            formula=partial(time, name="T1"),
            needs=("label", "pair_value"),
        ),
        Stage(
            "T2",
            series.largest_value,
            f"{regime}: the largest value is above {SMALL_VALUE:g} for good",
            detector="settled",
            level=SMALL_VALUE,
            formula=partial(time, name="T2"),
            needs=("pair_value",),
        ),
        Stage(
            "T_att",
            partial(series.attention_to, position=series.WINNER[regime]),
            f"{regime}: mean attention to {winner} is {MOST:g}",
            level=MOST,
            needs=("attention",),
        ),
        Stage(
            "T3",
            "loss",
            f"{regime}: the training loss is at most ε",
            level=lambda setting: sizes(setting).target,
            direction="down",
            scale="log",
            at_end=True,
            formula=partial(time, name="T3"),
        ),
    )
    return {stage.name: stage for stage in stages}


STAGES: dict[Regime, dict[str, Stage]] = {
    "benign": _stages("benign"),
    "harmful": _stages("harmful"),
}


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Stages of a run in the regime it ended in; empty without recorded attention."""
    if TIME not in run.dims or "attention" not in run:
        return []
    return rows_of(run, STAGES[series.regime_of(run)].values())
