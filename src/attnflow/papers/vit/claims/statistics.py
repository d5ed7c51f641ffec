"""Statistics of runs that claims of `vit` share: values, scores, gaps and times."""

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

Statistic = Callable[[xr.Dataset], np.ndarray]
"""A function of a run that gives one number per seed."""
SIGNAL, STRONG = 0, 1


def size_of(run: xr.Dataset) -> Sizes:
    """The sizes of a run, from its setting."""
    return sizes(schema.setting_of(run))


def exp(table: xr.DataArray) -> xr.DataArray:
    """`e^x` of every entry."""
    return table.copy(data=np.exp(table.values))


def loss_slopes(run: xr.Dataset) -> xr.DataArray:
    """−ℓ'(y f), the negative slope of the loss, of every sample."""
    return 1 / (1 + exp(run["margin"]))


def gain(run: xr.Dataset) -> xr.DataArray:
    """‖w_O‖² of each seed, as it was drawn."""
    return run["readout_gain"].isel({TIME: 0, HEAD: 0}, drop=True)


def scores(run: xr.Dataset) -> xr.DataArray:
    """Scores, dims `seed`, `time`, `sample`, `query_position`, `key_position`."""
    return run["pair_score"].isel({HEAD: 0}, drop=True)


def gaps(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Score of the winner less that of each other key, along `key_position`."""
    table, won = scores(run), series.WINNER[regime]
    return table.isel({KEY_POSITION: won}) - others(table, regime)


def others(table: xr.DataArray, regime: Regime) -> xr.DataArray:
    """The table without the winner's position."""
    count = table.sizes[KEY_POSITION]
    positions = [
        position for position in range(count) if position != series.WINNER[regime]
    ]
    return table.isel({KEY_POSITION: positions})


def winner(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Label times the winner's value, dims `seed`, `time`, `sample`."""
    values = series.values_at(run)
    return values.isel({KEY_POSITION: series.WINNER[regime]})


def unit(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """η‖μ‖²‖w_O‖², or η σ_p²d ‖w_O‖²/N: the scale of a step of the winner's value."""
    size = size_of(run)
    power = size.signal**2 if regime == "benign" else size.power / size.samples
    return size.learning_rate * power * gain(run)


def time_of_loss(run: xr.Dataset, level: float) -> np.ndarray:
    """Step at which the training loss falls to a level, by seed.

    A run mostly ends between two records; its end is the time then.
    """
    event = first_crossing(run, "loss", level=level, direction="down", scale="log")
    done = run["loss_at_end"].isel(stage=-1).values <= level
    return np.where(np.isnan(event.times) & done, run["end_time"].values, event.times)


def by_seed(run: xr.Dataset, times: np.ndarray | Event) -> xr.DataArray:
    """Times as a `DataArray` over seeds."""
    numbers = times.times if isinstance(times, Event) else np.asarray(times, float)
    return xr.DataArray(numbers, dims=SEED, coords={SEED: run[SEED]})


def at(run: xr.Dataset, times: np.ndarray) -> xr.Dataset:
    """The last record of each seed up to its time; the first where that is NaN."""
    upto = run["recorded"] & (run[TIME] <= by_seed(run, times))
    last = upto.sum(TIME).clip(min=1) - 1
    return run.isel({TIME: last})


def within(run: xr.Dataset, low: np.ndarray, high: np.ndarray) -> xr.DataArray:
    """Mask of the records in (low, high], with both times by seed."""
    time = run[TIME]
    inside = (time > by_seed(run, low)) & (time <= by_seed(run, high))
    return inside & run["recorded"]


def increments(table: xr.DataArray) -> xr.DataArray:
    """Increment from each record to the next, labelled by the earlier one."""
    return table.diff(TIME, label="lower")


def least(table: xr.DataArray) -> np.ndarray:
    """Minimum over all dims except `seed`."""
    return table.min([d for d in table.dims if d != SEED]).values


def most(table: xr.DataArray) -> np.ndarray:
    """Maximum over all dims except `seed`."""
    return table.max([d for d in table.dims if d != SEED]).values


def held(margin: np.ndarray | xr.DataArray, what: str) -> Seeds:
    """Check of a margin in each seed; where it is NaN the check does not hold."""
    return per_seed(margin, what)


def spread(values: np.ndarray | xr.DataArray) -> list[float]:
    """Least, median and largest over seeds, for printing."""
    return [float(f(values)) for f in (np.min, np.median, np.max)]


def medians(runs: Sequence[xr.Dataset], statistic: Statistic) -> np.ndarray:
    """Median of a statistic over seeds, for each run of a ladder."""
    return np.array([np.median(statistic(run)) for run in runs])
