"""Series for the stages: values and attention at each position of a sample."""

from __future__ import annotations

from attnflow import schema
from attnflow.papers.vit._types import Regime
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE, SEED, TIME
from attnflow.schema.installation import xr

WINNER: dict[Regime, int] = {"benign": 0, "harmful": 1}
"""The position that wins: the signal, or the strong noise."""
MEAN = (SAMPLE, HEAD, QUERY_POSITION)


def values_at(run: xr.Dataset) -> xr.DataArray:
    """Label times value: dims `seed`, `time`, `sample`, `key_position`."""
    # Labels do not change: those of the first record.
    label = run["label"].isel({TIME: 0}, drop=True)
    values = label * run["pair_value"].isel({HEAD: 0}, drop=True)
    return values.transpose(SEED, TIME, SAMPLE, KEY_POSITION)


def others(table: xr.DataArray, regime: Regime) -> xr.DataArray:
    """The table without the winner's position."""
    count, winner = table.sizes[KEY_POSITION], WINNER[regime]
    return table.isel({KEY_POSITION: [i for i in range(count) if i != winner]})


def separation(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Least over samples of `y V(winner) − 3M · max |V(others)|`, with M tokens each.

    Lemmas 5.2 and E.3 say that it becomes positive.
    """
    values = values_at(run)
    winner = values.isel({KEY_POSITION: WINNER[regime]})
    rest = abs(others(values, regime)).max(KEY_POSITION)
    return (winner - 3 * values.sizes[KEY_POSITION] * rest).min(SAMPLE)


def largest_value(run: xr.Dataset) -> xr.DataArray:
    """Largest |V| over the tokens of all samples."""
    values = run["pair_value"].isel({HEAD: 0}, drop=True)
    return abs(values).max((SAMPLE, KEY_POSITION))


def attention_to(run: xr.Dataset, position: int) -> xr.DataArray:
    """Attention to one position, in the mean over samples and queries."""
    return run["attention"].isel({KEY_POSITION: position}).mean(MEAN)


def regime_of(run: xr.Dataset) -> Regime:
    """Regime of a run: whether signal or strong noise has more attention at the end.

    Compares means over samples and queries at the last record; median over seeds.
    """
    last = schema.last(run, "attention").mean(MEAN)
    ahead = last.isel({KEY_POSITION: 0}) - last.isel({KEY_POSITION: 1})
    return "benign" if float(ahead.median()) >= 0 else "harmful"
