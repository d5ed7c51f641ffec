"""J for vocabularies from 10³ to 10⁹: when attention snaps, and what a flow costs."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.runs import VOCABULARIES, joint
from attnflow.papers.scansnap.stages import attention_snap, series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATE, RATIO = 1.0, 10.0
BYTES = 8
AROUND = (6e2, 1.6e9)
"""Limits of axes of M, with room for marks."""
COST = 10.0
"""How many times as much large vocabularies may cost: time on a busy machine is good
to a factor of 3, and M grows by ten thousand."""


def name(size: int) -> str:
    """The name of a run among the evidence."""
    return f"M = {size:g}"


def snaps(evidence: Evidence) -> np.ndarray:
    """When the top token's score moves fastest (D2), in K/η_Y, by M."""
    runs = [evidence[name(size)] for size in VOCABULARIES]
    return np.array([panels.clock(r) * attention_snap(r).times[0] for r in runs])


def peaks(evidence: Evidence) -> np.ndarray:
    """When the decoder's γ peaks by its closed form, in K/η_Y, by M."""
    runs = [evidence[name(size)] for size in VOCABULARIES]
    return np.array([panels.clock(run) * panels.decoder(run).peak for run in runs])


def seconds(evidence: Evidence) -> np.ndarray:
    """Wall time of each flow without tracing and compiling, by M."""
    notes = [evidence[name(size)].attrs for size in VOCABULARIES]
    return np.array([n["wall_seconds"] - n["compile_seconds"] for n in notes])


def draw(evidence: Evidence) -> "Figure":
    """Velocities, when they peak, and what they cost."""
    titles = [
        rf"$\mathbf{{J}}$, $\eta_Y = {RATIO:g}\,\eta_Z$: speed of the top token",
        r"when attention snaps, with $t_0' = K\ln M/\eta_Y$",
        "what a flow costs",
    ]
    figure, grid = figures.panels(1, 3, titles=titles, size=(15.0, 4.4))
    _speeds(grid[0, 0], evidence)
    _times(grid[0, 1], evidence)
    _costs(grid[0, 2], evidence)
    return figure


def _speeds(ax: "Axes", evidence: Evidence) -> None:
    ramp = figures.current_theme().ramp("easy", len(VOCABULARIES))
    for colour, size in zip(ramp, VOCABULARIES, strict=True):
        run = evidence[name(size)]
        velocity = series.top_velocity(run).isel({SEED: 0})
        times, speed = panels.positive(velocity, panels.clock(run))
        label = rf"$M = 10^{{{round(np.log10(size))}}}$"
        ax.plot(times, speed / speed.max(), color=colour, label=label)
    ax.set(xscale="log", xlabel=panels.CLOCK, ylabel="speed, of its largest")
    ax.set(xlim=(0.1, 1e3), ylim=(0, 1.05))
    figures.number_axis(ax, "x")
    ax.legend(loc="upper right", fontsize=9.5)


def _times(ax: "Axes", evidence: Evidence) -> None:
    theme, sizes = figures.current_theme(), np.array(VOCABULARIES, float)
    mark: dict[str, Any] = {"marker": "o", "ms": 6.5, "ls": "", "mec": theme.paper}
    ax.plot(sizes, snaps(evidence), color=theme.colour("easy"), **mark)
    panels.remark(ax, (0.45, 0.05), "dots: fastest motion in J")
    runs = [evidence[name(size)] for size in VOCABULARIES]
    units = [panels.clock(run) for run in runs]
    found = [panels.decoder(run) for run in runs]
    lines = {
        r"$t_0$": [d.snap for d in found],
        r"$t_0'$": [d.scan_end for d in found],
        "γ's peak": [d.peak for d in found],
    }
    for text, times in lines.items():
        figures.theory(ax, sizes, np.array(units) * times, label=text)
    ax.set(xscale="log", xlabel="vocabulary $M$", ylabel=panels.CLOCK)
    ax.set(xlim=AROUND, ylim=(0, None))
    figures.number_axis(ax, "x")
    figures.label_ends(ax, size=10.5)


