"""Duration of stage 2 of Algorithm 1: O(log 1/ω), with its constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.figures.runs import Numbers, algorithm, line
from attnflow.papers.mixture.stages import steps_per_time
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OMEGAS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
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


def _durations(
    evidence: Evidence, omegas: Sequence[float] | np.ndarray, level: float
) -> np.ndarray:
    """Closed form of the time after T1 at which the main score reaches a level."""
    value = _group_value(evidence)
    if not value > 0:
        return np.full(len(omegas), np.nan)
    return np.array([formulas.stage_two_duration(w, value, level) for w in omegas])


def _measured(evidence: Evidence, level: float) -> np.ndarray:
    """Detected times after T1 at which the main score reaches a level, for each ω."""
    return np.array([_score_time(run, level) for run in evidence.values()])


def _score_time(run: xr.Dataset, level: float) -> float:
    setting = schema.setting_of(run)
    units = steps_per_time(setting) or 1.0
    first = float(run["stage_end"].isel(stage=0).median())
    if setting["T2"] is None and level == setting["T2_level"]:
        # The solver stopped there, so that no interpolation is needed.
        return (float(run["stage_end"].isel(stage=1).median()) - first) / units
    event = first_crossing(run, "score[+,c1,v1]", level=level, scale="log")
    return (float(event.times.item()) - first) / units


def draw(evidence: Evidence) -> Figure:
    """T2 − T1 against ln(1/ω), with the line of slope 9/w_c."""
    figure, grid = figures.panels(titles=["Duration of stage 2"], size=(7.2, 4.3))
    ax = grid[0, 0]
    omega = np.array(OMEGAS)
    for level, kind in ((END, "match"), (SMALL, "signal")):
        name = f"until the score is {level:g}"
        style = {"marker": "o", "ms": 6, "ls": "", "label": name}
        colour = figures.current_theme().colour(kind)
        ax.plot(1 / omega, _measured(evidence, level), color=colour, zorder=4, **style)
    fine = np.geomspace(omega[-1] / 1.5, omega[0] * 1.5, 200)
    exact = _durations(evidence, fine, SMALL)
    line = figures.theory(ax, 1 / fine, exact, label="closed form, uniform attention")
    slope = 9 / _group_value(evidence)
    last = _measured(evidence, END)[-1]
    rising = last + slope * (np.log(1 / fine) - np.log(1 / omega[-1]))
    figures.theory(ax, 1 / fine, rising, label=f"slope $9/w_c = {slope:.2f}$").set(
        linestyle="-", linewidth=1.0, color=figures.current_theme().muted, zorder=2
    )
    line.set_zorder(3)
    ax.set_xscale("log")
    ax.set(xlabel=r"$1/\omega$", ylabel="time after $T_1$", ylim=(0, None))
    ax.set_xlim(1 / fine[-1], 1 / fine[0])
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    ax.legend(loc="upper left")
    return figure


def _slope(evidence: Evidence) -> float:
    """Slope of T2 − T1 in ln(1/ω), by least squares over ω ≤ 0.1."""
    small = np.array(OMEGAS) <= 0.1
    x = np.log(1 / np.array(OMEGAS))[small]
    return float(line(x, _measured(evidence, END)[small])[0])


def values(evidence: Evidence) -> Numbers:
    """Durations for each ω, and their slope beside 9/w_c."""
    whole, part = (_measured(evidence, level) for level in (END, SMALL))
    closed = _durations(evidence, OMEGAS, SMALL)
    return {
        "ω": {
            f"{omega:g}": {
                "T2 − T1": whole[rung],
                "until score 0.1": part[rung],
                "closed form of that": closed[rung],
            }
            for rung, omega in enumerate(OMEGAS)
        },
        "slope in ln(1/ω)": {
            "measured": _slope(evidence),
            "9 / w_c": 9 / _group_value(evidence),
        },
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether T2 − T1 is linear in ln(1/ω) with the slope of the linearised system."""
    small = np.array(OMEGAS) <= 0.1
    x, y = np.log(1 / np.array(OMEGAS))[small], _measured(evidence, END)[small]
    residual = y - np.polyval(line(x, y), x)
    exact = _durations(evidence, OMEGAS, SMALL)
    error = np.abs(_measured(evidence, SMALL) / exact - 1)[small]
    slope = _slope(evidence) * _group_value(evidence) / 9
    return {
        "stage 2 lasts as long as a straight line in ln(1/ω) says, to 1%": bool(
            (np.abs(residual) < 0.01 * y).all()
        ),
        "its slope is 9/w_c to 1%": abs(slope - 1) < 0.01,
        "the closed form gives the time until score 0.1 to 2%": bool(
            error.max() < 0.02
        ),
    }


STAGE2 = Exhibit(
    id="stage2-duration",
    kind="figure",
    title="Stage 2 lasts 9/w_c · ln(1/ω)",
    caption=(
        "Theorem 4.1 says that stage 2 of Algorithm 1 takes O(log 1/ω). At infinite "
        "width its duration is linear in ln(1/ω) over three and a half decades, with "
        "slope 9/w_c, where w_c is the neuron's alignment with group tokens at T1. "
        "While attention is nearly uniform the main score is (ω²/2) sinh(2 w_c t/9) "
        "(dashed, no fit)."
    ),
    needs={f"ω = {omega:g}": algorithm(omega, QUICK) for omega in OMEGAS},
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "T1 is only said to be of order 1: we use 10 (it must exceed 1.36, when the "
        "first ReLU switches off).",
        "T2 is when scores have grown to some constant: we use 1, for the score of key "
        "c1 and query v1.",
    ),
)
