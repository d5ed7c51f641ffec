"""Learning rates up to which gradient descent follows the gradient flow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.cooccurrence.claims import learning_rates
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.runs import Numbers, three_numbers
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import scipy, xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHARED = learning_rates.NEEDS
TIMES = {**learning_rates.TIMES, "kaiming-signs": 0.2}
RATES = {
    "fig1": (*learning_rates.RATES["fig1"], 1.0, 3.0, 4.0, 20.0),
    "kaiming": (*learning_rates.RATES["kaiming"], 0.4),
    "kaiming-signs": (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04),
}
KINDS = {"fig1": "signal", "kaiming": "common", "kaiming-signs": "noise"}
NAMES = {
    "fig1": "the reading of Figure 1",
    "kaiming": "Kaiming, normal",
    "kaiming-signs": r"Kaiming, $a = \pm 1$",
}
PAPERS = 0.01
"""The paper's learning rate."""
FAR = 3.0
"""Larger distances are drawn at this height."""


def flow_name(reading: str) -> str:
    """Name of a reading's flow in the evidence."""
    return f"{reading} flow"


def name(reading: str, rate: float) -> str:
    """Name of a descent in the evidence."""
    return f"{reading} {rate:g}"


def _flow(reading: str) -> Request:
    if flow_name(reading) in SHARED:
        return SHARED[flow_name(reading)]
    template, time = SHARED["fig1 flow"], TIMES[reading]
    first = template.overrides["first_record"]
    assert isinstance(first, float)
    overrides = {"reading": reading, "steps": time}
    overrides["first_record"] = first / TIMES["fig1"] * time
    return replace(template, overrides={**template.overrides, **overrides})


def _descent(reading: str, rate: float) -> Request:
    if name(reading, rate) in SHARED:
        return SHARED[name(reading, rate)]
    template = SHARED[name("fig1", RATES["fig1"][0])]
    steps = round(TIMES[reading] / rate)
    overrides = {"reading": reading, "learning_rate": rate, "steps": float(steps)}
    return replace(
        template, overrides={**template.overrides, **overrides, "records": steps + 1}
    )


def threshold(flow: xr.Dataset) -> np.ndarray:
    """Threshold 2/λ, λ being the largest sharpness along the flow, per seed."""
    return 2 / flow["tangent_sharpness"].max("time").values


def largest_loss_gap(descent: xr.Dataset, flow: xr.Dataset) -> np.ndarray:
    """Largest gap between the losses at a step, over the initial loss, per seed."""
    end = float(flow["end_time"].max())
    # The last record may be the end, or miss it by rounding.
    is_before_end = (flow["time"] < (1 - 1e-9) * end).values
    grid = np.append(flow["time"].values[is_before_end], end)
    ends = flow["loss_at_end"].transpose("seed", "stage").values[:, -1:]
    losses = np.hstack(
        [flow["loss"].transpose("seed", "time").values[:, is_before_end], ends]
    )
    times = schema.setting_of(descent)["learning_rate"] * descent["time"].values
    first = grid[1]
    # Even steps of this clock resolve both the early plateau and the late power law.
    curve = scipy.interpolate.PchipInterpolator(np.log(grid + first), losses, axis=1)
    inside = np.minimum(times, grid[-1])
    descent_losses = descent["loss"].transpose("seed", "time").values
    gaps = np.abs(descent_losses - curve(np.log(inside + first)))
    return np.nan_to_num(gaps, nan=np.inf).max(axis=1) / losses[:, 0]


def rises(descent: xr.Dataset) -> np.ndarray:
    """Whether the loss rises at some step, per seed."""
    loss = descent["loss"].transpose("seed", "time").values
    # A loss that has become NaN does not fall.
    return np.array([not (np.diff(row) <= 0).all() for row in loss])


def draw(evidence: Evidence) -> Figure:
    """Figure of sharpness along the flow, and of the distance of descent from it."""
    titles = (
        r"Sharpness $\lambda$ that the flow meets, over its first",
        "Largest distance of descent's loss from the flow's",
    )
    figure, grid = figures.panels(1, 2, titles=titles, size=(11.4, 4.8))
    _sharpness(grid[0, 0], evidence)
    _distances(grid[0, 1], evidence)
    return figure


def _sharpness(ax: Axes, evidence: Evidence) -> None:
    for reading, kind in KINDS.items():
        run = evidence[flow_name(reading)]
        setting = schema.setting_of(run)
        gain = formulas.readout_gain(setting) + formulas.value_gain(setting)
        clocked = run.assign(
            ratio=run["tangent_sharpness"] / run["tangent_sharpness"].isel(time=0)
        ).assign_coords(time=gain * run["time"])
        panels.emphasise_first_seed(
            ax, clocked, "ratio", kind=kind, label=NAMES[reading]
        )
    figures.reference(ax, 1.0)
    ax.set(xscale="log", xlim=(0.05, None), ylim=(0, None))
    ax.set_ylabel(r"$\lambda(t)\,/\,\lambda(0)$")
    ax.set_xlabel(r"training time $(b_0 + |a|^2\sigma_0^2 m)\,t$")
    figures.number_axis(ax, "x")
    ax.legend(loc="upper left")


