"""Closed form of stage 1 against gradient flow and simultaneous training."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Course, Line, Panels, Tables
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.figures.courses import ALIGNMENT, DASHED, INFINITE
from attnflow.papers.mixture.stages import main_score_reaches, stage_table
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import xr
from attnflow.schema.settings import steps_per_time

TOKENS = {"v1": "class", "c1": "group"}
"""Tokens, and the kind of each, which gives its colour."""


def closed_forms(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """The closed form of w₊ᵀv and w₊ᵀc at the times of a run."""
    setting = schema.setting_of(run)
    steps = steps_per_time(setting) or np.nan
    v, c = formulas.stage_one(run["time"].values / steps, setting["bias"])
    return {
        token: xr.DataArray(curve, {"time": run["time"]}, "time")
        for token, curve in (("v1", v), ("c1", c))
    }


def _error(table: Tables, name: str, upto: float = np.inf) -> float:
    """Largest difference between a run and the closed form up to a time."""
    course, early = table[name], table.runs[name]["time"] <= upto
    gaps = [abs(course[token] - course[f"closed {token}"]) for token in TOKENS]
    return max(float(gap.where(early).max()) for gap in gaps)


def _onset(evidence: Evidence) -> float:
    """When the main score reaches 0.1 in simultaneous training, or its end."""
    run = evidence["together"]
    onset = main_score_reaches(run).median
    return float(run["time"].max()) if onset is None else onset


def _course(run: str, **fields: Any) -> Course:
    bold: dict[str, Any] = {"kind": "theory", "style": {**DASHED, "lw": 1.4}}
    return Course(
        name=run,
        y=ALIGNMENT,
        lines=(
            *(Line(t, f"value[+,{t}]", run, kind=kind) for t, kind in TOKENS.items()),
            Line("closed v1", lambda r: closed_forms(r)["v1"], run, label="", **bold),
            Line("closed c1", lambda r: closed_forms(r)["c1"], run, label="", **bold),
        ),
        **fields,
    )


def values(table: Tables) -> dict[str, Any]:
    """T_half, alignments at T1, and differences between run and closed form."""
    rows = {row.name: row for row in stage_table(table.runs["alone"])}
    return {
        "T_half": {
            "measured": rows["T_half"].detected,
            "closed form": rows["T_half"].formula,
        },
        "alignment at T1": {
            token: table["alone"].ends[f"closed {token}"].item() for token in TOKENS
        },
        "largest difference": {
            "stage 1 alone": _error(table, "alone"),
            "all weights, until the score is 0.1": (
                _error(table, "together", _onset(table.runs))
            ),
            "all weights, to the end": _error(table, "together"),
        },
    }


STAGE1 = Exhibit(
    id="stage1-closed-form",
    kind="figure",
    title="Stage 1 in closed form",
    caption=(
        "Alignment of the positive head's neuron with class and group tokens over "
        "time (coloured), and its closed form (dashed). Until T_half = b + (e^{2b} − "
        "1)/2 all ReLUs are active and only class tokens are learned; afterwards u = "
        "w_c + 2 w_v + b obeys u' = (5/8)/(1 + e^u), which the Wright omega function "
        "solves. Right: the same curve for simultaneous training, where it holds "
        "until attention moves."
    ),
    needs={
        "alone": Request("stage1", {"record": ("value",)}, seeds=1),
        "together": INFINITE,
    },
    shows=Panels(
        (
            _course(
                "alone",
                title="Stage 1 by gradient flow",
                shades=lambda evidence: (
                    figures.stage_boundaries(evidence["alone"])[0],
                    ["all active", "one ReLU off"],
                ),
            ),
            _course(
                "together",
                title="All weights together, infinite width",
                shades=lambda evidence: (
                    [_onset(evidence)],
                    ["uniform attention", "attention has moved"],
                ),
            ),
        ),
        size=(10.4, 4.1),
    ),
    values=values,
    checks={
        "flow and closed form agree to 1e-10 in stage 1": (
            lambda t: _error(t, "alone") < 1e-10
        ),
        "with all weights trained, flow and closed form agree to 0.1 until attention "
        "moves": (lambda t: _error(t, "together", _onset(t.runs)) < 0.1),
        "with all weights trained, they no longer agree once attention has "
        "moved": lambda t: _error(t, "together") > 0.2,
    },
    silent=(
        "T1 is only said to be of order 1: we use 10.",
        "The paper gives derivatives and orders of magnitude; the closed form is ours.",
    ),
)
