"""Claims on T4⁻ and Lemmas 4.6 and 4.7 (Stage IV): outvoted keys turn, then queries."""

from __future__ import annotations

from functools import partial

from attnflow import claims as c
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.small_constant import over_formula
from attnflow.papers.signgd.claims.statistics import (
    formula,
    on_clock,
    when,
)
from attnflow.papers.signgd.stages import (
    keys_turn,
    queries_turn,
    turned_share,
)
from attnflow.schema.installation import xr


def _turn_of_keys(run: xr.Dataset) -> xr.DataArray:
    return when(run, keys_turn(run)) / formula(run, "T4-")


def _shares(factor: float, run: xr.Dataset) -> xr.DataArray:
    """The fraction of minority keys that move with the signal at a multiple of T4⁻."""
    share = turned_share(run, "key_neuron")
    later = on_clock(run.isel(time=slice(1, None)))
    share = share.assign_coords(time=later["time"].values)
    return c.look.at(later, factor * formula(run, "T4-"), share, how="nearest")


def delay(run: xr.Dataset) -> xr.DataArray:
    """The time at which minority queries turn over that of minority keys, by seed."""
    return when(run, queries_turn(run)) / when(run, keys_turn(run))


_PRINTED = "T4⁻ as printed: inequalities (29) and (30) for all neurons and pairs"
_SOURCE = (
    "our runs, seeds 200–204. An earlier version judged when (30) ends for the "
    "median pair, which is later, and exceeds the upper formula below s = 10⁶⁰"
)
CLAIMS = (
    ev.on_ladder(
        id="C-LE.21",
        place="Lemma E.21",
        statement="T4⁻ is at least √(0.99 (π/2) log(σ_p s/3√2n))/(η √m_k σ_p s).",
        judge=c.FromSizeOn(
            "T4⁻ over its lower formula",
            partial(over_formula, "T4-_lo"),
            "support",
            least=1,
        ),
        predicate=_PRINTED,
        source=_SOURCE,
        survives={"holes": "the unknown records end before T4⁻"},
    ),
    ev.on_ladder(
        id="C-LE.25",
        place="Lemma E.25",
        statement="T4⁻ is at most √(1.01 (π/2) log(σ_p s))/(η √m_k σ_p s).",
        judge=c.FromSizeOn(
            "T4⁻ over its upper formula",
            partial(over_formula, "T4-_hi"),
            "support",
            most=1.0,
        ),
        predicate=_PRINTED,
        source=_SOURCE,
        survives={"holes": "the unknown records end before T4⁻"},
    ),
    ev.on_ladder(
        id="C-L4.6",
        place="Lemma 4.6, with θ_c = 0.1",
        statement="The minority's keys move with their own sign up to T4⁻ and with the "
        "query signal from (1 + θ_c) T4⁻ on: half of them have turned at T4⁻ = "
        "√((π/2) log(4√(2/π) σ_p s))/(η √m_k σ_p s) within 2%, hardly any at 0.9 of "
        "it, and nearly all at 1.1 of it.",
        kind=c.Kind.UNIVERSAL,
        judge=c.All(
            (
                c.Near(
                    "half of minority keys turned, over T4⁻", _turn_of_keys, 1.0, 0.02
                ),
                c.AtMost(
                    "share turned at 0.9 T4⁻",
                    partial(_shares, 0.9),
                    0.05,
                    unit="difference",
                ),
                c.AtLeast(
                    "share turned at 1.1 T4⁻",
                    partial(_shares, 1.1),
                    0.95,
                    unit="difference",
                ),
            )
        ),
    ),
    ev.on_lattice(
        id="C-L4.7",
        place="Lemma 4.7",
        statement="The minority's queries turn at twice the time at which its keys do, "
        "within 2.5%.",
        judge=c.Near(
            "time of queries over that of keys", delay, 2.0, 0.05, unit="difference"
        ),
        predicate="half of the minority has turned (1.99 on seeds 0–4)",
    ),
)
