"""Claims on Appendix E: signals and noise that grow in magnitude at every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims import stage_four as late
from attnflow.papers.signgd.claims.statistics import (
    TABLES,
    at,
    between,
    formula,
    sizes_of,
)
from attnflow.papers.signgd.claims.theorem import LONG
from attnflow.papers.signgd.conditions import CONDITION_3_1
from attnflow.papers.signgd.stages import series
from attnflow.schema.installation import xr


def _noise(run: xr.Dataset) -> xr.DataArray:
    part = late.during(run, formula(run, "T2"), formula(run, "T3"))
    return xr.concat([late.noise_outward(part, name) for name in TABLES], "table")


def _as_aligned(run: xr.Dataset) -> xr.DataArray:
    """Moves of noise in the direction of its query noise's sign at T2_SGN: 1 if all."""
    then = at(run, formula(run, "T2_SGN"), "query_neuron")
    sign = series.signs(series.noise(then, "query_neuron"))
    part = late.during(run, formula(run, "T2_SGN"), formula(run, "T2"))
    return xr.concat([late.noise_moves(part, name) * sign for name in TABLES], "table")


def _inside(
    low: str, high: Callable[[xr.Dataset], c.look.Times], run: xr.Dataset
) -> xr.DataArray:
    """The mask of moves from a formula's time to another time."""
    return c.look.both(between(run, formula(run, low), high(run)))


def _to(name: str) -> Callable[[xr.Dataset], c.look.Times]:
    return lambda run: formula(run, name)


def _to_end(run: xr.Dataset) -> float:
    return np.inf


def _in_stage_four(run: xr.Dataset) -> xr.DataArray:
    """The mask of moves from T4⁻, as printed, to T4."""
    return c.look.both(between(run, late.t4_minus(run), formula(run, "T4")))


def _following(run: xr.Dataset) -> xr.DataArray:
    """(|E_i| − m_k/2)/√m_k at T3, for each sample.

    E_i are the neurons whose query noise of sample i has the query signal's sign.
    """
    then = at(run, formula(run, "T3"), "query_neuron")
    signal, noise = (
        series.signs(select(then, "query_neuron"))
        for select in (series.signal, series.noise)
    )
    share = series.positive_share(signal * noise, ("head", "neuron"))
    return (share - 0.5) * np.sqrt(sizes_of(run).key_neurons)


def _against(queries: xr.DataArray) -> xr.DataArray:
    """Queries whose noise of the first sample is opposite to the signal."""
    signal = queries.sel(token=series.SIGNAL, drop=True)
    return queries.where(queries["token"] != "noise1", -signal)


_AGAINST = ("a sample against all", mutate.EVERY, "query_neuron", _against)
_whole = partial(c.Near, target=1.0, within=late.ROUNDING)
_EVERY_STEP = (
    "every step moves noise by η‖ξ‖₁ and signals by η (Equations 8 and 9), so that a "
    "move between records is that times the steps between them if all go one way"
)
_claim = partial(
    c.Claim,
    kind=c.Kind.UNIVERSAL,
    system=ev.DISJOINT,
    under=CONDITION_3_1,
    needs=ev.IDEAL,
    expected=c.Verdict.HOLDS,
    predicate=_EVERY_STEP,
    source=(
        "our runs, seeds 200–219. An earlier version judged the signs of moves "
        "between records, at n = 9 alone; now every step, and n = 10 too"
    ),
    settings=ev.LATTICE,
)
_SETS_T3 = {"key_neuron": "it only sets T3"}
CLAIMS = (
    _claim(
        id="C-LE.5-1",
        place="Lemma E.5 (1)",
        statement="From T2_SGN = 3T2′ to T2 every step moves the query noise and key "
        "noise of each pair in the direction of its sign at T2_SGN: the update of "
        "their sums is η Σ ε_i‖ξ_i‖₁.",
        judge=_whole(
            "moves in the direction of the sign at T2_SGN (1 at every step)",
            _as_aligned,
            when=partial(_inside, "T2_SGN", _to("T2")),
            period="from T2_SGN to T2",
        ),
        source="our runs, seeds 200–219. Written after seeing runs of other claims",
        survives={"holes": "the unknown records begin after T2"},
    ),
    _claim(
        id="C-LE.9",
        place="Lemma E.9, first part",
        statement="From T2 to T3 query noise and key noise of every pair grow in "
        "magnitude at every step.",
        judge=_whole(
            "moves of noise away from zero (1 at every step)",
            _noise,
            when=partial(_inside, "T2", _to("T3")),
            period="from T2 to T3",
        ),
    ),
    _claim(
        id="C-LE.23",
        place="Lemma E.23",
        statement="From T3 on every query signal grows in magnitude at every step.",
        judge=_whole(
            "moves of query signals away from zero (1 at every step)",
            partial(late.signal_outward, name="query_neuron"),
            when=partial(_inside, "T3", _to_end),
            period="from T3 on",
        ),
        predicate=f"{_EVERY_STEP}; printed up to T4⁻, judged up to 6 T4⁻",
        inert=_SETS_T3,
    ),
    _claim(
        id="C-LE.24",
        place="Lemma E.24",
        statement="From T3 on every key signal grows in magnitude at every step.",
        judge=_whole(
            "moves of key signals away from zero (1 at every step)",
            partial(late.signal_outward, name="key_neuron"),
            when=partial(_inside, "T3", _to_end),
            period="from T3 on",
        ),
        predicate=f"{_EVERY_STEP}; printed up to T4⁻, judged up to 6 T4⁻",
        inert={"query_neuron": "it only sets T3"},
    ),
    _claim(
        id="C-LE.34",
        place="Claim E.34, its conclusion; Remark E.40",
        statement="In Stage IV, from T4⁻ to T4, every query signal grows in magnitude "
        "at every step.",
        needs=LONG,
        judge=_whole(
            "moves of query signals away from zero (1 at every step)",
            partial(late.signal_outward, name="query_neuron"),
            when=_in_stage_four,
            period="from T4⁻ to T4",
        ),
        predicate=f"{_EVERY_STEP}; T4⁻ as printed, C3 = 4",
        source="our runs, seeds 200–204. Written after seeing runs of other claims",
        settings=f"{ev.LATTICE_ODD}, up to 120 T4⁻",
        inert={
            "key_neuron": "it only sets T3",
            "attention": "it only sets T4⁻, and signals grow before it too",
        },
        survives={"holes": "the unknown records begin after T4"},
    ),
    _claim(
        id="C-LE.27",
        place="Lemma E.27",
        statement="At T3 the query noise of every sample has the query signal's sign "
        "in at least m_k/2 − √m_k neurons, with probability 1 − δ.",
        kind=c.Kind.PROBABILITY,
        delta=ev.DELTA_LATTICE,
        judge=c.AtLeast(
            "(|E_i| − m_k/2)/√m_k at T3", _following, -1.0, unit="difference"
        ),
        predicate="the Õ is read as 1, and δ as Theorem 3.2's n^−1/3",
        source="our runs, seeds 200–219. An earlier version judged n = 9 alone",
        mutations=c.named(mutate.mapped(*_AGAINST)),
        inert={
            **_SETS_T3,
            "query_neuron": "none of the generated changes turns a sample against all",
        },
        survives={"holes": "the unknown records begin after T3"},
    ),
)
