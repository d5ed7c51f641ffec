"""Deviation of finite widths from infinite width (Appendix G)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow.figures.exhibits import Course, Ladder, Line, Panels, Tables, ramp
from attnflow.figures.exhibits.ladder import slope
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    pass

WIDTHS = tuple(2**k for k in range(5, 15))
SHOWN = {"m = 32": "$m = 32$", "m = 2048": "$m = 2048$"}
"""Runs whose score is drawn over time, with their labels."""
MAIN = "score[+,c1,v1]"
T1 = 100.0
"""When stage 1 ends, in steps of learning rate 0.1."""
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


def _deviations(evidence: Evidence) -> xr.DataArray:
    """The largest |S_m − S_∞| over heads, keys, queries at T2, by width and seed."""
    limit = evidence["infinite"]["score_at_end"].isel(stage=-1, seed=0)
    last = [evidence[f"m = {m}"]["score_at_end"].isel(stage=-1) for m in WIDTHS]
    rows = [abs(score - limit).max(["head", "key", "query"]).values for score in last]
    return xr.DataArray(rows, {"m": list(WIDTHS)}, ("m", "seed"))


def _factor(deviations: xr.DataArray) -> float:
    """The factor of 1/√m that fits best."""
    roots = deviations.median("seed") * np.sqrt(deviations["m"])
    return float(np.exp(np.log(roots).mean()))


PANELS = Panels(
    (
        Course(
            title="Score of key c1, query v1 in stage 2",
            y=r"score $c_1^{\top} W_K^{\top} W_Q\,v_1$",
            lines=(
                *ramp(MAIN, SHOWN, kind="match", band="seeds", style={"lw": 1.0}),
                Line(r"$m = \infty$", MAIN, run="infinite", role="limit"),
            ),
            clock="infinite",
            xlim=(T1, None),
        ),
        Ladder(
            title="Largest deviation of a score",
            name="deviation",
            x="width $m$",
            y=r"$\max\,|S_m - S_\infty|$ at $T_2$",
            of=_deviations,
            predicted=lambda table: _factor(table) / np.sqrt(WIDTHS),
            predicted_label=lambda table: (
                f"${_factor(table):.2f}/\\sqrt{{m}}$, the factor fitted"
            ),
            slope=-0.5,
            kind="match",
            label="median of 16 seeds, quartiles",
            names="lower left",
        ),
    ),
    size=(10.4, 4.2),
)


def values(table: Tables) -> dict[str, Any]:
    """Median deviations, their exponent in the width, and the score at T2."""
    main = table.runs["infinite"]["score_at_end"].isel(stage=-1, seed=0)
    medians = table["deviation"].median("seed").values.tolist()
    return {
        "median deviation": {
            f"m = {width}": value for width, value in zip(WIDTHS, medians, strict=True)
        },
        "log-log slope": slope(table["deviation"]),
        "score at T2 at infinite width": float(
            main.sel(head="+", key="c1", query="v1")
        ),
    }


WIDTH = Exhibit(
    id="width-deviation",
    kind="figure",
    title="Finite widths approach the infinite one as 1/√m",
    caption=(
        "Deviation of the scores at finite width from those at infinite width, for "
        "stages 1 and 2 of Algorithm 1 by gradient descent with step 0.1, ω = 0.1. "
        "Left: the main score at two widths, each seed as a line; dashed: infinite "
        "width. Right: the largest deviation of any score at T2, medians and "
        "quartiles over 16 seeds, which differ from width to width. The paper bounds "
        "it by poly(1/ω)/√m (Appendix G)."
    ),
    needs={
        **{
            f"m = {width}": _request(width, tuple(range(16 * rung, 16 * rung + 16)))
            for rung, width in enumerate(WIDTHS)
        },
        "infinite": _request("infinite", (0,)),
    },
    shows=PANELS,
    values=values,
    checks={
        "the deviation from infinite width falls as m^(−1/2): slope −0.5 ± 0.1": (
            lambda t: abs(slope(t["deviation"]) + 0.5) < 0.1
        ),
    },
    silent=(
        "The widths at which the paper trained, and T2, are not stated. We stop when "
        "the main score is 1 at infinite width.",
    ),
)
