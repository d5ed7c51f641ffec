"""T4⁻ and T4⁺ as they are printed, for all pairs, and moves at every single step."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd.claims.statistics import (
    at,
    between,
    formula,
    on_clock,
    sizes_of,
    when,
)
from attnflow.papers.signgd.stages import series
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME, TOKEN
from attnflow.schema.installation import xr

ROUNDING = 1e-9
"""A move between records is about 1e-3 of what has moved: its error is 1e-13."""
LATEST = 5.0
"""Up to this multiple of T4⁻ "for all later times" is judged."""


def _weights(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """s11 s12 and s21 s22 of each sample, by its noise token."""
    names = series.noise_names(run)
    first, second = (
        (share * (1 - share)).rename({SAMPLE: TOKEN}).assign_coords({TOKEN: names})
        for share in (series.signal_to_signal(run), series.noise_to_signal(run))
    )
    return first, second


def dominance(run: xr.Dataset) -> xr.DataArray:
    """s21 s22 |q_i| over s11 s12 |q_μ|, of every pair."""
    first, second = _weights(run)
    signal = series.signal(run, "query_neuron")
    return second * abs(series.noise(run, "query_neuron")) / (first * abs(signal))


def summed_dominance(run: xr.Dataset) -> xr.DataArray:
    """|Σ_i s21 s22 q_i| over n |q_μ|/2, of every neuron."""
    noise = series.noise(run, "query_neuron")
    total = abs((_weights(run)[1] * noise).sum(TOKEN, skipna=False))
    signal = abs(series.signal(run, "query_neuron"))
    return total / (sizes_of(run).samples / 2 * signal)


def t4_minus(run: xr.Dataset) -> xr.DataArray:
    """T4⁻ as printed, on the clock: (29) and (30) hold for all from T3 up to it."""
    pairs = dominance(run).min(series.PAIR, skipna=False) / 2
    neurons = summed_dominance(run).min((HEAD, series.NEURON), skipna=False)
    ratio = series.lesser(pairs, neurons).clip(min=np.finfo(float).tiny)
    least = xr.apply_ufunc(np.log, ratio)
    clock = xr.DataArray(on_clock(run)[TIME].values, {TIME: run[TIME]}, TIME)
    least = least.where(clock >= formula(run, "T3"), 1.0)
    return when(run, first_crossing(run, least, level=0.0, direction="down"))


def t4_plus(run: xr.Dataset) -> xr.DataArray:
    """T4⁺ on the clock: from it to 2 T4⁻ no pair's dominance is above 1/2."""
    ratio = dominance(run)
    is_above = (ratio > 0.5).where(ratio.notnull())
    return _last(run, is_above, formula(run, "T3"), 2 * t4_minus(run))


def during(run: xr.Dataset, low: xr.DataArray, high: xr.DataArray) -> xr.Dataset:
    """The records from the earliest `low` to the latest `high` of the seeds."""
    clock = on_clock(run)[TIME].values
    keep = (clock >= low.min().item()) & (clock <= high.max().item())
    keep[:2] = True
    return run.isel({TIME: keep})


def noise_moves(run: xr.Dataset, name: str) -> xr.DataArray:
    """Moves of noise between records over η‖ξ‖₁ times the steps between them.

    ±1 where all steps went one way. Half of the move of the mean value noise, which
    every step raises, is that unit.
    """
    clocked = on_clock(run)
    unit = c.look.steps(series.value_noise(clocked)) / 2
    return c.look.steps(series.noise(clocked, name)) / unit


def signal_moves(run: xr.Dataset, name: str) -> xr.DataArray:
    """Moves of signals between records over η times the steps between them."""
    moves = c.look.steps(series.signal(on_clock(run), name))
    elapsed = np.diff(on_clock(run)[TIME].values) * sizes_of(run).learning_rate
    return moves / xr.DataArray(elapsed, {TIME: moves[TIME]}, TIME)


def outward(moves: xr.DataArray, table: xr.DataArray) -> xr.DataArray:
    """1 where all steps to the next record lead away from zero, less where not.

    The sign is that of the earlier record.
    """
    return moves * series.signs(table.isel({TIME: slice(None, -1)}))


def noise_outward(run: xr.Dataset, name: str) -> xr.DataArray:
    """Moves of noise away from zero: 1 where every step does."""
    return outward(noise_moves(run, name), series.noise(on_clock(run), name))


def signal_outward(run: xr.Dataset, name: str) -> xr.DataArray:
    """Moves of signals away from zero: 1 where every step does."""
    return outward(signal_moves(run, name), series.signal(on_clock(run), name))


def noise_with_signal(run: xr.Dataset, name: str) -> xr.DataArray:
    """Moves of noise towards the sign of the query signal at T3: 1 where all do."""
    then = at(run, formula(run, "T3"), "query_neuron")
    return noise_moves(run, name) * series.signs(series.signal(then, "query_neuron"))


def last_against(run: xr.Dataset, name: str) -> xr.DataArray:
    """The last time at which some noise moves against the query signal, by seed.

    From T3 to 5 T4⁻.
    """
    moves = noise_with_signal(run, name)
    is_against = (moves < 1 - ROUNDING).where(moves.notnull())
    return _last(run, is_against, formula(run, "T3"), LATEST * t4_minus(run))


def first_inward(run: xr.Dataset, name: str) -> xr.DataArray:
    """The first time from T3 on at which some noise moves towards zero, by seed."""
    moves = noise_outward(run, name)
    is_inward = (moves < 1 - ROUNDING).where(moves.notnull())
    # The time before which nothing is known to move inward is the earlier record's.
    return -_last(run, is_inward, formula(run, "T3"), LATEST * t4_minus(run), -1.0)


def _last(
    run: xr.Dataset,
    happens: xr.DataArray,
    low: xr.DataArray,
    high: xr.DataArray,
    direction: float = 1.0,
) -> xr.DataArray:
    """The last time between two at which something happens to some pair, by seed.

    Of moves, the later record's; with `direction` −1, minus the first time. `low` where
    it never happens; NaN where the run ends before `high` or something is not known.
    """
    mask, times = between(run, low, high), on_clock(run)[TIME].values
    if happens.sizes[TIME] < len(times):
        mask = c.look.both(mask)
        times = times[1:] if direction > 0 else times[:-1]
    over = [dim for dim in happens.dims if dim not in (SEED, TIME)]
    is_unknown = (happens.isnull().any(over).values & mask.values).any(axis=1)
    found = (happens.fillna(0.0) > 0).any(over).transpose(SEED, TIME).values
    found &= mask.values
    best = np.where(found, direction * times, -np.inf).max(axis=1, initial=-np.inf)
    best = np.where(found.any(axis=1), best, low.values if direction > 0 else -high)
    is_known = mask.values.any(axis=1) & ~is_unknown
    return c.look.by_seed(run, np.where(is_known, best, np.nan))
