"""Claims on the speed γ, early and late: Lemma 9 and Theorem 1(b)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.papers.scansnap.claims.decoder import COURSES
from attnflow.papers.scansnap.claims.evidence import DECODER, FLOW_RUN
from attnflow.schema.conditions import MUCH
from attnflow.schema.installation import xr

# The flow keeps to 1e-12 per step, over a thousand steps.
FLOW = 1e-9
SIZES = "η_Y t/K = 10⁻⁷ … 10⁶, M = 10³ … 10⁷"


def early(run: xr.Dataset) -> xr.DataArray:
    """Records up to t₀' = K ln M/η_Y, from the first visit on.

    By Remark 3 that visit brings η_Y t/K to η_Y ≫ M^−0.99.
    """
    M = run["vocabulary"]
    return (run["clock"] >= MUCH * M**-0.99) & (run["clock"] <= np.log(M))


def late(run: xr.Dataset) -> xr.DataArray:
    """Records from t₀ = 2(1 + ω₁) K ln M/η_Y on."""
    return run["clock"] >= 2 * run["upper_root"]


def _most(table: xr.DataArray, mask: xr.DataArray) -> xr.DataArray:
    """The largest entry inside a mask, by M."""
    return xr.where(mask, table, -np.inf).max("clock", skipna=False)


def _early_speed(run: xr.Dataset) -> xr.DataArray:
    """The largest γ/(η_Y t/K) up to t₀', by M."""
    return _most(run["speed"] / run["clock"], early(run))


def _early_height(run: xr.Dataset) -> xr.DataArray:
    return _most(run["log_odds"] / run["clock"], early(run))


def _late_height(run: xr.Dataset) -> xr.DataArray:
    log = np.log(run["clock"] * run["vocabulary"])
    return _most(run["log_odds"] / log, late(run))


def _late_speed(run: xr.Dataset, *, printed: bool) -> xr.DataArray:
    """The largest γ over its late form from t₀ on, by M."""
    clock = run["clock"]
    log = np.log(clock if printed else clock * run["vocabulary"])
    return _most(run["speed"] * clock / log, late(run))


def _early_bound(run: xr.Dataset) -> xr.DataArray:
    """e^{Mh} over min(M − 1, (M − 1)Mh)."""
    u = run["log_odds"]
    return xr.ufuncs.exp(u) / ((run["vocabulary"] - 1) * xr.ufuncs.minimum(u, 1.0))


def _late_bound(run: xr.Dataset) -> xr.DataArray:
    """e^{Mh} over max(M − 1, (M − 1)Mh)."""
    u = run["log_odds"]
    return xr.ufuncs.exp(u) / ((run["vocabulary"] - 1) * xr.ufuncs.maximum(u, 1.0))


def _printed_ratios(evidence: c.Evidence) -> list[float]:
    """The largest γ η_Y t/(K ln(η_Y t/K)) from t₀ on, by M."""
    run = evidence["courses"].isel(seed=0)
    return _late_speed(run, printed=True).values.tolist()


_ladder = partial(c.Rungs, order="O", size="vocabulary", constant=2.0)
EARLY = _ladder("γ over η_Y t/K, largest up to t₀'", _early_speed)
LATE = _ladder(
    "γ over K ln(M η_Y t/K)/(η_Y t), largest from t₀ on",
    partial(_late_speed, printed=False),
)
SCAN = c.All(
    (
        c.AtMost(
            "e^{Mh} over min(M − 1, (M − 1)Mh)",
            _early_bound,
            1.0,
            when=early,
            period="from the first visit to t₀'",
            rounding=FLOW,
        ),
        _ladder("M h over η_Y t/K, largest up to t₀'", _early_height),
        EARLY,
    )
)
SNAP = c.All(
    (
        c.AtLeast(
            "e^{Mh} over max(M − 1, (M − 1)Mh)",
            _late_bound,
            1.0,
            when=late,
            period="from t₀ on",
            rounding=FLOW,
        ),
        _ladder("M h over ln(M η_Y t/K), largest from t₀ on", _late_height),
        LATE,
    )
)
PRINTED = _ladder(
    "γ over K ln(η_Y t/K)/(η_Y t), largest from t₀ on",
    partial(_late_speed, printed=True),
)

_claim = partial(
    c.Claim,
    kind=c.Kind.ASYMPTOTIC,
    system=DECODER,
    needs=COURSES,
    under=("Eq. 26", "Y(0)", "M"),
    expected=c.Verdict.HOLDS,
    source=FLOW_RUN,
    settings=SIZES,
)
CLAIMS = (
    _claim(
        id="E-Lem9-i1",
        place="Lemma 9, first part",
        statement="For t ≤ K ln M/η_Y, e^{Mh} ≤ min(M − 1, (M − 1) M h), h = O(η_Y "
        "t/(MK)) and γ = O(η_Y t/K).",
        judge=SCAN,
        predicate=(
            "from the first visit on, for which Remark 3 has η_Y ≫ M^−0.99; before "
            "that, at M h < 1/M, the inequality is false (note E-N8b)"
        ),
        source=f"{FLOW_RUN}; that Remark 3 excludes the start was noticed with "
        "results in view",
    ),
    _claim(
        id="E-Lem9-i2",
        place="Lemma 9, second part",
        statement="For t ≥ 2(1 + ω₁) K ln M/η_Y, e^{Mh} ≥ max(M − 1, (M − 1) M h), h = "
        "O(ln(M η_Y t/K)/M) and γ = O(K ln(M η_Y t/K)/(η_Y t)).",
        judge=SNAP,
        predicate="at t₀ the ratio of γ is 2u²/((1 + u)(u + ln 2)) to 1/M, with e^u = "
        "(M − 1)u: 2 is its limit",
    ),
    _claim(
        id="E-Thm1-b",
        place="Theorem 1(b); Theorem 4",
        statement="γ = O(η_Y t/K) up to K ln M/η_Y, and γ = O(K ln(η_Y t/K)/(η_Y t)) "
        "from 2(1 + δ') K ln M/η_Y on.",
        judge=c.All((EARLY, PRINTED), also={"printed ratio by M": _printed_ratios}),
        predicate=(
            "one constant for all M: the printed ratio at t₀ grows as ln M/ln ln M, "
            "which a ladder of powers can tell from a constant only at very large M"
        ),
        expected=c.Verdict.INCONCLUSIVE,
        source=f"{FLOW_RUN}; the ratios at t₀ itself are in note E-N17a",
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            "The late form is K ln(M η_Y t/K)/(η_Y t), as in Lemma 9: with it the "
            "constant 2 is enough for every M.",
            c.All((EARLY, LATE)),
        ),
        witness=c.Witness(
            "witnesses/speed.py",
            {
                "ratio at 1000": ("printed ratio by M", 0),
                "ratio at 10000000": ("printed ratio by M", 4),
            },
        ),
    ),
)
