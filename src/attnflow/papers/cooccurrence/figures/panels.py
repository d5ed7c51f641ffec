"""Colours, labels and line styles that figures of `cooccurrence` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

TOKENS = {"mu1": ("signal", 0), "mu2": ("signal", 1), "mu3": ("common", 0)}
"""Kind and shade, which determine the colour, of each named token."""
TYPES = {
    "both": ("easy", 0),
    "first": ("hard", 0),
    "second": ("hard", 1),
    "neither": ("noise", 0),
}
"""Kind and shade of each type of sample."""
NAMES = {
    "both": r"both targets",
    "first": r"$\mu_1$ alone",
    "second": r"$\mu_2$ alone",
    "neither": "neither",
}
PAIRS = {
    ("mu1", "mu2"): ("match", 0),
    ("mu2", "mu1"): ("match", 1),
    ("mu3", "mu1"): ("mismatch", 0),
    ("mu3", "mu2"): ("mismatch", 1),
}
"""The scores (key, query) that the paper names."""

READOUT = r"readout $G(\mu) = a^{\top} W\, W_V\,\mu$"
SCORE = r"score $\mu_i^{\top} W_K^{\top} W_Q\,\mu_j$"
CLOCK = r"training time $b_0 t$"


def pair_name(pair: tuple[str, str]) -> str:
    """Label of a score: its key and query."""
    return ", ".join(figures.typeset(token) for token in pair)


def size_name(letter: str, size: float) -> str:
    """Label of a size in mathematics, such as m = 32 768 or n = 10^7."""
    exponent = round(np.log10(size))
    if size >= 1e6 and np.isclose(size, 10.0**exponent):
        return f"${letter} = 10^{{{exponent}}}$"
    grouped = f"{size:,.0f}" if size >= 10_000 else f"{size:.0f}"
    return f"${letter} = " + grouped.replace(",", r"\,") + "$"


def emphasise_first_seed(
    ax: Axes,
    run: xr.Dataset,
    selector: str | xr.DataArray,
    *,
    kind: str,
    label: str,
    shade: int = 0,
) -> Line2D:
    """Draw the first seed as a bold line with its label, the others faintly."""
    for seed in run["seed"].values[1:]:
        series = _of_seed(run, selector, seed)
        line = figures.series(
            ax, *series, kind=kind, shade=shade, label="", band="none"
        )
        line.set(linewidth=0.7, alpha=0.45, zorder=2)
    first = _of_seed(run, selector, run["seed"].values[0])
    return figures.series(ax, *first, kind=kind, shade=shade, label=label)


def _of_seed(
    run: xr.Dataset, selector: str | xr.DataArray, seed: int
) -> tuple[xr.Dataset, str | xr.DataArray]:
    if isinstance(selector, str):
        return run.sel(seed=[seed]), selector
    return run.sel(seed=[seed]), selector.sel(seed=[seed])
