"""Ends of stages, in steps of the run.

They use fractions and medians over pairs rather than minima: at the paper's sizes some
pair violates every strict rule early, and with disjoint supports a pair whose key and
query noise cross zero in the same step oscillates for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.claims.stages import Event, Stage, first_crossing
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import formulas, series
from attnflow.papers.signgd.stages.clock import clock_of
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from jaxtyping import Float

NEURONS = ("key_neuron", "query_neuron")
LEFT_HALF = 0.2
"""The median s21 at which the minority is selected: t ≈ 100 in setting (a)."""

values_positive = Stage(
    "T1",
    series.least_value_noise,
    "all mean value noise > 0 from then on",
    detector="settled",
    needs=("value",),
)
noise_aligned = Stage(
    "T2_SGN",
    series.aligned,
    "key and query noise of the same sign in 98% of pairs",
    level=0.98,
    needs=NEURONS,
)
signals_voted = Stage(
    "T3",
    series.voted,
    "signals opposite and as voted by noise, in 95% of neurons",
    level=0.95,
    needs=NEURONS,
)
# The last crossing, not the first: before stage III signals are at their initial size
# and the ratio is of order 1.
softmax_yields = Stage(
    "T4-_lo",
    series.dominance,
    "s21 s22 |q_i| ≤ 2 s11 s12 |q_μ| in the median pair",
    detector="settled",
    level=1.0,
    direction="down",
    needs=(*NEURONS, "attention"),
)
keys_follow = Stage(
    "keys follow",
    partial(series.following, observable="key_neuron"),
    "all key noise has the sign of the query signal from then on",
    detector="settled",
    level=1.0,
    needs=NEURONS,
)
queries_follow = Stage(
    "T4",
    partial(series.following, observable="query_neuron"),
    "99% of query noise has the sign of the query signal from then on; C3 = "
    f"{formulas.LARGE_CONSTANT:g} (ours)",
    detector="settled",
    level=0.99,
    needs=NEURONS,
)
all_follow = Stage(
    "all follow",
    series.all_following,
    "all query and key noise has it from then on",
    detector="settled",
    level=1.0,
    needs=NEURONS,
)
attention_leaves = Stage(
    "T_attn",
    series.largest_signal_to_signal,
    "s11 ≤ 0.1 in every sample",
    level=0.1,
    direction="down",
    scale="log",
    needs=("attention",),
)


@dataclass(frozen=True)
class Turn:
    """When half of the minority's noise moves in the query signal's direction.

    A stage whose series lies between the records: see `turned_share`.
    """

    name: str
    observable: str
    meaning: str
    needs: tuple[str, ...] = (*NEURONS, "attention")

    def __call__(self, run: xr.Dataset) -> Event:
        """The event in each seed of a run."""
        share = turned_share(run, self.observable)
        # None has turned before the minority is selected: a NaN would be a hole.
        is_later = share[TIME] >= _selection_time(run, None)
        share = share.where(is_later, 0.0)
        # Rows between two records are known where the later one is.
        is_recorded = run["recorded"].isel(time=slice(1, None)).drop_vars(TIME)
        between = xr.Dataset({"recorded": is_recorded.assign_coords(time=share[TIME])})
        return first_crossing(between, share, level=0.5, name=self.name)

    def missing(self, run: xr.Dataset) -> tuple[str, ...]:
        """The variables that it needs and that the run has not recorded."""
        return tuple(name for name in self.needs if name not in run)


keys_turn = Turn("T4-_hi", "key_neuron", "half of the minority's key noise has turned")
queries_turn = Turn(
    "2 T4-_hi", "query_neuron", "half of the minority's query noise has turned"
)


def minority(run: xr.Dataset, *, at: float | None = None) -> xr.DataArray:
    """Pairs whose query noise is opposite in sign to the query signal before stage IV.

    They are selected at the record nearest to step `at`, or, without `at`, at the last
    record before the median s21 falls to 0.2; a seed in which it never does has none.

    **Returns:** dims `seed`, `head`, `neuron`, `token`.
    """
    query, toward = _queries_at_selection(run, at)
    return (series.signs(query) * series.signs(toward)) < 0


def two_cycles(run: xr.Dataset, *, at: float | None = None) -> xr.DataArray:
    """The number of pairs of each seed with key and query noise of opposite signs.

    Counted where the minority is selected: such a pair crossed zero in one step, and
    oscillates with period two.
    """
    record, is_reached = _minority_record(run, at)
    key, query = (
        series.signs(series.noise(run, name).isel(time=record)) for name in NEURONS
    )
    return ((key * query) < 0).sum(series.PAIR).where(is_reached)


def turned_share(
    run: xr.Dataset, observable: str, *, at: float | None = None
) -> xr.DataArray:
    """The fraction of the minority whose noise moves in the query signal's direction.

    From each record to the next, after the minority was selected, and NaN before; the
    time is the middle of the steps between them.
    """
    query, toward = _queries_at_selection(run, at)
    against = (series.signs(query) * series.signs(toward)) < 0
    table = series.noise(run, observable)
    moves = series.signs(table.diff(TIME)) * series.signs(toward)
    share = (moves > 0).where(against).mean(series.PAIR)
    share = share.where((moves.notnull() | ~against).all(series.PAIR))
    times = run[TIME].values
    middle = (times[1:] + times[:-1] - 1) / 2
    share = share.assign_coords({TIME: middle})
    return share.where(share[TIME] >= _selection_time(run, at))


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """The times of an event in units of the first learning rate."""
    return clock_of(event.times, sizes(schema.setting_of(run)).growth)


def _selection_time(run: xr.Dataset, at: float | None) -> xr.DataArray:
    return run[TIME].isel(time=_minority_record(run, at)[0]).drop_vars(TIME)


def _queries_at_selection(
    run: xr.Dataset, at: float | None
) -> tuple[xr.DataArray, xr.DataArray]:
    """Query noise and signal where the minority is selected; NaN where it is not."""
    record, is_reached = _minority_record(run, at)
    tables = (select(run, "query_neuron") for select in (series.noise, series.signal))
    query, toward = (t.isel(time=record).where(is_reached) for t in tables)
    return query.drop_vars(TIME), toward.drop_vars(TIME)


def _minority_record(
    run: xr.Dataset, at: float | None
) -> tuple[xr.DataArray, xr.DataArray]:
    """The record at which the minority is selected, per seed, and whether it exists."""
    times = run[TIME].values
    if at is None:
        middle = series.noise_to_signal(run).median((SAMPLE, HEAD), skipna=False)
        when = first_crossing(run, middle, level=LEFT_HALF, direction="down").times
    else:
        when = np.full(run.sizes[SEED], float(at))
    records = np.searchsorted(times, np.nan_to_num(when), side="right") - 1
    if at is not None:
        records[:] = np.abs(times - at).argmin()
    coords = {SEED: run[SEED]}
    return (
        xr.DataArray(np.maximum(records, 0), dims=SEED, coords=coords),
        xr.DataArray(np.isfinite(when), dims=SEED, coords=coords),
    )
