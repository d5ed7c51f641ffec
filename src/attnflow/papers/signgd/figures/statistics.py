"""Statistics that figures share: at a step, at the end, over seeds, fits, and marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from attnflow import schema
from attnflow.claims.stages import Event
from attnflow.claims.statistics import Fall, fit_fall
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures.panels import SIDES, WRONG, zero_one
from attnflow.papers.signgd.stages import series
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME
from attnflow.schema.installation import xr

Three = dict[str, float]
Detectors: TypeAlias = "Mapping[str, Callable[[xr.Dataset], Event]]"

ENDS: Detectors = {
    "stage I ends": stages.values_positive,
    "stage II ends": stages.noise_aligned,
    "stage III ends": stages.signals_voted,
    "keys turn": stages.keys_turn,
    "queries turn": stages.queries_turn,
}
PRINTED = dict(zip(ENDS, (2.0, 10.0, 40.0, 150.0, 300.0), strict=True))
"""The round steps by which the paper marks these events (Section 3.1)."""
TURNS: Detectors = {
    "keys turn": stages.keys_turn,
    "queries turn": stages.queries_turn,
    "all signs agree": stages.all_follow,
}


def at_step(series: xr.DataArray, step: float) -> xr.DataArray:
    """A series at the record nearest to a step."""
    return series.sel({TIME: step}, method="nearest")


def three_numbers(values: np.ndarray | xr.DataArray) -> Three:
    """Median, smallest and largest over seeds; NaN where a seed, or all, have none."""
    known = np.asarray(values) if np.size(values) else np.array([np.nan])
    return {
        "median": float(np.median(known)),
        "least": float(np.min(known)),
        "largest": float(np.max(known)),
    }


def over_seeds(tables: Mapping[str, np.ndarray | xr.DataArray]) -> dict[str, Three]:
    """`three_numbers` of each table."""
    return {name: three_numbers(values) for name, values in tables.items()}


def marks(run: xr.Dataset) -> dict[str, Three]:
    """The first whole step of each event; where it never comes, infinitely late."""
    known = times(run, ENDS)
    late = {name: np.where(np.isnan(t), np.inf, t) for name, t in known.items()}
    return over_seeds({name: np.ceil(t) for name, t in late.items()})


def turn_later(run: xr.Dataset, low: float, high: float) -> np.ndarray:
    """Whether outvoted queries turn `low` to `high` times as late as keys, by seed."""
    ratio = stages.queries_turn(run).times / stages.keys_turn(run).times
    return (ratio > low) & (ratio < high)


def final_losses(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """Training, test and 0–1 test loss at the end, by seed."""
    return {
        "training loss": schema.last(run, "loss"),
        "test loss": schema.last(run, "test_loss"),
        WRONG: zero_one(schema.last(run, "test_accuracy")),
    }


def losses_at_end(run: xr.Dataset) -> dict[str, Three]:
    """Training and test loss at the end, over seeds."""
    end = final_losses(run)
    return over_seeds({f"{n} at the end": end[n] for n in end if n != WRONG})


def times(run: xr.Dataset, detectors: Detectors) -> dict[str, np.ndarray]:
    """The times of some events, by seed."""
    return {name: detect(run).times for name, detect in detectors.items()}


def median_attention(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """The medians of s11 and s21 over samples and heads."""
    tables = {"s11": series.signal_to_signal(run), "s21": series.noise_to_signal(run)}
    return {name: table.median((SAMPLE, HEAD)) for name, table in tables.items()}


def leaves_first(run: xr.Dataset) -> xr.DataArray:
    """Whether the median s11 is still above 0.4 when s21 falls below 0.2, by seed."""
    paid = median_attention(run)
    return paid["s11"].where(paid["s21"] < 0.2).max(TIME) > 0.4


def turned_by_end(run: xr.Dataset, observable: str) -> np.ndarray:
    """The fraction of outvoted noise with the signal's sign at the end, by seed."""
    last = {name: schema.last(run, name) for name in SIDES}
    toward = last["query_neuron"].sel(token=series.SIGNAL)
    noise = last[observable].sel(token=series.noise_names(run))
    against = stages.minority(run)
    return ((noise * toward) > 0).where(against).mean(series.PAIR).values


def is_exponential(run: xr.Dataset) -> list[bool]:
    """Whether an exponential fits with a tenth of a power law's residual, by seed."""
    return [law.exponential < law.algebraic / 10 for law in late_laws(run)]


def law_table(run: xr.Dataset) -> dict[str, float]:
    """The rate, power and residuals of both fits of the first seed, by name."""
    law = late_laws(run)[0]
    return {
        "exponential: rate per step": law.rate,
        "exponential: rms residual of log loss": law.exponential,
        "power law: power of t": -law.power,
        "power law: rms residual of log loss": law.algebraic,
    }


def late_laws(run: xr.Dataset) -> list[Fall]:
    """Fits of the training loss over the second half of training, for each seed."""
    times = run[TIME].values
    half = times >= times[-1] / 2
    table = run["loss"].transpose(SEED, TIME).values
    return [fit_fall(times[half], row[half]) for row in table]
