"""Series by which stages are defined, from the records of a run; all in label gauge.

Noise tokens are R_i = y_i ξ_i, so that the dynamics does not depend on labels. A *pair*
is a neuron (of a head) and a noise token. The signals of a sample come first;
`noise_to_signal` and `signal_to_signal` are the paper's s21 and s11, and for longer
samples the attention that noise or signal queries pay to all signals, averaged over
these queries.
"""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE, SEED, TOKEN
from attnflow.schema.installation import xr

NEURON = "neuron"
SIGNAL = "mu"
PAIR = (HEAD, NEURON, TOKEN)


def noise_names(run: xr.Dataset) -> list[str]:
    """The names of the recorded noise tokens."""
    names = [str(name) for name in run[TOKEN].values]
    return [name for name in names if name.startswith("noise")]


def noise_count(run: xr.Dataset) -> int:
    """The number of noise tokens in a sample."""
    setting = schema.setting_of(run)
    return setting.get("noise_tokens") or setting.get("length", 2) // 2


def noise(run: xr.Dataset, observable: str) -> xr.DataArray:
    """An observable such as `key_neuron` or `value`, on the noise tokens."""
    return run[observable].sel(token=noise_names(run))


def signal(run: xr.Dataset, observable: str) -> xr.DataArray:
    """An observable such as `key_neuron` or `value`, on the signal."""
    return run[observable].sel(token=SIGNAL, drop=True)


def signs(table: xr.DataArray) -> xr.DataArray:
    """The signs of a table's entries."""
    return xr.apply_ufunc(np.sign, table)


def lesser(first: xr.DataArray, second: xr.DataArray) -> xr.DataArray:
    """The elementwise minimum of two series."""
    return xr.apply_ufunc(np.minimum, first, second)


def value_noise(run: xr.Dataset) -> xr.DataArray:
    """The mean value noise ⟨v, R_i⟩ of each head."""
    return noise(run, "value")


def least_value_noise(run: xr.Dataset) -> xr.DataArray:
    """The least mean value noise of all samples and heads."""
    return value_noise(run).min((HEAD, TOKEN), skipna=False)


def value_signal(run: xr.Dataset) -> xr.DataArray:
    """The mean value signal ⟨v, μ⟩ of each head."""
    return signal(run, "value")


def noise_to_signal(run: xr.Dataset) -> xr.DataArray:
    """The attention s21 of noise to the signal, of each sample and head."""
    return _to_signals(run, noise_queries=True)


def signal_to_signal(run: xr.Dataset) -> xr.DataArray:
    """The attention s11 of the signal to itself, of each sample and head."""
    return _to_signals(run, noise_queries=False)


def largest_signal_to_signal(run: xr.Dataset) -> xr.DataArray:
    """The largest s11 of all samples and heads."""
    return signal_to_signal(run).max((SAMPLE, HEAD), skipna=False)


def positive_share(table: xr.DataArray, over: tuple[str, ...] = PAIR) -> xr.DataArray:
    """The fraction of positive entries over some dims; NaN where one is not known."""
    return (table > 0).mean(over).where(table.notnull().all(over))


def aligned(run: xr.Dataset) -> xr.DataArray:
    """The fraction of pairs whose key noise and query noise have the same sign."""
    keys, queries = (signs(noise(run, f"{n}_neuron")) for n in ("key", "query"))
    return positive_share(keys * queries)


def voted(run: xr.Dataset) -> xr.DataArray:
    """The fraction of neurons with opposite signals, or with a query signal as voted.

    The smaller of the two. The vote is the sign of the neuron's summed query noise.
    """
    query, key = (signs(signal(run, f"{n}_neuron")) for n in ("query", "key"))
    vote = signs(noise(run, "query_neuron").sum(TOKEN, skipna=False))
    over = (HEAD, NEURON)
    opposite, followed = -query * key, query * vote
    return lesser(positive_share(opposite, over), positive_share(followed, over))


def following(run: xr.Dataset, observable: str) -> xr.DataArray:
    """The fraction of pairs whose noise has the sign of the neuron's query signal."""
    return positive_share(
        signs(noise(run, observable)) * signs(signal(run, "query_neuron"))
    )


def all_following(run: xr.Dataset) -> xr.DataArray:
    """The same fraction, of keys or of queries: the smaller of the two."""
    return lesser(following(run, "key_neuron"), following(run, "query_neuron"))


def dominance(run: xr.Dataset) -> xr.DataArray:
    """The ratio of Lemma 4.5, s21 s22 |q_i| / (2 s11 s12 |q_μ|), median over pairs.

    For samples of two tokens.
    """
    first, second = signal_to_signal(run), noise_to_signal(run)
    weight = (second * (1 - second)) / (first * (1 - first))
    query = abs(noise(run, "query_neuron") / signal(run, "query_neuron"))
    weight_of_token = weight.rename({SAMPLE: TOKEN})
    weight_of_token = weight_of_token.assign_coords({TOKEN: query[TOKEN]})
    ratio = (query * weight_of_token / 2).stack(pair=PAIR)
    return ratio.median("pair", skipna=False)


def largest_initial(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """β_ξ and β_μ of each seed: the largest initial inner products, by magnitude.

    Over query and key neurons; value neurons all move alike and are not recorded.
    """
    start = run.isel(time=0)
    tables = ("key_neuron", "query_neuron")
    parts = [
        xr.concat([abs(select(start, name)) for name in tables], "table")
        for select in (noise, signal)
    ]
    over = [[d for d in part.dims if d != SEED] for part in parts]
    largest = [part.max(dims) for part, dims in zip(parts, over, strict=True)]
    return largest[0], largest[1]


def _to_signals(run: xr.Dataset, *, noise_queries: bool) -> xr.DataArray:
    attention = run["attention"]
    length = attention.sizes[KEY_POSITION]
    noises = noise_count(run)
    signals = slice(0, length - noises)
    queries = slice(length - noises, length) if noise_queries else signals
    mass = attention.isel(key_position=signals).sum(KEY_POSITION, skipna=False)
    return mass.isel(query_position=queries).mean(QUERY_POSITION, skipna=False)
