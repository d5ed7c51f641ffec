"""Our claim on two-cycles: pairs that oscillate for ever at a fixed learning rate."""

from __future__ import annotations

from attnflow import claims as c
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import TABLES
from attnflow.papers.signgd.conditions import DISJOINT as DISJOINT_SUPPORTS
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

FINE, COARSE = 1.6e-13, 2.56e-12
"""Rates at which noise moves by its initial size in 60 steps, and in 4."""


def _steady(rate: float, horizon: float) -> Request:
    """The lattice with strong noise at a fixed learning rate, up to a few T2_SGN."""
    setting = {
        "learning_rate": rate,
        "growth": 0.0,
        "sigma_p": 0.02,
        "horizon": horizon,
        "records": 801,
        "record": ("key_neuron", "query_neuron"),
    }
    return Request("lattice", setting, seeds=ev.PLAN)


NEEDS = {"fine": _steady(FINE, 3e-5), "coarse": _steady(COARSE, 3e-5)}


def _unlike(run: xr.Dataset) -> xr.DataArray:
    """−1 for pairs of one sign and 1 for opposite signs at the third-to-last record."""
    query, key = (series.signs(series.noise(run, name)) for name in TABLES)
    return -(key * query).isel(time=-3, drop=True)


def _share(run: xr.Dataset) -> xr.DataArray:
    return series.positive_share(_unlike(run))


def _returns(run: xr.Dataset) -> xr.DataArray:
    """The fraction of unlike pairs that return after two steps, by seed; 1 of none."""
    first, second, third = (
        series.noise(run, "key_neuron").isel(time=row, drop=True)
        for row in (-3, -2, -1)
    )
    same = abs(third - first) < 1e-9 * abs(second - first)
    share = same.where(_unlike(run) > 0).mean(series.PAIR).fillna(1.0)
    return share.where(third.notnull().all(series.PAIR))


CLAIMS = (
    c.Claim(
        id="C-R-cycles",
        origin="ours",
        place="Lemma 4.2, for all pairs",
        statement=(
            "At a fixed learning rate a pair whose key and query noise cross zero in "
            "the same step oscillates for ever between two states of opposite signs; "
            "the share of such pairs falls with the rate."
        ),
        under=(*DISJOINT_SUPPORTS, "constant η"),
        kind=c.Kind.OBSERVATION,
        system=ev.DISJOINT,
        needs=NEEDS,
        judge=c.All(
            (
                c.AtLeast(
                    "coarse: share of pairs of opposite signs",
                    _share,
                    0.01,
                    unit="difference",
                    of=("coarse",),
                ),
                c.AtMost(
                    "fine: share of pairs of opposite signs",
                    _share,
                    0.01,
                    unit="difference",
                    of=("fine",),
                ),
                c.AtLeast(
                    "coarse: share of these that come back after two steps",
                    _returns,
                    0.99,
                    unit="difference",
                    of=("coarse",),
                ),
            )
        ),
        predicate="beyond four T2_SGN, where noise moves by its initial size in 4 "
        "steps (coarse; 2% to 6% on seeds 0–4) or in 60 (fine)",
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–209",
        settings="disjoint supports of 10⁶ coordinates, n = 9, m_k = m_v = 20, σ_p "
        "√s = 20; the theory assumes a small enough learning rate",
        survives={"holes": "the unknown records end before the last records"},
    ),
)
