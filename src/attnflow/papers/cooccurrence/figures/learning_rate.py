"""Learning rates up to which gradient descent follows the gradient flow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Course, Free, Line, Panels, Tables
from attnflow.papers.cooccurrence.claims import learning_rates
from attnflow.papers.cooccurrence.figures.runs import three_numbers
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import scipy, xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMES = {**learning_rates.TIMES, "kaiming-signs": 0.2}
RATES = {
    "fig1": (*learning_rates.RATES["fig1"], 1.0, 3.0, 4.0, 20.0),
    "kaiming": (*learning_rates.RATES["kaiming"], 0.4),
    "kaiming-signs": (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04),
}
READINGS = {
    "fig1": ("signal", "the reading of Figure 1"),
    "kaiming": ("common", "Kaiming, normal"),
    "kaiming-signs": ("noise", r"Kaiming, $a = \pm 1$"),
}
"""By reading of the initialisation: kind, which gives the colour, and label."""
PAPERS = 0.01
"""The paper's learning rate."""
FAR = 3.0
"""Larger distances are drawn at this height."""


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


class Descents(NamedTuple):
    """Thresholds of a reading by seed, and by rate the distance and rises."""

    threshold: np.ndarray
    gaps: dict[float, np.ndarray]
    rises: dict[float, np.ndarray]

    def over(self, rate: float) -> np.ndarray:
        """A rate over the threshold, by seed."""
        return rate / self.threshold


def _descents(evidence: Evidence) -> dict[str, Descents]:
    table = {}
    for reading, rates in RATES.items():
        flow = evidence[f"{reading} flow"]
        runs = {rate: evidence[f"{reading} {rate:g}"] for rate in rates}
        gaps = {rate: largest_loss_gap(run, flow) for rate, run in runs.items()}
        up = {rate: rises(run) for rate, run in runs.items()}
        table[reading] = Descents(threshold(flow), gaps, up)
    return table


def _sharpening(run: xr.Dataset) -> xr.DataArray:
    """Sharpness over its first, on the clock (b0 + |a|² σ0² m) t, after time 0."""
    setting, sharpness = schema.setting_of(run), run["tangent_sharpness"]
    gain = formulas.readout_gain(setting) + formulas.value_gain(setting)
    ratio = (sharpness / sharpness.isel(time=0)).isel(time=slice(1, None))
    return ratio.assign_coords(time=gain * ratio["time"])


def _draw(ax: Axes, table: dict[str, Descents]) -> None:
    theme = figures.current_theme()
    for reading, descents in table.items():
        colour = theme.colour(READINGS[reading][0])
        for rate in RATES[reading]:
            points = descents.over(rate), descents.gaps[rate], descents.rises[rate]
            for x, y, rose in zip(*points, strict=True):
                marker, fill = "o" if y < FAR else "^", colour if rose else "none"
                style = {"ms": 5.5, "mew": 1.0, "mec": colour, "mfc": fill}
                ax.plot([x], [min(y, FAR)], marker=marker, **style)
        _mark_paper_rate(ax, float(np.median(descents.over(PAPERS))), colour)
    ax.axvline(1.0, color=theme.ink, lw=1.0, ls=(0, (4, 2.2)), zorder=1)
    dot = partial(ax.plot, [], [], ls="", marker="o", ms=5.5, mec=theme.muted)
    dot(mfc="none", label="loss falls at every step")
    dot(mfc=theme.muted, label="rises at some step")
    text = f"distance above {FAR:g}"
    ax.plot([], [], ls="", marker="^", ms=6, color=theme.muted, label=text)


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


