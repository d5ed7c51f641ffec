"""Claims on Theorem 3 in Q: relative gains of distinct tokens."""

from __future__ import annotations

from functools import partial

from attnflow.claims import All, AtLeast, AtMost, Claim, Equal, Kind, Verdict
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import TOP, last, score
from attnflow.schema.installation import xr

OTHERS = ("distinct0@0", "distinct4@0", "distinct8@0")
# The flows keep to 1e-10 per step over some hundred steps; the gain of the nearest
# pair, r(0) = 0.23, is a difference of numbers four times as large.
FLOW = 1e-7


def deviations(run: xr.Dataset) -> xr.DataArray:
    """|ln(r/r(0)) − ln χ| over the last ln χ, for the top token over three others."""
    unit = run["attention_unit"].isel({"class": 0})
    gain = (unit.sel(token=TOP) / unit.sel(token=list(OTHERS))) ** 2 - 1
    growth = 2 * score(run, TOP)
    return abs(xr.ufuncs.log(gain / gain.isel(time=0, drop=True)) - growth) / last(
        growth
    )


def _top_unit(run: xr.Dataset) -> xr.DataArray:
    return run["attention_unit"].isel({"class": 0}).sel(token=TOP, drop=True)


def _below(run: xr.Dataset) -> xr.DataArray:
    """Ln χ/2 less f(0)²B, over the last ln χ/2."""
    growth, drive = score(run, TOP), run["drive_integral"].isel({"class": 0})
    first = _top_unit(run).isel(time=0, drop=True)
    return (growth - first**2 * drive) / last(growth)


def _above(run: xr.Dataset) -> xr.DataArray:
    """Ln χ/2 less B, over the last ln χ/2."""
    growth, drive = score(run, TOP), run["drive_integral"].isel({"class": 0})
    return (growth - drive) / last(growth)


def _rises(run: xr.Dataset, *, of_score: bool) -> xr.DataArray:
    series = score(run, TOP) if of_score else _top_unit(run)
    return series.diff("time", label="lower")


_not_negative = partial(AtLeast, bound=0.0, unit="difference")
BOUNDS = All(
    (
        _not_negative("ln χ less 2f(0)²B, over the last ln χ", _below),
        AtMost("ln χ less 2B, over the last ln χ", _above, 0.0, unit="difference"),
        _not_negative(
            "rise of z from record to record", partial(_rises, of_score=True)
        ),
        _not_negative(
            "rise of f from record to record", partial(_rises, of_score=False)
        ),
    )
)

_claim = partial(Claim, system=ev.Q, expected=Verdict.HOLDS, source=ev.FLOW_RUN)
CLAIMS = (
    _claim(
        id="E-Thm3-law",
        place="Theorem 3, Equation 11",
        statement="The relative gain of two distinct tokens of a class is r(t) = r(0) "
        "χ_l(t).",
        kind=Kind.IDENTITY,
        under=("1(b)", "Eq. 10"),
        needs={**ev.LAWS_Q, **ev.FIGURE_3_Q, **ev.MET_Q},
        judge=Equal("ln(r/r(0)) less ln χ, over the last ln χ", deviations, FLOW),
        predicate="the top token over three others at all records; the flow's rtol is "
        "1e-10 per step",
        settings=f"{ev.SMALL}, η_Y/η_Z = 1 and 10; {ev.FIGURE_3}; K = 3, M = 10⁸, η_Y "
        "= 0.5, η_Y/η_Z = 10, where Assumption 2 is met",
    ),
    _claim(
        id="E-Thm3-b",
        place="Theorem 3, Equation 12",
        statement="e^{2f(0)²B} ≤ χ ≤ e^{2B} for the dominant token, and its z and f "
        "rise throughout.",
        kind=Kind.UNIVERSAL,
        under=("1(b)", "Eq. 10", "dominant", "CT"),
        needs={**ev.FIGURE_3_Q, **ev.MET_Q},
        judge=BOUNDS,
        predicate="at all records, up to 1e-9 (the flow's tolerance); B = (η_Z/K) ∫ξ "
        "as in Z's flow. At the first record all are equal",
        settings=f"{ev.FIGURE_3}; K = 3, M = 10⁸, η_Y = 0.5, η_Y/η_Z = 10",
    ),
)
