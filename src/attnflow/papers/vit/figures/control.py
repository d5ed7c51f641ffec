"""Control parameter of the boundary, over strong noise and sample length (ours)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Curve, Curves, Panels, Tables
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit._types import Values
from attnflow.papers.vit.figures.runs import READOUT_SILENT, SEEDS_SILENT, strong_noise
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGMAS = (2.0, 4.0, 8.0)
LENGTHS = {16: "", 8: ", half of M"}
MAPS = {
    f"σ̃_p = {sigma:g}{name}": (sigma, length)
    for sigma in SIGMAS
    for length, name in LENGTHS.items()
}
WEAK, STRONG = "N·SNR²", "N‖μ‖²/(σ̃_p²d)"
"""The two control parameters."""


def _cells(evidence: Evidence, name: str, *, strong: bool) -> xr.DataArray:
    """Mean test loss of each cell against a control parameter."""
    run = evidence[name]
    losses = b.losses(run)
    control = b.strength(losses) * (b.strong_ratio(run) if strong else 1.0)
    return xr.DataArray(
        b.mean(losses).values.ravel(), {"control": control.values.ravel()}, ("control",)
    )


def _points(name: str, *, strong: bool) -> Curve:
    """A point for each cell: the strong noise by its colour, M by its shape."""
    sigma, length = MAPS[name]
    long = length == max(LENGTHS)
    return Curve(
        name,
        partial(_cells, name=name, strong=strong),
        kind="noise",
        ramp=(SIGMAS.index(sigma), len(SIGMAS)),
        style={"ls": "", "marker": "o", "ms": 5.0}
        if long
        else {"ls": "", "marker": "D", "ms": 4.4, "fillstyle": "none"},
    )


def _panel(title: str, name: str, x: str, curve: float) -> Curves:
    return Curves(
        title=title,
        name=name,
        x=x,
        y="test loss, mean over seeds",
        scales=("log", "linear"),
        ylim=(0, 0.72),
        curves=tuple(_points(n, strong=name == STRONG) for n in MAPS),
        levels={f"cut at {b.CUT:g}": b.CUT},
        names="",
        finish=partial(_name_curve, curve=curve),
    )


def _name_curve(ax: Axes, table: object, *, curve: float) -> None:
    """The paper's curve, which is one number of the control parameter."""
    theme = figures.current_theme()
    ax.margins(x=0.03)
    ax.axvline(curve, color=theme.colour("theory"), lw=1.1, ls=(0, (4, 2.2)), zorder=1)
    offset = {"xytext": (5, 0), "textcoords": "offset points", "size": "small"}
    ax.annotate(f"{curve:g} (paper)", (curve, 0.69), color=theme.ink, **offset)


def _legend(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    settings = [schema.setting_of(table.runs[name]) for name in MAPS]
    texts = [
        rf"$\tilde\sigma_p = {setting['sigma_strong']:g}$, $M = {setting['length']}$"
        for setting in settings
    ]
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    lines = grid[0, 1].get_lines()[: len(texts)]
    grid[0, 1].legend(lines, texts, **beside, handletextpad=0.2, labelspacing=0.5)


PAPER_RATIO = (0.2 / 4.0) ** 2
"""σ_p²/σ̃_p² in Section 6."""
PANELS = (
    _panel(
        "Signal against weak noise",
        WEAK,
        r"$N\cdot$SNR$^2 = N\,\|\mu\|^2/(\sigma_p^2 d)$",
        b.CURVE,
    ),
    _panel(
        "Signal against strong noise",
        STRONG,
        r"$N\,\|\mu\|^2/(\tilde\sigma_p^2 d)$",
        PAPER_RATIO * b.CURVE,
    ),
)


def middle(run: xr.Dataset) -> float:
    """N · SNR² along the boundary, geometric mean; NaN where the map has none."""
    known = list(b.along(b.losses(run)).values())
    return float(np.exp(np.log(known).mean())) if known else float("nan")


def values(table: Tables) -> Values:
    """Both control parameters along the boundary of each map: mean, and by N."""
    return {
        name: {
            WEAK: middle(run),
            STRONG: middle(run) * b.strong_ratio(run),
            f"{STRONG}, by N": b.along(b.losses(run), b.strong_ratio(run)),
        }
        for name, run in table.runs.items()
    }


def _middles(table: Tables, *, strong: bool) -> np.ndarray:
    """A control parameter at the boundary, by noise and by sample length."""
    ratios = [b.strong_ratio(run) if strong else 1.0 for run in table.runs.values()]
    weak = np.array([middle(run) for run in table.runs.values()])
    return (weak * ratios).reshape(len(SIGMAS), len(LENGTHS))


CHECKS = {
    "N·SNR² at the boundary differs by a factor of 8 or more": lambda t: (
        np.ptp(np.log(_middles(t, strong=False))) >= np.log(8)
    ),
    "N‖μ‖²/(σ̃_p²d) at the boundary differs by less than a factor of 1.8": lambda t: (
        np.ptp(np.log(_middles(t, strong=True))) < np.log(1.8)
    ),
    "halving M moves the boundary by less than a factor of 1.5, where M³ would move "
    "it by 8": lambda t: abs(np.diff(np.log(_middles(t, strong=False)))) < np.log(1.5),
}

CONTROL = Exhibit(
    id="control",
    kind="figure",
    title="The boundary is one in N‖μ‖²/(σ̃_p²d)",
    caption=(
        "Test loss of every cell (N = 8, 12, 16; nine SNRs; mean over three seeds) for "
        "strong noise σ̃_p = 2, 4, 8 and M = 16 (dots) or 8 (diamonds), with classes "
        "of equal size and all else as in Figure 1. a: against N·SNR², which has the "
        "weak noise σ_p. b: against the same with the strong noise, the token that is "
        "memorised: the cells nearly collapse onto one curve. The proof's bound "
        "60M²C_p² on N·SNR² has C_p² = σ̃_p²/σ_p² as b has; no power of M is visible. "
        "Figure 1 varies neither σ_p nor σ̃_p, and cannot distinguish the two "
        "parameters."
    ),
    needs={name: strong_noise(*sizes) for name, sizes in MAPS.items()},
    shows=Panels(PANELS, size=(12.4, 4.5), share_values=True, finish=_legend),
    values=values,
    checks=CHECKS,
    silent=(
        "The paper varies only N and SNR. σ̃_p, M, equal classes and the SNRs around "
        "the boundary are our choices.",
        READOUT_SILENT,
        SEEDS_SILENT,
    ),
)