def _costs(ax: "Axes", evidence: Evidence) -> None:
    theme, sizes = figures.current_theme(), np.array(VOCABULARIES, float)
    mark: dict[str, Any] = {"marker": "o", "ms": 6.5, "mec": theme.paper, "lw": 1.4}
    ax.plot(sizes, seconds(evidence), color=theme.colour("easy"), **mark)
    ax.set(xscale="log", yscale="log", xlabel="vocabulary $M$")
    ax.set(ylabel="seconds, without compiling", xlim=AROUND, ylim=(1e-3, 1e2))
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    text = "two tables would take\n16 MB at $M = 10^3$, 16 EB at $M = 10^9$"
    panels.remark(ax, (0.05, 0.95), text)


def values(evidence: Evidence) -> dict[str, Any]:
    """Times of the snap, cost, and how well sums are conserved."""
    runs = [evidence[name(size)] for size in VOCABULARIES]
    tables = {
        "fastest motion in K/η_Y": snaps(evidence),
        "peak of γ in K/η_Y": peaks(evidence),
        "seconds": seconds(evidence),
        "bytes of both tables": [2 * BYTES * float(M) ** 2 for M in VOCABULARIES],
        "kinds of tokens": [run.sizes["token"] for run in runs],
        "drift of conserved sums": [_drift(run) for run in runs],
    }
    return {
        "growth of the fastest motion per unit of ln M": _per_unit(evidence),
        **{t: panels.named(map(name, VOCABULARIES), row) for t, row in tables.items()},
    }


def _per_unit(evidence: Evidence) -> float:
    """The slope of the time of fastest motion, in K/η_Y, over ln M."""
    found = snaps(evidence)
    if not np.isfinite(found).all():
        return float("nan")
    return float(np.polyfit(np.log(VOCABULARIES), found, 1)[0])


def _drift(run: xr.Dataset) -> float:
    return float(run["drift"].max())


def seen(evidence: Evidence) -> dict[str, bool]:
    """The law of the snap, and its flat cost."""
    found, cost = snaps(evidence), seconds(evidence)
    kinds = {evidence[name(M)].sizes["token"] for M in VOCABULARIES}
    drifts = [_drift(evidence[name(M)]) for M in VOCABULARIES]
    return {
        "the larger M, the later attention snaps": bool((np.diff(found) > 0).all()),
        "per unit of ln M it is later by K/η_Y, to 10%": (
            abs(_per_unit(evidence) - 1) < 0.1
        ),
        "attention snaps near γ's peak: within 15%": bool(
            (np.abs(found / peaks(evidence) - 1) < 0.15).all()
        ),
        "the three largest vocabularies cost less than ten times what the three "
        "smallest do, by their medians": bool(
            np.median(cost[-3:]) < COST * np.median(cost[:3])
        ),
        "kinds of tokens are as many for every M, and sums are conserved to 1e-6": (
            len(kinds) == 1 and max(drifts) < 1e-6
        ),
    }


SCALING = Exhibit(
    id="scaling",
    kind="figure",
    title="From a thousand tokens to a thousand million: when attention snaps",
    caption=(
        "System J in Figure 3's geometry (K = 10, one common token), η_Y = 10 η_Z, "
        "gradient flow to t = 1e6. Left: how fast the dominant token's score moves, "
        "over its largest speed. Middle: when that is, beside the closed form for the "
        "peak of γ and the paper's t0' and t0 (dashed): it grows as K ln M/η_Y. Right: "
        "wall time of the flow. Tokens that data and start treat alike share a row, so "
        "that nothing grows with M."
    ),
    needs={
        name(M): joint(RATE, vocabulary=M, score_rate=RATE / RATIO, until=1e6)
        for M in VOCABULARIES
    },
    draw=draw,
    values=values,
    seen=seen,
    silent=("Ours. Vocabularies, rates and time are our choice.",),
)
