"""Duration of stage 2 of Algorithm 1: O(log 1/ω), with its constant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.figures.exhibits import Curve, Curves, Panels, Tables
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.figures.courses import DASHED, algorithm, line
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr
from attnflow.schema.settings import steps_per_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OMEGAS = np.array([0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4])
FINE = np.geomspace(OMEGAS[-1] / 1.5, OMEGAS[0] * 1.5, 200)
SMALL, END = 0.1, 1.0
"""Levels of the main score: below the first attention is uniform, stage 2 ends."""
# By descent, and long enough for the smallest ω.
QUICK = {"rule": "gd", "stages": 2, "T2": 520.0, "last_record": 520.0}
QUICK |= {"spacing": "linear"}


def _group_value(evidence: Evidence) -> float:
    """Alignment w_c at T1, which does not depend on ω."""
    run = next(iter(evidence.values()))
    last = run["value_at_end"].isel(stage=0).sel(head="+", token="c1")
    return float(last.median())


def _closed(evidence: Evidence, omegas: np.ndarray) -> xr.DataArray:
    """Closed form of the time after T1 at which the main score is small no more."""
    value = _group_value(evidence)
    times = [
        formulas.stage_two_duration(omega, value, SMALL) if value > 0 else np.nan
        for omega in omegas
    ]
    return xr.DataArray(times, {"1/ω": 1 / omegas}, "1/ω")


def _measured(evidence: Evidence, level: float) -> xr.DataArray:
    """Detected times after T1 at which the main score reaches a level, for each ω."""
    times = [_score_time(run, level) for run in evidence.values()]
    return xr.DataArray(times, {"1/ω": 1 / OMEGAS}, "1/ω")


def _score_time(run: xr.Dataset, level: float) -> float:
    setting = schema.setting_of(run)
    units = steps_per_time(setting) or 1.0
    first = float(run["stage_end"].isel(stage=0).median())
    if setting["T2"] is None and level == setting["T2_level"]:
        # The solver stopped there, so that no interpolation is needed.
        return (float(run["stage_end"].isel(stage=1).median()) - first) / units
    event = first_crossing(run, "score[+,c1,v1]", level=level, scale="log")
    return (float(event.times.item()) - first) / units


def _slope_line(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    """A line of slope 9/w_c through the last point, and the legend."""
    ax, slope = grid[0, 0], 9 / _group_value(table.runs)
    last = float(table["durations"]["END"][-1])
    rising = last + slope * (np.log(1 / FINE) - np.log(1 / OMEGAS[-1]))
    muted = {"color": figures.current_theme().muted, "lw": 1.0, "zorder": 2}
    ax.plot(1 / FINE, rising, label=f"slope $9/w_c = {slope:.2f}$", **muted)
    ax.legend(loc="upper left")


DOTS = {"ms": 6, "ls": "", "zorder": 4}
PANEL = Curves(
    title="Duration of stage 2",
    name="durations",
    x=r"$1/\omega$",
    y="time after $T_1$",
    scales=("log", "linear"),
    xlim=(1 / FINE[-1], 1 / FINE[0]),
    ylim=(0, None),
    names="",
    curves=(
        Curve(
            "END",
            partial(_measured, level=END),
            label=f"until the score is {END:g}",
            kind="match",
            style=DOTS,
        ),
        Curve(
            "SMALL",
            partial(_measured, level=SMALL),
            label=f"until the score is {SMALL:g}",
            kind="signal",
            style=DOTS,
        ),
        Curve(
            "closed form, uniform attention",
            partial(_closed, omegas=FINE),
            kind="theory",
            style={**DASHED, "marker": "", "zorder": 3},
        ),
    ),
)


def _fit(table: Tables) -> tuple[float, np.ndarray]:
    """Slope of T2 − T1 in ln(1/ω) over ω ≤ 0.1, and relative errors of the line."""
    times = table["durations"]["END"][OMEGAS <= 0.1]
    logs = np.log(times["1/ω"].values)
    fit = line(logs, times.values)
    return float(fit[0]), np.abs(np.polyval(fit, logs) / times.values - 1)


def values(table: Tables) -> dict[str, Any]:
    """Durations for each ω, and their slope beside 9/w_c."""
    rows = {
        "T2 − T1": table["durations"]["END"],
        "until score 0.1": table["durations"]["SMALL"],
        "closed form of that": _closed(table.runs, OMEGAS),
    }
    return {
        "ω": {
            f"{omega:g}": {name: float(row[rung]) for name, row in rows.items()}
            for rung, omega in enumerate(OMEGAS)
        },
        "slope in ln(1/ω)": {
            "measured": _fit(table)[0],
            "9 / w_c": 9 / _group_value(table.runs),
        },
    }


def _off_closed_form(table: Tables) -> xr.DataArray:
    ratio = table["durations"]["SMALL"] / _closed(table.runs, OMEGAS)
    return abs(ratio - 1)[OMEGAS <= 0.1]


CHECKS = {
    "the duration of stage 2 is linear in ln(1/ω), to 1%": (
        lambda t: _fit(t)[1] < 0.01
    ),
    "the slope of the duration is 9/w_c, to 1%": (
        lambda t: abs(_fit(t)[0] * _group_value(t.runs) / 9 - 1) < 0.01
    ),
    "the closed form gives the time until score 0.1 to 2%": (
        lambda t: _off_closed_form(t) < 0.02
    ),
}

STAGE2 = Exhibit(
    id="stage2-duration",
    kind="figure",
    title="Stage 2 lasts 9/w_c · ln(1/ω)",
    caption=(
        "Duration of stage 2 against the initial scale ω; Theorem 4.1 says that "
        "stage 2 of Algorithm 1 takes O(log 1/ω). At infinite width its duration is "
        "linear in ln(1/ω) over three and a half decades, with slope 9/w_c, where "
        "w_c is the neuron's alignment with group tokens at T1. While attention is "
        "nearly uniform the main score is (ω²/2) sinh(2 w_c t/9) (dashed, no fit)."
    ),
    needs={f"ω = {omega:g}": algorithm(float(omega), QUICK) for omega in OMEGAS},
    shows=Panels((PANEL,), size=(7.2, 4.3), finish=_slope_line),
    values=values,
    checks=CHECKS,
    silent=(
        "T1 is only said to be of order 1: we use 10 (it must exceed 1.36, when the "
        "first ReLU switches off).",
        "T2 is when scores have grown to some constant: we use 1, for the score of key "
        "c1 and query v1.",
    ),
)