def _distances(ax: Axes, evidence: Evidence) -> None:
    theme = figures.current_theme()
    for reading, kind in KINDS.items():
        flow, colour = evidence[flow_name(reading)], theme.colour(kind)
        for rate in RATES[reading]:
            run = evidence[name(reading, rate)]
            _draw_seeds(ax, rate / threshold(flow), run, flow, colour)
        _mark_paper_rate(ax, float(np.median(PAPERS / threshold(flow))), colour)
    ax.axvline(1.0, color=theme.ink, lw=1.0, ls=(0, (4, 2.2)), zorder=1)
    ax.set(xscale="log", yscale="log", xlim=(2e-3, 12), ylim=(1e-4, 1.5 * FAR))
    ax.set_xlabel(r"learning rate over $2/\max_t \lambda(t)$")
    ax.set_ylabel("distance, over the first loss")
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    dot = partial(ax.plot, [], [], ls="", marker="o", ms=5.5, mec=theme.muted)
    empty, full = dot(mfc="none"), dot(mfc=theme.muted)
    away = ax.plot([], [], ls="", marker="^", ms=6, color=theme.muted)
    texts = (
        "loss falls at every step",
        "rises at some step",
        f"distance above {FAR:g}",
    )
    ax.legend([*empty, *full, *away], texts, loc="upper left")


def _draw_seeds(
    ax: Axes, rates: np.ndarray, run: xr.Dataset, flow: xr.Dataset, colour: str
) -> None:
    far, up = largest_loss_gap(run, flow), rises(run)
    for x, y, rose in zip(rates, far, up, strict=True):
        marker, fill = "o" if y < FAR else "^", colour if rose else "none"
        ax.plot(
            [x], [min(y, FAR)], marker=marker, ms=5.5, mew=1.0, mec=colour, mfc=fill
        )


def _mark_paper_rate(ax: Axes, rate: float, colour: str) -> None:
    """Arrow at the paper's rate in a reading, at the foot of the axes."""
    axes = ax.get_xaxis_transform()
    ax.annotate(
        f"{PAPERS:g}",
        (rate, 0.0),
        xycoords=axes,
        xytext=(0, 16),
        textcoords="offset points",
        ha="center",
        size="small",
        color=colour,
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.0},
        bbox={"fc": figures.current_theme().paper, "ec": "none", "pad": 1.0},
    )


def values(evidence: Evidence) -> dict[str, Numbers]:
    """Thresholds, and at each rate the distance and how often the loss rises."""
    numbers: dict[str, Numbers] = {}
    for reading in KINDS:
        flow = evidence[flow_name(reading)]
        first = 2 / flow["tangent_sharpness"].isel(time=0).values
        numbers[reading] = {
            "2/λ at the start": three_numbers(first),
            "2/λ along the flow": three_numbers(threshold(flow)),
            "0.01 over the latter": float(np.median(PAPERS / threshold(flow))),
            "rate": {
                f"{rate:g}": {
                    "over 2/λ along the flow": float(np.median(rate / threshold(flow))),
                    "distance": float(
                        np.median(largest_loss_gap(evidence[name(reading, rate)], flow))
                    ),
                    "seeds whose loss rises": int(
                        rises(evidence[name(reading, rate)]).sum()
                    ),
                }
                for rate in sorted(RATES[reading])
            },
        }
    return numbers


def _table(evidence: Evidence) -> np.ndarray:
    """Rate over threshold, distance, and whether the loss rises, for all seeds."""
    rows = []
    for reading in KINDS:
        flow = evidence[flow_name(reading)]
        for rate in RATES[reading]:
            run = evidence[name(reading, rate)]
            rows += zip(
                rate / threshold(flow),
                largest_loss_gap(run, flow),
                rises(run),
                strict=True,
            )
    return np.array(rows, float)


def checks(evidence: Evidence) -> dict[str, bool]:
    """Behaviour below and above the threshold, and what sets it."""
    over, far, up = _table(evidence).T
    flow = evidence[flow_name("fig1")]
    start = 2 / flow["tangent_sharpness"].isel(time=0).values
    six = evidence[name("fig1", 6.0)]
    return {
        "up to 2/λ along the flow the loss falls at every step, in every run": bool(
            (up[over <= 1] == 0).all()
        ),
        "and keeps within a tenth of the first loss from the flow's": bool(
            (far[over <= 1] < 0.1).all()
        ),
        "beyond twice that it rises at some step, in every run": bool(
            (up[over >= 2] == 1).all()
        ),
        "in the reading of Figure 1 the start alone promises too much: at a rate of 6, "
        "below 2/λ there, the loss rises in every seed": bool(
            (start > 6.0).all() and rises(six).all()
        ),
    }


LEARNING_RATE = Exhibit(
    id="learning-rate",
    kind="figure",
    title="Descent follows the flow up to the sharpest point on its way",
    caption=(
        "The experiment with other learning rates, five seeds each, in three readings "
        "of its initialisation, and the gradient flow of the same weights. λ is the "
        "largest Gauss–Newton curvature at the actual outputs. Left: it grows in the "
        "reading of Figure 1, where the readout gain grows, and in the last one, whose "
        "initial outputs are far from 0, so that 2/λ at initialisation is too "
        "optimistic. Right: below 2/λ along the flow descent stays close to it, above "
        "it does not. Arrows: the paper's rate 0.01 in each reading."
    ),
    needs={
        **{flow_name(reading): _flow(reading) for reading in RATES},
        **{
            name(reading, rate): _descent(reading, rate)
            for reading, rates in RATES.items()
            for rate in rates
        },
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "The choice of 0.01 is not explained.",
        "The initialisation is not fully specified: we show three readings.",
    ),
)
