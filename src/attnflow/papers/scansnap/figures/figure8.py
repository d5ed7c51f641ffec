"""Figure 8: h* of discrete steps and h of the flow, for the decoder alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.systems.decoder import log_odds
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALL_RATE_GAP = 1 / (2 * math.e)
"""The largest (h* − h) M/η_Y for small rates, by second order of Euler's method."""
SHOWN_VOCABULARY, SHOWN_VISITS = 30, 14


def gap(run: xr.Dataset) -> xr.DataArray:
    """(h* − h) M/η_Y, by vocabulary, rate and visit; h is recorded as M h."""
    difference = (run["discrete"] - run["continuous"]).isel({SEED: 0}, drop=True)
    return difference / difference["value_rate"]


def draw(evidence: Evidence) -> Figure:
    """Panels: both heights as in the paper, and their difference."""
    run = evidence["heights"]
    titles = [
        rf"decoder alone, $M = {SHOWN_VOCABULARY}$: steps and flow",
        *(rf"their difference, $M = {M}$" for M in run["vocabulary"].values),
    ]
    figure, grid = figures.panels(1, 3, titles=titles, size=(14.0, 4.2))
    _heights(grid[0, 0], run)
    top = 1.05 * float(gap(run).max())
    for ax, size in zip(grid[0, 1:], run["vocabulary"].values, strict=True):
        _gaps(ax, run, int(size))
        ax.set_ylim(0, top)
    return figure


def _heights(ax: Axes, run: xr.Dataset) -> None:
    heights = run.isel({SEED: 0}).sel(vocabulary=SHOWN_VOCABULARY)
    heights = heights.sel(visit=slice(0, SHOWN_VISITS))
    rates = heights["value_rate"].values
    ramp = figures.current_theme().ramp("signal", len(rates))
    for colour, rate in zip(ramp, rates, strict=True):
        curve, label = heights.sel(value_rate=rate), rf"$\eta_Y = {rate:g}$"
        ax.step(curve["visit"], curve["discrete"], where="post", color=colour, lw=1.0)
        between = np.linspace(0, SHOWN_VISITS, 300)
        flow = log_odds(between, SHOWN_VOCABULARY, float(rate))
        ax.plot(between, flow, color=colour, lw=2.0, label=label)
    ax.set(xlabel=r"visits $t/K$ to the class", ylabel="log-odds $M h$", ylim=(0, None))
    figures.label_ends(ax, size=10.5)


def _gaps(ax: Axes, run: xr.Dataset, size: int) -> None:
    gaps = gap(run).sel(vocabulary=size)
    rates = gaps["value_rate"].values
    ramp = figures.current_theme().ramp("signal", len(rates))
    for colour, rate in zip(ramp, rates, strict=True):
        curve = gaps.sel(value_rate=rate).isel(visit=slice(1, None))
        label = rf"$\eta_Y = {rate:g}$"
        ax.plot(rate * curve["visit"], curve, color=colour, label=label)
    figures.reference(ax, SMALL_RATE_GAP, r"$1/(2e)$")
    ax.set(xscale="log", xlim=(0.3, 3e3))
    ax.set(xlabel=r"$\eta_Y\,t/K$", ylabel=r"$(h^{\mathrm{*}} - h)\,M/\eta_Y$")
    figures.number_axis(ax, "x")


def values(evidence: Evidence) -> Numbers:
    """The largest gap in units of η_Y/M, and the share of it left at the end."""
    gaps = gap(evidence["heights"])
    return {
        f"M = {size}": {
            f"η_Y = {rate:g}": {
                "largest (h* − h) M/η_Y": float(curve.max()),
                "share of it left at the end": float(curve[-1] / curve.max()),
            }
            for rate in gaps["value_rate"].values
            for curve in [gaps.sel(vocabulary=size, value_rate=rate)]
        }
        for size in gaps["vocabulary"].values
    }


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether the distance is bounded and vanishes."""
    gaps = gap(evidence["heights"])
    largest = gaps.max("visit")
    # Sums of as many as 1e4 rounded steps of size 1 err by some 1e-12.
    least = float(gaps.min())
    sentences = {
        "the distance of h* and h is bounded: between 0 and 2η_Y/M": bool(
            least > -1e-10 and float(largest.max()) <= 2
        ),
        "it goes to zero: less than a tenth of the largest is left": bool(
            (gaps.isel(visit=-1) < 0.1 * largest).all() and (largest > 0).all()
        ),
    }
    return {"Caption of Figure 8": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """A sharper constant than that of Lemma 7."""
    largest = gap(evidence["heights"]).max("visit")
    small = largest.sel(value_rate=largest["value_rate"] < 1)
    return {
        "for η_Y < 1 its largest is 1/(2e) η_Y/M to 10%: the bound is ten times as "
        "large": bool((np.abs(small / SMALL_RATE_GAP - 1) < 0.1).all()),
    }


FIGURE8 = Exhibit(
    id="figure8",
    kind="figure",
    title="Figure 8: the decoder's h* by steps and h by flow",
    caption=(
        "The decoder alone with decorrelated features, which systems Q and C are built "
        "on (no attention is trained, so that this is neither of them, nor J). Left: "
        "h* after each visit to a class (steps) and the closed form h of the flow "
        "(smooth), times M. Middle and right: their distance in units of η_Y/M. Lemma "
        "7 bounds it by 2; the largest is 1/(2e) for small η_Y."
    ),
    needs={"heights": Request("figure8", seeds=1)},
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=(
        "M and the values of η_Y are not stated. M = 30 and 1000, η_Y = 0.01 to 5.",
    ),
)
