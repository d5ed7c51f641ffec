"""Figure: time of the snap and cost of a flow of J, for M = 10³ to 10⁹."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.runs import VOCABULARIES, joint
from attnflow.papers.scansnap.stages import ATTENTION_SNAP, series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATE, RATIO = 1.0, 10.0
BYTES = 8
AROUND = (6e2, 1.6e9)
"""Limits of axes of M, with room for marks."""
COST = 10.0
"""Largest allowed cost ratio of large to small vocabularies: timing on a busy machine
is good to a factor of 3, and M grows by ten thousand."""


def name(size: int) -> str:
    """Name of a run in the evidence."""
    return f"M = {size:g}"


def snaps(evidence: Evidence) -> np.ndarray:
    """Times at which the top token's score moves fastest (D2), in K/η_Y, by M."""
    runs = [evidence[name(size)] for size in VOCABULARIES]
    return np.array([panels.clock(r) * ATTENTION_SNAP(r).times[0] for r in runs])


def peaks(evidence: Evidence) -> np.ndarray:
    """Times at which γ peaks by its closed form, in K/η_Y, by M."""
    runs = [evidence[name(size)] for size in VOCABULARIES]
    return np.array([panels.clock(run) * panels.decoder(run).peak for run in runs])


def seconds(evidence: Evidence) -> np.ndarray:
    """Wall time of each flow without tracing and compilation, by M."""
    notes = [evidence[name(size)].attrs for size in VOCABULARIES]
    return np.array([n["wall_seconds"] - n["compile_seconds"] for n in notes])


def draw(evidence: Evidence) -> Figure:
    """Panels: velocities, times of their peaks, and wall time."""
    titles = [
        rf"$\mathbf{{J}}$, $\eta_Y = {RATIO:g}\,\eta_Z$: speed of the top token",
        r"when attention snaps, with $t_0' = K\ln M/\eta_Y$",
        "wall time of a flow",
    ]
    figure, grid = figures.panels(1, 3, titles=titles, size=(15.0, 4.4))
    _speeds(grid[0, 0], evidence)
    _times(grid[0, 1], evidence)
    _costs(grid[0, 2], evidence)
    return figure


def _speeds(ax: Axes, evidence: Evidence) -> None:
    ramp = figures.current_theme().ramp("easy", len(VOCABULARIES))
    for colour, size in zip(ramp, VOCABULARIES, strict=True):
        run = evidence[name(size)]
        velocity = series.top_velocity(run).isel({SEED: 0})
        times, speed = panels.positive(velocity, panels.clock(run))
        label = rf"$M = 10^{{{round(np.log10(size))}}}$"
        ax.plot(times, speed / speed.max(), color=colour, label=label)
    ax.set(xscale="log", xlabel=panels.CLOCK, ylabel="speed / largest speed")
    ax.set(xlim=(0.1, 1e3), ylim=(0, 1.05))
    figures.number_axis(ax, "x")
    ax.legend(loc="upper right", fontsize=9.5)


def _times(ax: Axes, evidence: Evidence) -> None:
    theme, sizes = figures.current_theme(), np.array(VOCABULARIES, float)
    ax.plot(
        sizes,
        snaps(evidence),
        color=theme.colour("easy"),
        marker="o",
        ms=6.5,
        ls="",
        mec=theme.paper,
    )
    panels.remark(ax, (0.45, 0.05), "dots: fastest motion in J")
    runs = [evidence[name(size)] for size in VOCABULARIES]
    units = [panels.clock(run) for run in runs]
    decoders = [panels.decoder(run) for run in runs]
    lines = {
        r"$t_0$": [d.snap for d in decoders],
        r"$t_0'$": [d.scan_end for d in decoders],
        "γ's peak": [d.peak for d in decoders],
    }
    for text, times in lines.items():
        figures.theory(ax, sizes, np.array(units) * times, label=text)
    ax.set(xscale="log", xlabel="vocabulary $M$", ylabel=panels.CLOCK)
    ax.set(xlim=AROUND, ylim=(0, None))
    figures.number_axis(ax, "x")
    figures.label_ends(ax, size=10.5)


def _costs(ax: Axes, evidence: Evidence) -> None:
    theme, sizes = figures.current_theme(), np.array(VOCABULARIES, float)
    ax.plot(
        sizes,
        seconds(evidence),
        color=theme.colour("easy"),
        marker="o",
        ms=6.5,
        mec=theme.paper,
        lw=1.4,
    )
    ax.set(xscale="log", yscale="log", xlabel="vocabulary $M$")
    ax.set(ylabel="seconds, without compilation", xlim=AROUND, ylim=(1e-3, 1e2))
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    text = "two tables would take\n16 MB at $M = 10^3$, 16 EB at $M = 10^9$"
    panels.remark(ax, (0.05, 0.95), text)


def values(evidence: Evidence) -> Numbers:
    """Times of the snap, wall time, and drift of conserved sums."""
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
    times = snaps(evidence)
    if not np.isfinite(times).all():
        return float("nan")
    return float(np.polyfit(np.log(VOCABULARIES), times, 1)[0])


def _drift(run: xr.Dataset) -> float:
    return float(run["drift"].max())


def checks(evidence: Evidence) -> dict[str, bool]:
    """Sentences on the time of the snap and on wall time."""
    times, cost = snaps(evidence), seconds(evidence)
    kinds = {evidence[name(M)].sizes["token"] for M in VOCABULARIES}
    drifts = [_drift(evidence[name(M)]) for M in VOCABULARIES]
    return {
        "the larger M, the later attention snaps": bool((np.diff(times) > 0).all()),
        "per unit of ln M it is later by K/η_Y, to 10%": (
            abs(_per_unit(evidence) - 1) < 0.1
        ),
        "attention snaps near γ's peak: within 15%": bool(
            (np.abs(times / peaks(evidence) - 1) < 0.15).all()
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
        "wall time of the flow. Tokens that are equivalent in the data and at "
        "initialisation share a row, so that no array grows with M."
    ),
    needs={
        name(M): joint(RATE, vocabulary=M, score_rate=RATE / RATIO, until=1e6)
        for M in VOCABULARIES
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=("Ours. Vocabularies, rates and time are our choice.",),
)
