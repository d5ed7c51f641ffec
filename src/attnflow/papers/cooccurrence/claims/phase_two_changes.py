"""Phase 2: growth of the readout gain, and changes that stay small beside it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.changes import KEY, QUERY, VALUE
from attnflow.papers.cooccurrence.claims.windows import (
    band,
    ladder,
    largest,
    phase_two,
    sizes,
    with_width,
)
from attnflow.schema.installation import xr

_claim = partial(templates.at_large_widths, needs=ev.LARGE_WIDTHS)
_bounded = partial(ladder, constant=2.0)


def at_first(run: xr.Dataset, table: xr.DataArray) -> xr.DataArray:
    """A table at the first record of Phase 2."""
    return table.isel(time=phase_two(run).argmax("time")).drop_vars("time")


def _gain(run: xr.Dataset) -> xr.DataArray:
    return run["readout_gain"].isel(head=0, drop=True) / sizes(run).gain


def _gain_growth(run: xr.Dataset) -> xr.DataArray:
    """(b − b(T1)) σ1² m m1 / (m1 log²m)."""
    size, gain = sizes(run), run["readout_gain"].isel(head=0, drop=True)
    growth = gain - at_first(run, gain)
    return growth * size.gain / (size.neurons * math.log(size.width) ** 2)


def _since_first(run: xr.Dataset, name: str) -> xr.DataArray:
    """Bound on changes since T1 from those since time 0, by the triangle inequality."""
    return run[name] + at_first(run, run[name])


def _value_change(run: xr.Dataset) -> xr.DataArray:
    """The largest |A_V − A_V(T1)| over log m log(b0 t) / (σ1² m m1)."""
    size = sizes(run)
    clock = stages.clock(run).where(run["time"] > 0)
    logs = math.log(size.width) * np.log(clock)
    return _since_first(run, VALUE) * size.gain / logs


def _inner_part(run: xr.Dataset) -> xr.DataArray:
    """L max_μ |Σ_j a_j w_j' W_V μ| / (b mean g)."""
    pull = run["pull_by_group"].sum("group", skipna=False)
    gain = run["readout_gain"].isel(head=0, drop=True)
    part = abs(run["inner_part_rate"].isel(head=0, drop=True))
    return sizes(run).length * part / (gain * pull)


def _self_scores(run: xr.Dataset) -> xr.DataArray:
    """The largest change of A_K and A_Q over σ0² / (σ1² m m1)."""
    size = sizes(run)
    changes = [_since_first(run, name) for name in (KEY, QUERY)]
    return xr.concat(changes, "matrix") * size.gain / size.first


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-F.9",
        place="Corollary F.9; Lemma F.10; Definition F.1, third condition",
        statement="The readout gain b grows by O(m1 log²m / (σ1² m m1)) in phase 2, "
        "Õ(m1/m), and stays Θ(σ1² m m1).",
        judge=c.All(
            (
                _bounded(
                    "(b − b(T1)) σ1² m m1 / (m1 log²m)", largest(_gain_growth), "O"
                ),
                *band("b / (σ1² m m1)", _gain, "theta"),
            )
        ),
        source=f"{ev.THEORY_RUNS}: true only asymptotically, since b grows 3.7-fold at "
        "m = 512 and by 7% at m = 8192",
        mutations=c.named(with_width("readout_gain", 0.1)),
    ),
    _claim(
        id="A-F.11",
        place="Lemma F.11, last display",
        statement="In phase 2 inner products of values change by at most "
        "O(log m log t / (σ1² m m1)).",
        judge=_bounded(
            "change of A_V over log m log(b0 t) / (σ1² m m1)",
            largest(_value_change),
            "O",
        ),
        predicate="t in units of 1/b0; changes since T1 are bounded by those since "
        "time 0 at both times",
        mutations=c.named(with_width(VALUE, 0.2)),
    ),
    _claim(
        id="A-F.12",
        place="Corollary F.12; Definition F.1, fourth condition, first display",
        statement="In phase 2 the part of G' that is due to W is o(1/L) beside b times "
        "the mean logistic weight, for every token.",
        judge=ladder("L max_μ |part by W| / (b mean g)", largest(_inner_part), "o(1)"),
        needs=ev.LARGE_TABLES,
        mutations=c.named(with_width("inner_part_rate", 2.5)),
    ),
    _claim(
        id="A-F.19",
        place="Lemma F.19; Definition F.1, first condition",
        statement="In phase 2 inner products of keys, and those of queries, change by "
        "at most Õ(σ0² √m / (√m σ1² m m1)).",
        judge=_bounded(
            "change of A_K, A_Q over σ0² / (σ1² m m1)",
            largest(_self_scores),
            "O-tilde",
            max_log_power=3.0,
        ),
        predicate="powers of log m up to 3: the proof has one from readouts, one from "
        "time and one inside the scores' Õ; changes since T1 are bounded by those "
        "since time 0 at both times",
        mutations=c.named(with_width((KEY, QUERY), 0.5)),
    ),
)
