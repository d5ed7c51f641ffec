"""How long stage 3 of Algorithm 1 lasts: O(1/ε), with its constant."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.mixture.figures.runs import LAST, algorithm, power
from attnflow.papers.mixture.stages import convergence_margins, steps_per_time
from attnflow.schema.declarations import Evidence, Exhibit

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
    look: dict[str, Any] = {"direction": "down", "clock": "log", "scale": "log"}
    times = [
        first_crossing(run, "loss", level=epsilon, **look).times.item()
        for epsilon in EPSILONS
    ]
    return (np.array(times) - second) / units


def _power(found: np.ndarray) -> float:
    """The power of 1/ε in T3 − T2, over the ε that were reached."""
    kept = np.isfinite(found)
    return power(1 / np.array(EPSILONS)[kept], found[kept])


def _last_factor(found: np.ndarray) -> float:
    """(T3 − T2) ε at the least ε that was reached; NaN where none was."""
    factors = (found * np.array(EPSILONS))[np.isfinite(found)]
    return float(factors[-1]) if len(factors) else float("nan")


def _margin(run: xr.Dataset) -> float:
    margins = convergence_margins(run)
    assert margins is not None
    return float(np.median(margins))


def draw(evidence: Evidence) -> "Figure":
    """T3 − T2 over 1/ε, and its ratio to the prediction."""
    titles = ("Duration of stage 3", "Beside the prediction")
    figure, grid = figures.panels(1, 2, titles=titles, size=(9.6, 4.0))
    run = evidence["run"]
    steps, found = 1 / np.array(EPSILONS), _loss_times(run)
    kept = np.isfinite(found)
    steps, found = steps[kept], found[kept]
    predicted = steps / _margin(run) ** 2
    label = r"$1/(\gamma^2 \epsilon)$"
    figures.ladder_plot(
        grid[0, 0],
        steps.tolist(),
        found.tolist(),
        predicted=predicted.tolist(),
        predicted_label=label,
        expected_slope=1.0,
        kind="hard",
    )
    grid[0, 0].legend(loc="lower right")
    grid[0, 0].set_ylabel("$T_3 - T_2$")
    _ratio_panel(grid[0, 1], steps, found / predicted)
    for ax in grid[0]:
        ax.set_xlabel(r"$1/\epsilon$")
    return figure


def _ratio_panel(ax: "Axes", steps: np.ndarray, ratio: np.ndarray) -> None:
    figures.reference(ax, 1.0)
    colour = figures.current_theme().colour("hard")
    ax.plot(steps, ratio, color=colour, marker="o", ms=5.5, lw=1.0)
    ax.set_xscale("log")
    ax.margins(x=0.06)
    ax.set_ylabel(r"$(T_3 - T_2)\,\gamma^2\epsilon$")
    ax.set_ylim(0.9, 1.1)
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")


def values(evidence: Evidence) -> dict[str, Any]:
    """T3 − T2 for each ε, its slope, and the constant."""
    run = evidence["run"]
    found = _loss_times(run)
    return {
        "T3 − T2": {
            f"ε = {e:.2g}": float(t) for e, t in zip(EPSILONS, found, strict=True)
        },
        "log-log slope": _power(found),
        "(T3 − T2) ε at the least ε": _last_factor(found),
        "1/γ²": 1 / _margin(run) ** 2,
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """The order 1/ε, with the constant that the margin gives."""
    run = evidence["run"]
    found = _loss_times(run)
    factor = _last_factor(found) * _margin(run) ** 2
    return {
        "stage 3 lasts in proportion to 1/ε: log-log slope 1 ± 0.03": (
            abs(_power(found) - 1) < 0.03
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
        "T2, predicts the factor: nothing is fitted."
    ),
    needs={"run": algorithm(0.1, QUICK)},
    draw=draw,
    values=values,
    seen=seen,
    silent=(
        "T1 and T2 are those of the figure for stage 2, with ω = 0.1.",
        "The constant of O(1/ε) is not stated; the margin is our reading of it.",
    ),
)
