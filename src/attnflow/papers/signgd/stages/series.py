"""Series that the stages speak of, from what a run recorded; all in label gauge.

Noise tokens are R_i = y_i ξ_i, so that labels play no part. A *pair* is a neuron (of a
head) and a noise token. A sample holds its signals first; `noise_to_signal` and
`signal_to_signal` are the paper's s21 and s11, and for longer samples the attention
that queries of either kind pay to all signals, in the mean over such queries.
"""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE, SEED, TOKEN

NEURON = "neuron"
SIGNAL = "mu"
PAIR = (HEAD, NEURON, TOKEN)


def noise_names(run: xr.Dataset) -> list[str]:
    """The names of the shown noise tokens."""
    names = [str(name) for name in run[TOKEN].values]
    return [name for name in names if name.startswith("noise")]


def noise_count(run: xr.Dataset) -> int:
    """How many tokens of a sample are noise."""
    setting = schema.setting_of(run)
    return setting.get("noise_tokens") or setting.get("length", 2) // 2


def noise(run: xr.Dataset, observable: str) -> xr.DataArray:
    """A recorded table on the noise tokens, such as `key_neuron` or `value`."""
    return run[observable].sel(token=noise_names(run))


def signal(run: xr.Dataset, observable: str) -> xr.DataArray:
    """A recorded table on the signal."""
    return run[observable].sel(token=SIGNAL, drop=True)


def signs(table: xr.DataArray) -> xr.DataArray:
    """The signs of a table's entries."""
    return xr.apply_ufunc(np.sign, table)


def lesser(one: xr.DataArray, other: xr.DataArray) -> xr.DataArray:
    """The lesser of two series, entry by entry."""
    return xr.apply_ufunc(np.minimum, one, other)


def value_noise(run: xr.Dataset) -> xr.DataArray:
    """⟨v, R_i⟩ of each head."""
    return noise(run, "value")


def value_signal(run: xr.Dataset) -> xr.DataArray:
    """⟨v, μ⟩ of each head."""
    return signal(run, "value")


def noise_to_signal(run: xr.Dataset) -> xr.DataArray:
    """s21 of each sample and head."""
    return _to_signals(run, noise_queries=True)


def signal_to_signal(run: xr.Dataset) -> xr.DataArray:
    """s11 of each sample and head."""
    return _to_signals(run, noise_queries=False)


def aligned(run: xr.Dataset) -> xr.DataArray:
    """The share of pairs whose key noise and query noise have one sign."""
    product = signs(noise(run, "key_neuron")) * signs(noise(run, "query_neuron"))
    return (product > 0).mean(PAIR).where(_known(run))


def voted(run: xr.Dataset) -> xr.DataArray:
    """The share of neurons whose signals are opposite, or follow the vote: the lesser.

    The query signal has the sign of the neuron's summed query noise, the key signal the
    opposite one.
    """
    query, key = (signs(signal(run, f"{n}_neuron")) for n in ("query", "key"))
    vote = signs(noise(run, "query_neuron").sum(TOKEN, skipna=False))
    over = (HEAD, NEURON)
    opposite, followed = ((query * key) < 0).mean(over), ((query * vote) > 0).mean(over)
    return lesser(opposite, followed).where(_known(run))


def following(run: xr.Dataset, observable: str) -> xr.DataArray:
    """The share of pairs whose noise has the sign of the neuron's query signal."""
    product = signs(noise(run, observable)) * signs(signal(run, "query_neuron"))
    return (product > 0).mean(PAIR).where(_known(run))


def dominance(run: xr.Dataset) -> xr.DataArray:
    """The median over pairs of s21 s22 |q_i| / (2 s11 s12 |q_μ|): Lemma 4.5's ratio.

    For samples of two tokens, whose noise token is their own.
    """
    first, second = signal_to_signal(run), noise_to_signal(run)
    weight = (second * (1 - second)) / (first * (1 - first))
    query = abs(noise(run, "query_neuron") / signal(run, "query_neuron"))
    own = weight.rename({SAMPLE: TOKEN})
    own = own.assign_coords({TOKEN: query[TOKEN]})
    ratio = (query * own / 2).stack(pair=PAIR)
    return ratio.median("pair", skipna=False)


def largest_initial(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """β_ξ and β_μ of each seed: the largest initial inner products of neurons.

    Over queries and keys; value neurons all move alike, and are not kept.
    """
    start = run.isel(time=0)
    tables = ("key_neuron", "query_neuron")
    parts = [
        xr.concat([abs(look(start, name)) for name in tables], "table")
        for look in (noise, signal)
    ]
    over = [[d for d in part.dims if d != SEED] for part in parts]
    largest = [part.max(dims) for part, dims in zip(parts, over, strict=True)]
    return largest[0], largest[1]


def _known(run: xr.Dataset) -> xr.DataArray:
    """Which rows were recorded: signs of others are no numbers, but shares would be."""
    return run["recorded"]


def _to_signals(run: xr.Dataset, *, noise_queries: bool) -> xr.DataArray:
    attention = run["attention"]
    length = attention.sizes[KEY_POSITION]
    noises = noise_count(run)
    signals = slice(0, length - noises)
    queries = slice(length - noises, length) if noise_queries else signals
    mass = attention.isel(key_position=signals).sum(KEY_POSITION, skipna=False)
    return mass.isel(query_position=queries).mean(QUERY_POSITION, skipna=False)
