"""Statistics that figures share: values at a step, over seeds, and fits of the loss."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.claims.statistics import Fall, fit_fall
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.stages import series
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME
from attnflow.schema.libraries import xr


def at_step(series: xr.DataArray, step: float) -> xr.DataArray:
    """A series at the record nearest to a step."""
    return series.sel({TIME: step}, method="nearest")


def three_numbers(values: np.ndarray) -> dict[str, float]:
    """Median, smallest and largest over seeds; NaN where a seed has none."""
    return {
        "median": float(np.median(values)),
        "least": float(np.min(values)),
        "largest": float(np.max(values)),
    }


def leaves_first(run: xr.Dataset) -> bool:
    """Whether s11 is still above 0.4 when s21 falls below 0.2.

    Medians over samples, in every seed.
    """
    over = (SAMPLE, HEAD)
    first, second = (
        attention_of(run).median(over)
        for attention_of in (series.signal_to_signal, series.noise_to_signal)
    )
    small = second < 0.2
    left = first.where(small).max(TIME)
    return bool(small.any(TIME).all() and (left > 0.4).all())


def turned_by_end(run: xr.Dataset, observable: str) -> np.ndarray:
    """The fraction of outvoted noise with the signal's sign at the end, by seed."""
    last = {name: schema.last(run, name) for name in ("query_neuron", observable)}
    toward = last["query_neuron"].sel(token=series.SIGNAL)
    noise = last[observable].sel(token=series.noise_names(run))
    against = stages.minority(run)
    share = ((noise * toward) > 0).where(against).mean(series.PAIR)
    return share.values


def law_table(law: Fall) -> dict[str, float]:
    """The rate, power and residuals of both fits, by name."""
    return {
        "exponential: rate per step": law.rate,
        "exponential: rms residual of log loss": law.exponential,
        "power law: power of t": -law.power,
        "power law: rms residual of log loss": law.algebraic,
    }


def late_laws(run: xr.Dataset, name: str = "loss") -> list[Fall]:
    """Fits of a loss over the second half of training, for each seed."""
    times = run[TIME].values
    half = times >= times[-1] / 2
    table = run[name].transpose(SEED, TIME).values
    return [fit_fall(times[half], row[half]) for row in table]
