"""Duration of stage 3 of Algorithm 1: O(1/ε), with its constant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.mixture.figures.runs import LAST, Numbers, algorithm, power
from attnflow.papers.mixture.stages import convergence_margins, steps_per_time
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPSILONS = tuple(10.0 ** (-k / 4) for k in range(6, 17))
assert EPSILONS[-1] > LAST
QUICK = {"rule": "gd", "T2": 155.0, "T3": 3000.0, "last_record": 3000.0}


def _loss_times(run: xr.Dataset) -> np.ndarray:
    """T3 − T2 for each ε, from the records of one run."""
    units = steps_per_time(schema.setting_of(run)) or 1.0
    second = float(run["stage_end"].isel(stage=1).median())
    crossing = partial(
        first_crossing, run, "loss", direction="down", clock="log", scale="log"
    )
    times = [crossing(level=epsilon).times.item() for epsilon in EPSILONS]
    return (np.array(times) - second) / units


def _power(durations: np.ndarray) -> float:
    """Exponent of 1/ε in T3 − T2, over the ε that were reached."""
    reached = np.isfinite(durations)
    return power(1 / np.array(EPSILONS)[reached], durations[reached])


def _last_factor(durations: np.ndarray) -> float:
    """(T3 − T2) ε at the smallest ε that was reached; NaN if none was."""
    factors = (durations * np.array(EPSILONS))[np.isfinite(durations)]
    return float(factors[-1]) if len(factors) else float("nan")


def _margin(run: xr.Dataset) -> float:
    margins = convergence_margins(run)
    assert margins is not None
    return float(np.median(margins))


def draw(evidence: Evidence) -> Figure:
    """T3 − T2 against 1/ε, and its ratio to the prediction."""
    titles = ("Duration of stage 3", "Ratio to the prediction")
    figure, grid = figures.panels(1, 2, titles=titles, size=(9.6, 4.0))
    run = evidence["run"]
    steps, durations = 1 / np.array(EPSILONS), _loss_times(run)
    reached = np.isfinite(durations)
    steps, durations = steps[reached], durations[reached]
    predicted = steps / _margin(run) ** 2
    label = r"$1/(\gamma^2 \epsilon)$"
    figures.ladder_plot(
        grid[0, 0],
        steps.tolist(),
        durations.tolist(),
        predicted=predicted.tolist(),
        predicted_label=label,
        expected_slope=1.0,
        kind="hard",
    )
    grid[0, 0].legend(loc="lower right")
    grid[0, 0].set_ylabel("$T_3 - T_2$")
    _ratio_panel(grid[0, 1], steps, durations / predicted)
    for ax in grid[0]:
        ax.set_xlabel(r"$1/\epsilon$")
    return figure


def _ratio_panel(ax: Axes, steps: np.ndarray, ratio: np.ndarray) -> None:
    figures.reference(ax, 1.0)
    colour = figures.current_theme().colour("hard")
    ax.plot(steps, ratio, color=colour, marker="o", ms=5.5, lw=1.0)
    ax.set_xscale("log")
    ax.margins(x=0.06)
    ax.set_ylabel(r"$(T_3 - T_2)\,\gamma^2\epsilon$")
    ax.set_ylim(0.9, 1.1)
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")


def values(evidence: Evidence) -> Numbers:
    """T3 − T2 for each ε, its exponent, and its constant beside 1/γ²."""
    run = evidence["run"]
    durations = _loss_times(run)
    return {
        "T3 − T2": {
            f"ε = {e:.2g}": float(t) for e, t in zip(EPSILONS, durations, strict=True)
        },
        "log-log slope": _power(durations),
        "(T3 − T2) ε at the least ε": _last_factor(durations),
        "1/γ²": 1 / _margin(run) ** 2,
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether T3 − T2 is proportional to 1/ε, with the constant 1/γ²."""
    run = evidence["run"]
    durations = _loss_times(run)
    factor = _last_factor(durations) * _margin(run) ** 2
    return {
        "stage 3 lasts in proportion to 1/ε: log-log slope 1 ± 0.03": (
            abs(_power(durations) - 1) < 0.03
        ),
        "the factor tends to 1/γ², γ the margin at T2: within 2% at the end": (
            abs(factor - 1) < 0.02
        ),
    }


STAGE3 = Exhibit(
    id="stage3-duration",
    kind="figure",
    title="Stage 3 lasts 1/(γ²ε)",
    caption=(
        "Theorem 4.1 says that stage 3 of Algorithm 1 takes O(1/ε). With attention "
        "fixed the neurons solve a separable logistic regression, whose loss falls as "
        "1/(γ²t) with γ the margin of the attention features. That margin, taken at "
        "T2, predicts the factor without any fit."
    ),
    needs={"run": algorithm(0.1, QUICK)},
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "T1 and T2 are those of the figure for stage 2, with ω = 0.1.",
        "The constant of O(1/ε) is not stated; we derive it from the margin.",
    ),
)
