"""How claims of `vit` look into runs: values and scores by position, times."""

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Seeds, per_seed
from attnflow.claims.stages import Event, first_crossing
from attnflow.papers.vit.sizes import Sizes, sizes
from attnflow.papers.vit.stages import series
from attnflow.papers.vit.stages.series import Regime
from attnflow.schema.dims import HEAD, KEY_POSITION, SEED, TIME

Measure = Callable[[xr.Dataset], np.ndarray]
"""From a run to one number for each of its seeds."""
SIGNAL, STRONG = 0, 1


def size_of(run: xr.Dataset) -> Sizes:
    """The sizes of a run, from its setting."""
    return sizes(schema.setting_of(run))


def exp(table: xr.DataArray) -> xr.DataArray:
    """E to the power of every entry."""
    return table.copy(data=np.exp(table.values))


def pulls(run: xr.Dataset) -> xr.DataArray:
    """−ℓ' of every sample."""
    return 1 / (1 + exp(run["margin"]))


def gain(run: xr.Dataset) -> xr.DataArray:
    """‖w_O‖² of each seed, as it was drawn."""
    return run["readout_gain"].isel({TIME: 0, HEAD: 0}, drop=True)


def scores(run: xr.Dataset) -> xr.DataArray:
    """Scores, dims `seed`, `time`, `sample`, `query_position`, `key_position`."""
    return run["pair_score"].isel({HEAD: 0}, drop=True)


def gaps(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """What the winner's score is ahead of the others, `key_position` those."""
    table, won = scores(run), series.WINNER[regime]
    return table.isel({KEY_POSITION: won}) - others(table, regime)


def others(table: xr.DataArray, regime: Regime) -> xr.DataArray:
    """All positions but the winner's."""
    count = table.sizes[KEY_POSITION]
    kept = [place for place in range(count) if place != series.WINNER[regime]]
    return table.isel({KEY_POSITION: kept})


def winner(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Label times the winner's value, dims `seed`, `time`, `sample`."""
    own = series.values_at(run)
    return own.isel({KEY_POSITION: series.WINNER[regime]})


def unit(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """η‖μ‖²‖w_O‖², or η σ_p²d ‖w_O‖²/N: the scale of a step of the winner's value."""
    size = size_of(run)
    power = size.signal**2 if regime == "benign" else size.power / size.samples
    return size.learning_rate * power * gain(run)


def reached(run: xr.Dataset, level: float) -> np.ndarray:
    """The step at which the training loss falls to a level, by seed.

    A run ends at its target, mostly between two records: then its end is the time.
    """
    event = first_crossing(run, "loss", level=level, direction="down", scale="log")
    done = run["loss_at_end"].isel(stage=-1).values <= level
    return np.where(np.isnan(event.times) & done, run["end_time"].values, event.times)


def by_seed(run: xr.Dataset, times: np.ndarray | Event) -> xr.DataArray:
    """Times of seeds as a series over them."""
    found = times.times if isinstance(times, Event) else np.asarray(times, float)
    return xr.DataArray(found, dims=SEED, coords={SEED: run[SEED]})


def at(run: xr.Dataset, times: np.ndarray) -> xr.Dataset:
    """The last record of each seed up to its time; the first where that is NaN."""
    upto = run["recorded"] & (run[TIME] <= by_seed(run, times))
    last = upto.sum(TIME).clip(min=1) - 1
    return run.isel({TIME: last})


def within(run: xr.Dataset, low: np.ndarray, high: np.ndarray) -> xr.DataArray:
    """Which records lie between two times of their seed, the first not included."""
    time = run[TIME]
    inside = (time > by_seed(run, low)) & (time <= by_seed(run, high))
    return inside & run["recorded"]


def moves(table: xr.DataArray) -> xr.DataArray:
    """What is added from each record to the next, at the earlier one."""
    return table.diff(TIME, label="lower")


def least(table: xr.DataArray) -> np.ndarray:
    """The least over all but seeds."""
    return table.min([d for d in table.dims if d != SEED]).values


def most(table: xr.DataArray) -> np.ndarray:
    """The largest over all but seeds."""
    return table.max([d for d in table.dims if d != SEED]).values


def held(margin: np.ndarray | xr.DataArray, what: str) -> Seeds:
    """A property of each seed by its margin; what is not known does not hold."""
    return per_seed(margin, what)


def spread(values: np.ndarray | xr.DataArray) -> list[float]:
    """Least, median and largest over seeds, for printing."""
    return [float(f(values)) for f in (np.min, np.median, np.max)]


def medians(runs: Sequence[xr.Dataset], measure: Measure) -> np.ndarray:
    """The median over seeds in each run of a ladder."""
    return np.array([np.median(measure(run)) for run in runs])
