"""Deviation of finite widths from infinite width (Appendix G)."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.mixture.figures.runs import Numbers, power
from attnflow.schema.declarations import Evidence, Exhibit, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = tuple(2**k for k in range(5, 15))
SHOWN = (32, 2048)
T2 = 155.0
"""When the main score is 1 at infinite width, ω = 0.1, learning rate 0.1."""


def _request(width: int | str, seeds: tuple[int, ...]) -> Request:
    # Drawing Gram factors instead of weights gives one shape, hence one program, for
    # all widths.
    overrides = {
        "width": width,
        "draw": "bartlett",
        "rule": "gd",
        "stages": 2,
        "T2": T2,
    }
    overrides |= {"spacing": "linear", "last_record": T2, "records": 201}
    return Request("three-stage", {**overrides, "record": ("score",)}, seeds=seeds)


def _deviation(evidence: Evidence, width: int) -> np.ndarray:
    """Deviation: the largest |S_m − S_∞| over heads, keys, queries at T2, per seed."""
    limit = evidence["infinite"]["score_at_end"].isel(stage=-1, seed=0)
    last = evidence[f"m = {width}"]["score_at_end"].isel(stage=-1)
    return abs(last - limit).max(["head", "key", "query"]).values


def draw(evidence: Evidence) -> "Figure":
    """The main score at two widths, and the deviation against the width."""
    titles = ("Score of key c1, query v1 in stage 2", "Largest deviation of a score")
    figure, grid = figures.panels(1, 2, titles=titles, size=(10.4, 4.2))
    _approach(grid[0, 0], evidence)
    ax = grid[0, 1]
    deviations = np.array([_deviation(evidence, width) for width in WIDTHS])
    low, middle, high = np.quantile(deviations, (0.25, 0.5, 0.75), axis=1).tolist()
    factor = np.exp(np.mean(np.log(np.array(middle) * np.sqrt(WIDTHS))))
    figures.ladder_plot(
        ax,
        WIDTHS,
        middle,
        predicted=(factor / np.sqrt(WIDTHS)).tolist(),
        predicted_label=f"${factor:.2f}/\\sqrt{{m}}$, the factor fitted",
        expected_slope=-0.5,
        low=low,
        high=high,
        kind="match",
        label="median of 16 seeds, quartiles",
    )
    ax.legend(loc="lower left")
    ax.set(xlabel="width $m$", ylabel=r"$\max\,|S_m - S_\infty|$ at $T_2$")
    return figure


def _approach(ax: "Axes", evidence: Evidence) -> None:
    limit = evidence["infinite"]
    runs = {f"$m = {width}$": evidence[f"m = {width}"] for width in SHOWN}
    figures.beside(
        ax, runs, limit, "score[+,c1,v1]", kind="match", limit_label=r"$m = \infty$"
    )
    figures.time_axis(ax, limit)
    ax.set_xlim(left=float(limit["stage_end"].isel(stage=0, seed=0)))
    ax.set_ylabel(r"score $c_1^{\top} W_K^{\top} W_Q\,v_1$")
    figures.number_axis(ax, "y")
    figures.label_ends(ax)


def values(evidence: Evidence) -> Numbers:
    """Median deviations, their exponent in the width, and the score at T2."""
    medians = [float(np.median(_deviation(evidence, width))) for width in WIDTHS]
    main = evidence["infinite"]["score_at_end"].isel(stage=-1, seed=0)
    return {
        "median deviation": {
            f"m = {width}": value for width, value in zip(WIDTHS, medians, strict=True)
        },
        "log-log slope": power(np.array(WIDTHS), np.array(medians)),
        "score at T2 at infinite width": float(
            main.sel(head="+", key="c1", query="v1")
        ),
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether the deviation falls as 1/√m."""
    medians = [float(np.median(_deviation(evidence, width))) for width in WIDTHS]
    slope = power(np.array(WIDTHS), np.array(medians))
    return {
        "the deviation from infinite width falls as m^(−1/2): slope −0.5 ± 0.1": (
            abs(slope + 0.5) < 0.1
        ),
    }


WIDTH = Exhibit(
    id="width-deviation",
    kind="figure",
    title="Finite widths approach the infinite one as 1/√m",
    caption=(
        "Stages 1 and 2 of Algorithm 1 by gradient descent with step 0.1, ω = 0.1. "
        "Left: the main score at two widths, each seed as a line; dashed: infinite "
        "width. Right: the largest deviation of any score at T2, medians and quartiles "
        "over 16 seeds, different ones at each width. The paper bounds it by "
        "poly(1/ω)/√m (Appendix G)."
    ),
    needs={
        **{
            f"m = {width}": _request(width, tuple(range(16 * rung, 16 * rung + 16)))
            for rung, width in enumerate(WIDTHS)
        },
        "infinite": _request("infinite", (0,)),
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "The widths at which the paper trained, and T2, are not stated. We stop when "
        "the main score is 1 at infinite width.",
    ),
)
