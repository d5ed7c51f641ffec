"""Measures of runs that claims of `vit` share: values, scores, gaps and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.claims.stages import Event
from attnflow.papers.vit.claims.evidence import TARGETS
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.papers.vit.stages import (
    FORMULAS,
    STAGES,
    WINNER,
    loss_reached,
    others,
    values_at,
)
from attnflow.schema.dims import HEAD, KEY_POSITION, STAGE, TIME
from attnflow.schema.installation import xr

SIGNAL, STRONG = 0, 1
INVERSE = "1/ε"
"""The dim along training losses: their inverses, which grow towards the limit."""


def size_of(run: xr.Dataset) -> Sizes:
    """The sizes of a run, from its setting."""
    return sizes(schema.setting_of(run))


def stage_end(run: xr.Dataset, name: str) -> Event:
    """The end of a stage in the regime of the run's sizes."""
    return STAGES[size_of(run).regime][name](run)


def formula(run: xr.Dataset, name: str) -> float:
    """The time of a stage by its formula; NaN where that gives none."""
    size = size_of(run)
    time = FORMULAS[size.regime](size)[name].time
    return np.nan if time is None else time


def during(first: str, last: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """Mask of the records after the end of one stage, up to that of another."""

    def mask(run: xr.Dataset) -> xr.DataArray:
        ends = stage_end(run, first), stage_end(run, last)
        return look.between(run, *ends, closed="right")

    return mask


def up_to(last: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """Mask of the records up to the end of a stage."""
    return lambda run: look.between(run, 0.0, stage_end(run, last))


def loss_slopes(run: xr.Dataset) -> xr.DataArray:
    """−ℓ'(y f), the negative slope of the loss, of every sample."""
    return 1 / (1 + exp(run["margin"]))


def exp(table: xr.DataArray) -> xr.DataArray:
    """`e^x` of every entry."""
    return table.copy(data=np.exp(table.values))


def log(table: xr.DataArray) -> xr.DataArray:
    """`ln x` of every entry."""
    return table.copy(data=np.log(table.values))


def gain(run: xr.Dataset) -> xr.DataArray:
    """‖w_O‖² of each seed, as it was drawn."""
    return run["readout_gain"].isel({TIME: 0, HEAD: 0}, drop=True)


def scores(run: xr.Dataset) -> xr.DataArray:
    """Scores, dims `seed`, `time`, `sample`, `query_position`, `key_position`."""
    return run["pair_score"].isel({HEAD: 0}, drop=True)


def gaps(run: xr.Dataset) -> xr.DataArray:
    """Score of the winner less that of each other key, along `key_position`."""
    table, regime = scores(run), size_of(run).regime
    return table.isel({KEY_POSITION: WINNER[regime]}) - others(table, regime)


def winner(run: xr.Dataset) -> xr.DataArray:
    """Label times the winner's value, dims `seed`, `time`, `sample`."""
    return values_at(run).isel({KEY_POSITION: WINNER[size_of(run).regime]})


def largest_other(run: xr.Dataset) -> xr.DataArray:
    """The largest |V| of the tokens that lose, dims `seed`, `time`, `sample`."""
    return abs(others(values_at(run), size_of(run).regime)).max(KEY_POSITION)


def lead(run: xr.Dataset) -> xr.DataArray:
    """The winner's value over 3M times the largest other, which must be 1."""
    return winner(run) / (3 * size_of(run).length * largest_other(run))


def unit(run: xr.Dataset) -> xr.DataArray:
    """η‖μ‖²‖w_O‖², or η σ_p²d ‖w_O‖²/N: the scale of a step of the winner's value."""
    size = size_of(run)
    benign = size.regime == "benign"
    power = size.signal**2 if benign else size.power / size.samples
    return size.learning_rate * power * gain(run)


def at_end(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable where training ended."""
    return run[f"{name}{schema.AT_END}"].isel({STAGE: -1}, drop=True)


def at_target(run: xr.Dataset, name: str) -> xr.DataArray:
    """An observable at T3, where the loss is ε; NaN where it was not reached."""
    is_reached = at_end(run, "loss") <= size_of(run).target
    return at_end(run, name).where(is_reached)


def at_losses(
    run: xr.Dataset, table: str | xr.DataArray, targets: Sequence[float] = TARGETS
) -> xr.DataArray:
    """A table at the last record before the loss falls to each target."""
    rows = [look.at(run, loss_reached(target)(run), table) for target in targets]
    bare = [row.drop_vars(TIME, errors="ignore") for row in rows]
    dim = xr.DataArray([1 / t for t in targets], dims=INVERSE, name=INVERSE)
    return xr.concat(bare, dim)


def over_formula(run: xr.Dataset) -> np.ndarray:
    """Training time to ε over its leading order at small ε (ours), by seed."""
    return stage_end(run, "T3").times / formula(run, "T3 ours")
