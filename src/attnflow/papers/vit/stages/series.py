"""Series for the stages: values and attention at each position of a sample."""

from typing import Literal

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.schema.dims import (
    HEAD,
    KEY_POSITION,
    QUERY_POSITION,
    SAMPLE,
    SEED,
    TIME,
    TOKEN,
    VOCABULARY,
)

Regime = Literal["benign", "harmful"]
WINNER: dict[str, int] = {"benign": 0, "harmful": 1}
"""The position that wins: the signal, or the strong noise."""
SIGNALS = ("mu+", "mu-")
MEAN = (SAMPLE, HEAD, QUERY_POSITION)


def values_at(run: xr.Dataset) -> xr.DataArray:
    """Label times value at each position of each sample.

    From `pair_value` where it was recorded; else from the values of tokens, all of
    which must be known: `value`, or `vocabulary_value` where few tokens are shown.

    **Returns:** dims `seed`, `time`, `sample`, `key_position`.
    """
    reason = values_unknown(run)
    if reason:
        raise ValueError(f"The stages of values are not known: {reason}.")
    label = _labels(run)
    if "pair_value" in run:
        values = run["pair_value"].isel({HEAD: 0}, drop=True)
        order = (SEED, TIME, SAMPLE, KEY_POSITION)
        return (label.drop_vars(TIME, errors="ignore") * values).transpose(*order)
    table = _values(run)
    samples = label.sizes[SAMPLE]
    numbers = table.values
    signal = np.where(label.values[:, None] > 0, numbers[:, :, :1], numbers[:, :, 1:2])
    noise = numbers[:, :, 2:].reshape(*numbers.shape[:2], samples, -1)
    both = np.concatenate([signal[..., None], noise], axis=-1)
    return xr.DataArray(
        label.values[:, None, :, None] * both,
        dims=(SEED, TIME, SAMPLE, KEY_POSITION),
        coords={d: run[d] for d in (SEED, TIME)},
    )


def values_unknown(run: xr.Dataset) -> str:
    """Why values at the positions of samples are not available; empty if they are."""
    missing = [n for n in ("value", "label") if n not in run]
    if "pair_value" in run or "vocabulary_value" in run:
        missing = [n for n in missing if n != "value"]
    if missing:
        return f"{' and '.join(missing)} not recorded"
    if "pair_value" in run:
        return ""
    names = [str(name) for name in _values(run)[_values(run).dims[-1]].values]
    noises = _labels(run).sizes[SAMPLE] * (run_length(run) - 1)
    if len(names) == 2 + noises and names[:2] == list(SIGNALS):
        return ""
    return (
        f"value is that of {len(names)} tokens, not of both signals and {noises} noise "
        "tokens; record vocabulary_value, or use shown='all'"
    )


def run_length(run: xr.Dataset) -> int:
    """M, the number of tokens in a sample."""
    return int(schema.setting_of(run)["length"])


def _values(run: xr.Dataset) -> xr.DataArray:
    """Values of tokens, dims `seed`, `time` and that of the tokens."""
    every = "vocabulary_value" in run
    table = run["vocabulary_value" if every else "value"].isel({HEAD: 0})
    dim = VOCABULARY if every else TOKEN
    return table.transpose(SEED, TIME, dim)


def _labels(run: xr.Dataset) -> xr.DataArray:
    """Labels, which do not change: those of the first record, dims `seed`, `sample`."""
    return run["label"].isel(time=0).transpose(SEED, SAMPLE)


def separation(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Least over samples of `y V(winner) − 3M · max |V(others)|`, with M tokens each.

    Lemmas 5.2 and E.3 say that it becomes positive.
    """
    values = values_at(run)
    length = values.sizes[KEY_POSITION]
    winner = values.isel({KEY_POSITION: WINNER[regime]})
    positions = [i for i in range(length) if i != WINNER[regime]]
    others = abs(values.isel({KEY_POSITION: positions})).max(KEY_POSITION)
    return (winner - 3 * length * others).min(SAMPLE)


def largest_value(run: xr.Dataset) -> xr.DataArray:
    """Largest |V| over the tokens of all samples."""
    return abs(values_at(run)).max((SAMPLE, KEY_POSITION))


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
