"""Detectors of the ends of stages, in steps of the run.

They use fractions and medians over pairs rather than minima: at the paper's sizes some
pair violates every strict rule early, and with disjoint supports a pair whose key and
query noise cross zero in the same step oscillates for ever.
"""

import numpy as np
import xarray as xr
from jaxtyping import Float

from attnflow import schema
from attnflow.claims.stages import Event, first_crossing, settled
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series
from attnflow.papers.signgd.stages.clock import clock_of
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME, TOKEN

LEFT_HALF = 0.2
"""The median s21 at which the minority is selected: t ≈ 100 in setting (a)."""


def values_positive(run: xr.Dataset) -> Event:
    """`T1`: the time from which every mean value noise is positive."""
    least = series.value_noise(run).min((HEAD, TOKEN), skipna=False)
    return settled(run, least, level=0.0, name="T1")


def noise_aligned(run: xr.Dataset, share: float = 0.98) -> Event:
    """`T2_SGN`: when this fraction of pairs has key and query noise of one sign."""
    return first_crossing(run, series.aligned(run), level=share, name="T2_SGN")


def signals_voted(run: xr.Dataset, share: float = 0.95) -> Event:
    """`T3`: when this fraction of neurons has opposite signals that follow the vote."""
    return first_crossing(run, series.voted(run), level=share, name="T3")


def softmax_yields(run: xr.Dataset) -> Event:
    """`T4-`: the time from which the ratio of Lemma 4.5 is below 1 in the median pair.

    The last crossing, not the first: before stage III signals are at their initial size
    and the ratio is of order 1.
    """
    ratio = series.dominance(run)
    return settled(run, ratio, level=1.0, direction="down", name="T4-")


def keys_turn(run: xr.Dataset, *, at: float | None = None) -> Event:
    """When half of the minority's key noise moves in the direction of the query signal.

    For `at` see `minority`.
    """
    return _turn(run, "key_neuron", at)


def queries_turn(run: xr.Dataset, *, at: float | None = None) -> Event:
    """When half of the minority's query noise moves in the query signal's direction."""
    return _turn(run, "query_neuron", at)


def keys_follow(run: xr.Dataset, share: float = 1.0) -> Event:
    """The time from which this fraction of key noise has the query signal's sign."""
    following = series.following(run, "key_neuron")
    return settled(run, following, level=share, name="keys follow")


def queries_follow(run: xr.Dataset, share: float = 0.99) -> Event:
    """`T4`: the time from which this fraction of query noise has the signal's sign."""
    following = series.following(run, "query_neuron")
    return settled(run, following, level=share, name="T4")


def all_follow(run: xr.Dataset) -> Event:
    """The time from which all query and key noise has the sign of the query signal."""
    shares = [series.following(run, f"{n}_neuron") for n in ("key", "query")]
    return settled(
        run, series.lesser(shares[0], shares[1]), level=1.0, name="all follow"
    )


def attention_leaves(run: xr.Dataset, level: float = 0.1) -> Event:
    """`T_attn`: when no signal query pays more than `level` to signals."""
    most = series.signal_to_signal(run).max((SAMPLE, HEAD), skipna=False)
    return first_crossing(
        run, most, level=level, direction="down", scale="log", name="T_attn"
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
        series.signs(series.noise(run, f"{n}_neuron").isel(time=record))
        for n in ("key", "query")
    )
    return ((key * query) < 0).sum(series.PAIR).where(is_reached)


def turned_share(
    run: xr.Dataset, observable: str, *, at: float | None = None
) -> xr.DataArray:
    """The fraction of the minority whose noise moves in the query signal's direction.

    From each record to the next, after the minority was selected; the time is the
    middle of the steps between them.
    """
    query, toward = _queries_at_selection(run, at)
    against = (series.signs(query) * series.signs(toward)) < 0
    table = series.noise(run, observable)
    moves = series.signs(table.diff(TIME)) * series.signs(toward)
    share = (moves > 0).where(against).mean(series.PAIR)
    times = run[TIME].values
    middle = (times[1:] + times[:-1] - 1) / 2
    selected_at = run[TIME].isel(time=_minority_record(run, at)[0]).drop_vars(TIME)
    share = share.assign_coords({TIME: middle})
    return share.where(share[TIME] >= selected_at)


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """The times of an event in units of the first learning rate."""
    return clock_of(event.times, sizes(schema.setting_of(run)).growth)


def _turn(run: xr.Dataset, observable: str, at: float | None) -> Event:
    share = turned_share(run, observable, at=at)
    # Rows between two records are known where the later one is.
    is_recorded = run["recorded"].isel(time=slice(1, None)).drop_vars(TIME)
    between = xr.Dataset({"recorded": is_recorded.assign_coords(time=share[TIME])})
    return first_crossing(between, share, level=0.5, name=f"{observable} turns")


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
        middle = series.noise_to_signal(run).median((SAMPLE, HEAD))
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
