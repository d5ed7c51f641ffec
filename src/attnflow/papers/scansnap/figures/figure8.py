"""Figure 8: h* of discrete steps and h of the flow, for the decoder alone."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from attnflow.figures.exhibits import Curve, Curves, Panels, Tables, family
from attnflow.papers.scansnap.settings import Heights
from attnflow.papers.scansnap.systems.decoder import log_odds
from attnflow.schema.declarations import Evidence, Exhibit, Numbers, Request
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

SMALL_RATE_GAP = 1 / (2 * math.e)
"""The largest (h* − h) M/η_Y for small rates, by second order of Euler's method."""
SHOWN_VOCABULARY, SHOWN_VISITS = 30, 14
RATES = Heights().value_rates


def gap(evidence: Evidence) -> xr.DataArray:
    """(h* − h) M/η_Y, by vocabulary, rate and visit; h is recorded as M h."""
    run = evidence["heights"]
    difference = (run["discrete"] - run["continuous"]).isel({SEED: 0}, drop=True)
    return difference / difference["value_rate"]


def largest(t: Tables) -> xr.DataArray:
    """The largest gap, by vocabulary and rate."""
    return gap(t.runs).max("visit", skipna=False)


def _steps(evidence: Evidence) -> xr.DataArray:
    """M h* of the first visits."""
    heights = evidence["heights"]["discrete"].isel({SEED: 0}, drop=True)
    here = {"vocabulary": SHOWN_VOCABULARY, "visit": slice(0, SHOWN_VISITS)}
    return heights.sel(here, drop=True)


def _flow(evidence: Evidence) -> xr.DataArray:
    """M h of the first visits, and between them."""
    visits = np.linspace(0, SHOWN_VISITS, 300)
    rows = [log_odds(visits, SHOWN_VOCABULARY, rate) for rate in RATES]
    return xr.DataArray(np.array(rows), {"value_rate": list(RATES), "visit": visits})


_family = partial(family, along="value_rate", values=RATES, kind="signal")
THIN = {"marker": "", "lw": 1.0, "drawstyle": "steps-post"}
THICK = {"marker": "", "lw": 2.0}
HEIGHTS = Curves(
    title=rf"decoder alone, $M = {SHOWN_VOCABULARY}$: steps and flow",
    name="heights",
    x=r"visits $t/K$ to the class",
    y="log-odds $M h$",
    ylim=(0, None),
    ticks={"x": 8, "y": 5},
    curves=(
        *_family(_steps, name="h*, η_Y", style=THIN),
        *_family(_flow, name="h, η_Y", symbol=r"\eta_Y", style=THICK),
    ),
)


def _gap_at(evidence: Evidence, size: int, rate: float) -> xr.DataArray:
    """The gap by η_Y t/K."""
    curve = gap(evidence).sel(vocabulary=size, value_rate=rate, drop=True)[1:]
    return curve.assign_coords(visit=rate * curve["visit"].values)


def _gaps(size: int) -> Curves:
    return Curves(
        title=rf"their difference, $M = {size}$",
        name=f"M = {size}",
        x=r"$\eta_Y\,t/K$",
        y=r"$(h^{\mathrm{*}} - h)\,M/\eta_Y$",
        scales=("log", "linear"),
        xlim=(0.3, 3e3),
        ylim=(0, 0.345),
        levels={r"$1/(2e)$": SMALL_RATE_GAP},
        curves=tuple(
            Curve(
                f"η_Y = {rate:g}",
                partial(_gap_at, size=size, rate=rate),
                kind="signal",
                ramp=(i, len(RATES)),
                style={"marker": ""},
            )
            for i, rate in enumerate(RATES)
        ),
        names="",
    )


def values(t: Tables) -> Numbers:
    """The largest gap in units of η_Y/M, and the share of it left at the end."""
    return {
        panel: {
            name: {
                "largest (h* − h) M/η_Y": float(curve.max(skipna=False)),
                "share of it left at the end": float(curve[-1] / curve.max()),
            }
            for name, curve in t[panel].items()
        }
        for panel in list(t)[1:]
    }


FIGURE8 = Exhibit(
    id="figure8",
    kind="figure",
    title="Figure 8: the decoder's h* by steps and h by flow",
    caption=(
        "h* and h of the decoder alone, with decorrelated features, on which systems "
        "Q and C are built (no attention is trained, so that this is neither of "
        "them, nor J). Left: h* after each visit to a class (steps) and the closed "
        "form h of the flow (smooth), times M. Middle and right: their distance in "
        "units of η_Y/M. Lemma 7 bounds it by 2; the largest is 1/(2e) for small η_Y."
    ),
    needs={"heights": Request("figure8", seeds=1)},
    shows=Panels((HEIGHTS, *map(_gaps, Heights().vocabularies)), size=(14.0, 4.2)),
    values=values,
    stated={
        "Caption of Figure 8": {
            # Sums of as many as 1e4 rounded steps of size 1 err by some 1e-12.
            "the distance of h* and h is bounded: between 0 and 2η_Y/M": lambda t: (
                (gap(t.runs) > -1e-10) & (gap(t.runs) <= 2)
            ),
            "the distance tends to zero: less than a tenth of the largest is "
            "left": lambda t: (
                (gap(t.runs).isel(visit=-1) < 0.1 * largest(t)) & (largest(t) > 0)
            ),
        }
    },
    checks={
        "for η_Y < 1 its largest is 1/(2e) η_Y/M to 10%: the bound is ten times as "
        "large": lambda t: (
            abs(largest(t).sel(value_rate=slice(0.0, 0.9)) / SMALL_RATE_GAP - 1) < 0.1
        ),
    },
    silent=(
        "M and the values of η_Y are not stated. M = 30 and 1000, η_Y = 0.01 to 5.",
    ),
)
