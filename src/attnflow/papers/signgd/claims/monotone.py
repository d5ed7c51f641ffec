"""Claims on Appendix E: signals and noise that grow in magnitude through a stage."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import (
    at,
    between,
    both,
    formula,
    on_clock,
    sizes_of,
    when,
)
from attnflow.papers.signgd.conditions import CONDITION_3_1
from attnflow.papers.signgd.stages import series, softmax_yields
from attnflow.schema.libraries import xr


def _outward(table: xr.DataArray) -> xr.DataArray:
    """1 where an entry moves away from zero to the next record, −1 where towards it."""
    return series.signs(c.look.steps(table)) * series.signs(table)


def _signals(name: str, run: xr.Dataset) -> xr.DataArray:
    return _outward(series.signal(on_clock(run), name))


def _noise(run: xr.Dataset) -> xr.DataArray:
    return _outward(both(on_clock(run), "noise"))


def _inside(
    low: str, high: Callable[[xr.Dataset], c.look.Times], run: xr.Dataset
) -> xr.DataArray:
    """The mask of steps from a formula's time to another time."""
    return c.look.both(between(run, formula(run, low), high(run)))


def _t3(run: xr.Dataset) -> xr.DataArray:
    return formula(run, "T3")


def _t4(run: xr.Dataset) -> xr.DataArray:
    """T4⁻ as it is detected, in the median pair."""
    return when(run, softmax_yields(run))


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


_outwards = partial(c.AtLeast, bound=0.0, unit="difference", strict=True)
_claim = partial(
    c.Claim,
    kind=c.Kind.UNIVERSAL,
    system=ev.DISJOINT,
    under=CONDITION_3_1,
    needs=ev.IDEAL,
    expected=c.Verdict.HOLDS,
    predicate="between records, of every neuron",
    source="our runs, seeds 200–219. Added with results of other claims in view",
    settings=ev.LATTICE,
)
CLAIMS = (
    _claim(
        id="C-LE.9",
        place="Lemma E.9, first part",
        statement="From T2 to T3 query noise and key noise of every pair grow in "
        "magnitude at every step.",
        judge=_outwards(
            "moves of noise away from zero (1) or towards it (−1)",
            _noise,
            when=partial(_inside, "T2", _t3),
            period="from T2 to T3",
        ),
    ),
    _claim(
        id="C-LE.23",
        place="Lemma E.23; the conclusion of Claim E.34; Remark E.40",
        statement="From T3 on every query signal grows in magnitude at every step.",
        judge=_outwards(
            "moves of query signals away from zero (1) or towards it (−1)",
            partial(_signals, "query_neuron"),
            when=partial(_inside, "T3", lambda _: np.inf),
            period="from T3 on",
        ),
        inert={"key_neuron": "it only sets T3"},
    ),
    _claim(
        id="C-LE.24",
        place="Lemma E.24",
        statement="From T3 to T4⁻ every key signal grows in magnitude at every step.",
        judge=_outwards(
            "moves of key signals away from zero (1) or towards it (−1)",
            partial(_signals, "key_neuron"),
            when=partial(_inside, "T3", _t4),
            period="from T3 to T4⁻",
        ),
        predicate="between records, of every neuron; T4⁻ is read in the median pair",
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
        mutations=c.named(
            mutate.mapped("a sample against all", "lattice", "query_neuron", _against)
        ),
        inert={
            "key_neuron": "it only sets T3",
            "query_neuron": "none of the generated changes turns a sample against all",
        },
        survives={"holes": "the hole begins after T3"},
    ),
)
