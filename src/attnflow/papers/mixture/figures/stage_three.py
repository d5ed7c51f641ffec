"""Duration of stage 3 of Algorithm 1: O(1/ε), with its constant."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.claims.stages import first_crossing
from attnflow.figures.exhibits import Curve, Curves, Ladder, Panels, Tables
from attnflow.figures.exhibits.ladder import slope
from attnflow.papers.mixture.figures.courses import LAST, algorithm
from attnflow.papers.mixture.stages import convergence_margins
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr
from attnflow.schema.settings import steps_per_time

EPSILONS = 10.0 ** (-np.arange(6, 17) / 4)
assert EPSILONS[-1] > LAST
QUICK = {"rule": "gd", "T2": 155.0, "T3": 3000.0, "last_record": 3000.0}


def _durations(evidence: Evidence) -> xr.DataArray:
    """T3 − T2 by 1/ε from the records of one run, and the margin γ as an attribute."""
    run = evidence["run"]
    units = steps_per_time(schema.setting_of(run)) or 1.0
    second = float(run["stage_end"].isel(stage=1).median())
    crossing = partial(
        first_crossing, run, "loss", direction="down", clock="log", scale="log"
    )
    times = [crossing(level=epsilon).times.item() for epsilon in EPSILONS]
    margins = convergence_margins(run)
    assert margins is not None
    durations = (np.array(times) - second) / units
    attributes = {"margin": float(np.median(margins))}
    return xr.DataArray(durations, {"1/ε": 1 / EPSILONS}, "1/ε", attrs=attributes)


def _predicted(durations: xr.DataArray) -> xr.DataArray:
    return durations["1/ε"] / durations.attrs["margin"] ** 2


def _ratio(evidence: Evidence) -> xr.DataArray:
    durations = _durations(evidence)
    return (durations / _predicted(durations)).dropna("1/ε")


PANELS = Panels(
    (
        Ladder(
            title="Duration of stage 3",
            name="durations",
            x=r"$1/\epsilon$",
            y="$T_3 - T_2$",
            of=_durations,
            predicted=lambda table: _predicted(table).values,
            predicted_label=r"$1/(\gamma^2 \epsilon)$",
            slope=1.0,
            kind="hard",
            names="lower right",
        ),
        Curves(
            title="Ratio to the prediction",
            name="ratio",
            x=r"$1/\epsilon$",
            y=r"$(T_3 - T_2)\,\gamma^2\epsilon$",
            scales=("log", "linear"),
            ylim=(0.9, 1.1),
            levels={"": 1.0},
            names="",
            curves=(Curve("ratio", _ratio, kind="hard", style={"lw": 1.0}),),
        ),
    ),
    size=(9.6, 4.0),
)


def _power(table: Tables) -> float:
    """Exponent of 1/ε in T3 − T2, over the ε that were reached; NaN if none was."""
    reached = table["durations"].dropna("1/ε")
    return slope(reached) if reached.size else float("nan")


def _last_ratio(table: Tables) -> float:
    """(T3 − T2) ε γ² at the smallest ε that was reached; NaN if none was."""
    ratios = table["ratio"]["ratio"]
    return float(ratios[-1]) if ratios.size else float("nan")


def values(table: Tables) -> dict[str, Any]:
    """T3 − T2 for each ε, its exponent, and its constant beside 1/γ²."""
    durations = table["durations"]
    factor = 1 / durations.attrs["margin"] ** 2
    return {
        "T3 − T2": {
            f"ε = {epsilon:.2g}": float(time)
            for epsilon, time in zip(EPSILONS, durations.values, strict=True)
        },
        "log-log slope": _power(table),
        "(T3 − T2) ε at the least ε": _last_ratio(table) * factor,
        "1/γ²": factor,
    }


STAGE3 = Exhibit(
    id="stage3-duration",
    kind="figure",
    title="Stage 3 lasts 1/(γ²ε)",
    caption=(
        "Duration of stage 3 against the target loss ε; Theorem 4.1 says that stage "
        "3 of Algorithm 1 takes O(1/ε). With attention fixed, the neurons solve a "
        "separable logistic regression, whose loss falls as 1/(γ²t) with γ the "
        "margin of the attention features. That margin, taken at T2, predicts the "
        "factor without any fit."
    ),
    needs={"run": algorithm(0.1, QUICK)},
    shows=PANELS,
    values=values,
    checks={
        "the duration of stage 3 is proportional to 1/ε: log-log slope 1 ± 0.03": (
            lambda t: abs(_power(t) - 1) < 0.03
        ),
        "the factor tends to 1/γ², γ the margin at T2: within 2% at the end": (
            lambda t: abs(_last_ratio(t) - 1) < 0.02
        ),
    },
    silent=(
        "T1 and T2 are those of the figure for stage 2, with ω = 0.1.",
        "The constant of O(1/ε) is not stated; we derive it from the margin.",
    ),
)
