"""Figures 2a and 2b: a digit with noise on its border, at two SNRs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

RATIOS = (0.2, 2.0)
NEEDS = {f"SNR = {snr:g}": Request("mnist-image", {"snr": snr}) for snr in RATIOS}
PRINTED = {
    "SNR = 0.2": {"factor of the image": 1 / 6, "factor of the noise": 5 / 6},
    "SNR = 2": {"factor of the image": 2 / 3, "factor of the noise": 1 / 3},
}
PATCH = 4
LIMIT = 1.0
"""End of the colour scale; at SNR 0.2 noise exceeds it."""
PARTS = {"factor of the image": "digit", "factor of the noise": "noise"}


def draw(evidence: Evidence) -> Figure:
    """Training images on one colour scale, cut into patches."""
    figure, grid = figures.panels(1, len(evidence), titles=[*evidence], size=(9.6, 4.6))
    mesh = None
    for ax, run in zip(grid[0], evidence.values(), strict=True):
        mesh = _image(ax, _first(run)["shown"].values)
        _frame(ax, schema.setting_of(run)["border"], run.sizes["row"])
    if mesh is not None:
        bar = figures.field_bar(figure, mesh, grid, "pixel")
        bar.set_ticks([-LIMIT, 0.0, LIMIT])
    return figure


def _image(ax: Axes, pixels: np.ndarray) -> QuadMesh:
    theme = figures.current_theme()
    edges = np.arange(len(pixels) + 1)
    mesh = ax.pcolormesh(
        edges, edges, pixels, cmap=theme.signed, vmin=-LIMIT, vmax=LIMIT
    )
    for edge in edges[PATCH:-1:PATCH]:
        for line in (ax.axhline, ax.axvline):
            line(edge, color=theme.hairline, lw=0.5)
    ax.set(xlabel="column of pixels", ylabel="row of pixels", aspect="equal")
    ax.set(xticks=edges[:: 2 * PATCH], yticks=edges[:: 2 * PATCH])
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    return mesh


def _frame(ax: Axes, border: int, side: int) -> None:
    """Inner edge of the noisy border, in an image of `side` rows."""
    low, high = border, side - border
    corners = [low, high, high, low, low], [low, low, high, high, low]
    figures.outlined(ax, *corners, color=figures.current_theme().ink)


def _first(run: xr.Dataset) -> xr.Dataset:
    return run.isel({SEED: 0})


def factors(run: xr.Dataset) -> dict[str, float]:
    """Factors of image and noise, by least squares over the pixels."""
    first = _first(run)
    parts = np.stack([first[name].values.ravel() for name in PARTS.values()], axis=1)
    solution = np.linalg.lstsq(parts, first["shown"].values.ravel(), rcond=None)[0]
    return dict(zip(PARTS, solution.tolist(), strict=True))


def _border(run: xr.Dataset) -> np.ndarray:
    width = schema.setting_of(run)["border"]
    inside = slice(width, -width)
    border = np.ones(_first(run)["shown"].shape, bool)
    border[inside, inside] = False
    return border


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Both factors, and the strength of border and digit."""
    numbers: dict[str, dict[str, float]] = {}
    for name, run in evidence.items():
        pixels, border = _first(run)["shown"].values, _border(run)
        numbers[name] = {
            **factors(run),
            "deviation of a pixel on the border": float(pixels[border].std()),
            "largest pixel inside": float(pixels[~border].max()),
        }
    return numbers


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether noise is only on the border."""
    sentences = {
        "noise is on every pixel of the outer four rows and columns, and on no other": (
            all(
                np.array_equal(_first(run)["noise"].values != 0, _border(run))
                for run in evidence.values()
            )
        )
    }
    return {"Section 6, MNIST experiments setting": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether it is one digit, and which of digit and noise is stronger."""
    runs = [*evidence.values()]
    noise = [_first(run)["noise"].values for run in runs]
    digits = [_first(run)["digit"].values for run in runs]
    numbers = values(evidence)
    louder = [
        row["deviation of a pixel on the border"] > row["largest pixel inside"]
        for row in numbers.values()
    ]
    return {
        "it is one digit, with the same noise": all(
            np.array_equal(each[0], other)
            for each in (digits, noise)
            for other in each[1:]
        ),
        "at SNR 0.2 the noise is stronger than the digit, at 2 weaker": louder
        == [True, False],
    }


FIGURE2AB = Exhibit(
    id="figure2ab",
    kind="figure",
    title="Figures 2a and 2b: digits with noise on their border",
    caption=(
        "The first image that the networks of Figure 2c train on, times SNR/(1 + SNR), "
        "with normal noise times 1/(1 + SNR) on the outer four pixels: one sixth and "
        "five sixths at SNR 0.2, two thirds and one third at SNR 2. MNIST's digits "
        "are drawn within 20 × 20 pixels and then centred, so that they stay "
        "inside the line except for ends of strokes. Cut into patches of 4 × 4 (thin "
        "lines), an image has 24 of noise and 25 of digit, as the samples of the "
        "theory have."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    printed=PRINTED,
    tolerance=1e-6,
    silent=(
        "The scale of pixels and the deviation of the noise before it is multiplied "
        "are not stated. Ours are from 0 to 1, and 1.",
        "Which digit is shown is not stated. Ours is the first that seed 0 draws.",
    ),
)
