"""Definition F.1: nine conditions of Phase 2 along L, n, m1 and m, without noise."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.papers.cooccurrence.claims import joint, positions, quiet
from attnflow.papers.cooccurrence.claims.other_sizes import (
    EVERY,
    NAMED,
    along,
    along_m,
    change_of,
    end_clock,
    growing,
)
from attnflow.papers.cooccurrence.claims.windows import (
    largest,
    least,
    phase_two,
    sizes,
    weights_by_type,
)
from attnflow.schema.installation import xr

_SELF = ("key_self_score", "query_self_score")


def _self_scores(run: xr.Dataset) -> xr.DataArray:
    """|changes of A_K and A_Q| over σ0² √m."""
    size = sizes(run)
    tables = [abs(change_of(run, name)) for name in _SELF]
    return xr.concat(tables, "matrix") / (size.first * size.width**0.5)


def _gain(run: xr.Dataset) -> xr.DataArray:
    return run["readout_gain"].isel(head=0, drop=True) / sizes(run).gain


def _pushed(run: xr.Dataset) -> xr.DataArray:
    """B times the mean logistic weight."""
    pull = run["pull_by_group"].sum("group", skipna=False)
    return run["readout_gain"].isel(head=0, drop=True) * pull


def _inner_part(run: xr.Dataset) -> xr.DataArray:
    part = abs(run["inner_part_rate"].isel(head=0, drop=True))
    return sizes(run).length * part / _pushed(run)


def _attention_part(run: xr.Dataset) -> xr.DataArray:
    return abs(run[joint.SCORES]) / _pushed(run)


def _weights(run: xr.Dataset) -> xr.DataArray:
    """Gaps of the order of class weights, and of 1/2 ≤ Σ2/Σ3 ≤ 2, over their sum."""
    both, first, second, neither = weights_by_type(run)
    rest = first + second + neither
    gaps = [
        *(one - neither for one in (first, second)),
        *(both - one for one in (first, second)),
        rest - both,
        *(2 * first - second, 2 * second - first),
    ]
    return xr.concat(gaps, "gap") / (both + rest)


def _readouts(run: xr.Dataset) -> xr.DataArray:
    named = run["value"].isel(head=0, drop=True).sel(token=NAMED)
    return abs(named) / np.log(sizes(run).width)


def _filler_part(run: xr.Dataset) -> xr.DataArray:
    """|Σ_l Σ_fillers G p| of each type, at uniform attention."""
    value = run["value"].isel(head=0, drop=True)
    parts: list[xr.DataArray] = [
        abs(value.sel(token=f"{kind}:0.0", drop=True)) * slots
        for kind, slots in zip(quiet.KINDS, quiet.slots(sizes(run).length), strict=True)
    ]
    return xr.concat(parts, "type")


CLAIMS: tuple[c.Claim, ...] = (
    along_m(
        id="A-F.1-nine",
        mutations=growing("pair_score"),
        place="Definition F.1, all nine conditions",
        statement="Phase 2 lasts from T1 to T*: each of the nine conditions holds "
        "there, along L, n and m1, and along m where n need not grow.",
        judge=c.All(
            (
                *along(
                    "1: changes of A_K, A_Q over σ0² √m",
                    largest(_self_scores),
                    "O-tilde",
                    EVERY,
                ),
                *along(
                    "2: L² |p − p(0)|",
                    largest(
                        lambda run: positions.changes(run) * sizes(run).length ** 2
                    ),
                    "O",
                    EVERY,
                ),
                *along("3: b / (σ1² m m1)", largest(_gain), "O", EVERY),
                *along(
                    "4: L |part of G' by W| / (b mean g)",
                    largest(_inner_part),
                    "o(1)",
                    ("m",),
                ),
                *along(
                    "4: part of outputs' rates by attention / (b mean g)",
                    largest(_attention_part),
                    "o(1)",
                    ("m",),
                ),
                c.AtLeast(
                    "5: gaps in the order of class weights",
                    _weights,
                    0.0,
                    unit="difference",
                    when=phase_two,
                    period="in Phase 2",
                    # Σ2 = Σ3 to rounding: their gap is 0.
                    rounding=1e-9,
                ),
                *along(
                    "6: least margin", least(lambda run: run["margin"]), "Omega", EVERY
                ),
                *along("7: |G| over log m", largest(_readouts), "O", EVERY),
                *along("8: fillers' part of outputs", largest(_filler_part), "O"),
                *along("9: σ1² m m1 T* / m", end_clock, "O", EVERY),
            )
        ),
        predicate="the fourth, o(1), along m; the eighth along L, n and m1, since "
        "along m n must grow too (A-F.15)",
    ),
)