PANELS = Panels(
    (
        Course(
            title=r"Sharpness $\lambda$ that the flow meets, over its first",
            x=r"training time $(b_0 + |a|^2\sigma_0^2 m)\,t$",
            y=r"$\lambda(t)\,/\,\lambda(0)$",
            scales=("log", "linear"),
            xlim=(0.3, None),
            ylim=(0, None),
            levels={"": 1.0},
            names="upper left",
            lines=tuple(
                Line(
                    label,
                    _sharpening,
                    run=f"{reading} flow",
                    kind=kind,
                    middle="first",
                    band="seeds",
                )
                for reading, (kind, label) in READINGS.items()
            ),
        ),
        Free(
            title="Largest distance of descent's loss from the flow's",
            name="descents",
            x=r"learning rate over $2/\max_t \lambda(t)$",
            y="distance, over the first loss",
            scales=("log", "log"),
            xlim=(2e-3, 12),
            ylim=(1e-4, 1.5 * FAR),
            names="upper left",
            of=_descents,
            picture=_draw,
        ),
    ),
    size=(11.4, 4.8),
)


def _at_start(table: Tables, reading: str) -> np.ndarray:
    """2/λ at initialisation, by seed."""
    flow = table.runs[f"{reading} flow"]
    return 2 / flow["tangent_sharpness"].isel(time=0).values


def values(table: Tables) -> dict[str, Any]:
    """Thresholds, and at each rate the distance and how often the loss rises."""
    return {
        reading: {
            "2/λ at the start": three_numbers(_at_start(table, reading)),
            "2/λ along the flow": three_numbers(descents.threshold),
            "0.01 over the latter": float(np.median(descents.over(PAPERS))),
            "rate": {
                f"{rate:g}": {
                    "over 2/λ along the flow": float(np.median(descents.over(rate))),
                    "distance": float(np.median(descents.gaps[rate])),
                    "seeds whose loss rises": int(descents.rises[rate].sum()),
                }
                for rate in sorted(RATES[reading])
            },
        }
        for reading, descents in table["descents"].items()
    }


def _points(table: Tables) -> np.ndarray:
    """Rate over threshold, distance, and whether the loss rises, for all seeds."""
    rows = [
        (each.over(rate), each.gaps[rate], each.rises[rate])
        for reading, each in table["descents"].items()
        for rate in RATES[reading]
    ]
    return np.concatenate(rows, axis=1)


CHECKS = {
    "up to 2/λ along the flow the loss falls at every step, in every run": (
        lambda t: [not up for over, _, up in _points(t).T if over <= 1]
    ),
    "up to 2/λ the loss stays within a tenth of the initial loss from the flow's": (
        lambda t: [far < 0.1 for over, far, _ in _points(t).T if over <= 1]
    ),
    "beyond twice that rate the loss rises at some step, in every run": (
        lambda t: [up == 1 for over, _, up in _points(t).T if over >= 2]
    ),
    "in the reading of Figure 1, 2/λ at the start is too optimistic: at a rate of 6, "
    "which is below it, the loss rises in every seed": lambda t: (
        (_at_start(t, "fig1") > 6.0) & t["descents"]["fig1"].rises[6.0]
    ),
}

LEARNING_RATE = Exhibit(
    id="learning-rate",
    kind="figure",
    title="Descent follows the flow up to 2/λ at the flow's sharpest point",
    caption=(
        "Sharpness along the flow, and distance of gradient descent from the flow, "
        "for several learning rates, five seeds each, in three readings of the "
        "paper's initialisation. λ is the largest eigenvalue of the Gauss–Newton "
        "matrix at the actual outputs. Left: λ grows in the reading that matches "
        "Figure 1, where the readout gain grows, and in the last one, whose initial "
        "outputs are far from 0; so 2/λ at initialisation is too optimistic. Right: "
        "at learning rates below 2/λ along the flow, descent stays close to the "
        "flow, and above it does not. Arrows: the paper's rate 0.01 in each reading."
    ),
    needs={
        **{
            f"{reading} flow": learning_rates.flow(reading, time)
            for reading, time in TIMES.items()
        },
        **{
            f"{reading} {rate:g}": learning_rates.descent(reading, rate, TIMES[reading])
            for reading, rates in RATES.items()
            for rate in rates
        },
    },
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=(
        "The choice of 0.01 is not explained.",
        "The initialisation is not fully specified: we show three readings.",
    ),
)
