"""When stages end: detectors on what a run recorded, in steps of the run.

Shares and medians over pairs rather than the least of them: at the paper's own sizes
some pair breaks every strict rule early, and with disjoint supports a pair whose noise
inner products cross zero together swings for ever.
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
"""Where the median s21 has left 1/2: about t = 100 in setting (a), the paper's mark."""


def values_positive(run: xr.Dataset) -> Event:
    """`T1`: from when on every mean value noise is positive."""
    least = series.value_noise(run).min((HEAD, TOKEN), skipna=False)
    return settled(run, least, level=0.0, name="T1")


def noise_aligned(run: xr.Dataset, share: float = 0.98) -> Event:
    """`T2_SGN`: when this share of pairs has key and query noise of one sign."""
    return first_crossing(run, series.aligned(run), level=share, name="T2_SGN")


def signals_voted(run: xr.Dataset, share: float = 0.95) -> Event:
    """`T3`: when this share of neurons has opposite signals, and signals by vote."""
    return first_crossing(run, series.voted(run), level=share, name="T3")


def softmax_yields(run: xr.Dataset) -> Event:
    """`T4-`: from when on Lemma 4.5's ratio is below 1 in the median over pairs.

    For good, since before stage III signals are at their initial size and the ratio is
    of order 1.
    """
    ratio = series.dominance(run)
    return settled(run, ratio, level=1.0, direction="down", name="T4-")


def keys_turn(run: xr.Dataset, *, at: float | None = None) -> Event:
    """When the key noise of half of the minority moves with the query signal.

    For `at` see `minority`.
    """
    return _turn(run, "key_neuron", at)


def queries_turn(run: xr.Dataset, *, at: float | None = None) -> Event:
    """When the query noise of half of the minority moves with the query signal."""
    return _turn(run, "query_neuron", at)


def keys_follow(run: xr.Dataset, share: float = 1.0) -> Event:
    """From when on this share of key noise has the sign of the query signal."""
    found = series.following(run, "key_neuron")
    return settled(run, found, level=share, name="keys follow")


def queries_follow(run: xr.Dataset, share: float = 0.99) -> Event:
    """`T4`: from when on this share of query noise has the query signal's sign."""
    found = series.following(run, "query_neuron")
    return settled(run, found, level=share, name="T4")


def all_follow(run: xr.Dataset) -> Event:
    """From when on all query and key noise has the sign of the query signal."""
    shares = [series.following(run, f"{n}_neuron") for n in ("key", "query")]
    return settled(
        run, series.lesser(shares[0], shares[1]), level=1.0, name="all follow"
    )


def attention_leaves(run: xr.Dataset, level: float = 0.1) -> Event:
    """`T_attn`: when no signal pays more than this attention to signals."""
    most = series.signal_to_signal(run).max((SAMPLE, HEAD), skipna=False)
    return first_crossing(
        run, most, level=level, direction="down", scale="log", name="T_attn"
    )


def minority(run: xr.Dataset, *, at: float | None = None) -> xr.DataArray:
    """Pairs whose query noise is against the neuron's query signal, before stage IV.

    They are picked at the record nearest to step `at`, or, where that is not said, at
    the last record before the median s21 falls to 0.2; a seed in which it never does
    has none.

    **Returns:** dims `seed`, `head`, `neuron`, `token`.
    """
    query, toward = _at_pick(run, at)
    return (series.signs(query) * series.signs(toward)) < 0


def two_cycles(run: xr.Dataset, *, at: float | None = None) -> xr.DataArray:
    """How many pairs of each seed still have key and query noise of unlike signs.

    Counted where the minority is picked: a pair that crossed zero together swings.
    """
    place, known = _pick(run, at)
    key, query = (
        series.signs(series.noise(run, f"{n}_neuron").isel(time=place))
        for n in ("key", "query")
    )
    return ((key * query) < 0).sum(series.PAIR).where(known)


def turned(
    run: xr.Dataset, observable: str, *, at: float | None = None
) -> xr.DataArray:
    """The share of the minority whose noise moves with the query signal.

    From each record to the next, since the minority was picked; the time is the middle
    of the steps between them.
    """
    query, toward = _at_pick(run, at)
    against = (series.signs(query) * series.signs(toward)) < 0
    table = series.noise(run, observable)
    moves = series.signs(table.diff(TIME)) * series.signs(toward)
    share = (moves > 0).where(against).mean(series.PAIR)
    times = run[TIME].values
    middle = (times[1:] + times[:-1] - 1) / 2
    picked = run[TIME].isel(time=_pick(run, at)[0]).drop_vars(TIME)
    share = share.assign_coords({TIME: middle})
    return share.where(share[TIME] >= picked)


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """The times of an event in units of the first learning rate."""
    return clock_of(event.times, sizes(schema.setting_of(run)).growth)


def _turn(run: xr.Dataset, observable: str, at: float | None) -> Event:
    share = turned(run, observable, at=at)
    # Rows between two records are known where the later one is.
    known = run["recorded"].isel(time=slice(1, None)).drop_vars(TIME)
    between = xr.Dataset({"recorded": known.assign_coords(time=share[TIME])})
    return first_crossing(between, share, level=0.5, name=f"{observable} turns")


def _at_pick(run: xr.Dataset, at: float | None) -> tuple[xr.DataArray, xr.DataArray]:
    """Query noise and query signal where the minority is picked; NaN where nowhere."""
    place, known = _pick(run, at)
    tables = (look(run, "query_neuron") for look in (series.noise, series.signal))
    query, toward = (t.isel(time=place).where(known) for t in tables)
    return query.drop_vars(TIME), toward.drop_vars(TIME)


def _pick(run: xr.Dataset, at: float | None) -> tuple[xr.DataArray, xr.DataArray]:
    """Which record to pick the minority at, per seed, and whether there is one."""
    times = run[TIME].values
    if at is None:
        middle = series.noise_to_signal(run).median((SAMPLE, HEAD))
        when = first_crossing(run, middle, level=LEFT_HALF, direction="down").times
    else:
        when = np.full(run.sizes[SEED], float(at))
    places = np.searchsorted(times, np.nan_to_num(when), side="right") - 1
    if at is not None:
        places[:] = np.abs(times - at).argmin()
    coords = {SEED: run[SEED]}
    return (
        xr.DataArray(np.maximum(places, 0), dims=SEED, coords=coords),
        xr.DataArray(np.isfinite(when), dims=SEED, coords=coords),
    )
