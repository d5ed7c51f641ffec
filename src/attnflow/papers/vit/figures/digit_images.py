"""Figures 2a and 2b: a digit with noise on its border, at two SNRs."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Free, Panels, Tables
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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


def _first(evidence: Evidence, name: str) -> xr.Dataset:
    """The image of the first seed, with its digit and its noise."""
    return evidence[name].isel({SEED: 0})


def _draw(ax: Axes, image: xr.Dataset) -> None:
    """The image cut into patches, and the inner edge of its noisy border."""
    theme, pixels = figures.current_theme(), image["shown"].values
    edges = np.arange(len(pixels) + 1)
    ax.pcolormesh(edges, edges, pixels, cmap=theme.signed, vmin=-LIMIT, vmax=LIMIT)
    for edge in edges[PATCH:-1:PATCH]:
        for line in (ax.axhline, ax.axvline):
            line(edge, color=theme.hairline, lw=0.5)
    low = schema.setting_of(image)["border"]
    high = len(pixels) - low
    corners = [low, high, high, low, low], [low, low, high, high, low]
    figures.outlined(ax, *corners, color=theme.ink)
    ticks = edges[:: 2 * PATCH]
    ax.set(xticks=ticks, yticks=ticks, aspect="equal")
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)


def _scale(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    bar = figures.field_bar(figure, grid[0, -1].collections[0], grid, "pixel")
    bar.set_ticks([-LIMIT, 0.0, LIMIT])


def _border(image: xr.Dataset) -> np.ndarray:
    width = schema.setting_of(image)["border"]
    border = np.ones(image["shown"].shape, bool)
    border[width:-width, width:-width] = False
    return border


def factors(image: xr.Dataset) -> dict[str, float]:
    """Factors of digit and noise in the image, by least squares over the pixels."""
    parts = np.stack([image[name].values.ravel() for name in PARTS.values()], axis=1)
    solution = np.linalg.lstsq(parts, image["shown"].values.ravel(), rcond=None)[0]
    return dict(zip(PARTS, solution.tolist(), strict=True))


def numbers(image: xr.Dataset) -> dict[str, float]:
    """Both factors, and the strength of border and digit."""
    pixels, border = image["shown"].values, _border(image)
    return {
        **factors(image),
        "deviation of a pixel on the border": float(pixels[border].std()),
        "largest pixel inside": float(pixels[~border].max()),
    }


def _is_louder(image: xr.Dataset) -> bool:
    row = numbers(image)
    return row["deviation of a pixel on the border"] > row["largest pixel inside"]


FIGURE2AB = Exhibit(
    id="figure2ab",
    kind="figure",
    title="Figures 2a and 2b: digits with noise on their border",
    caption=(
        "The first training image of the networks of Figure 2c, times SNR/(1 + SNR), "
        "with normal noise times 1/(1 + SNR) on the outer four pixels: one sixth and "
        "five sixths at SNR 0.2, two thirds and one third at SNR 2. MNIST's digits "
        "are drawn within 20 × 20 pixels and then centred, so that they stay inside "
        "the line except for ends of strokes. Cut into patches of 4 × 4 (thin "
        "lines), an image has 24 patches of noise and 25 of digit: separate tokens, "
        "as in the theory."
    ),
    needs=NEEDS,
    shows=Panels(
        tuple(
            Free(
                title=name,
                x="column of pixels",
                y="row of pixels",
                of=partial(_first, name=name),
                picture=_draw,
                numbers=numbers,
                ticks={},
                names="",
            )
            for name in NEEDS
        ),
        size=(9.6, 4.6),
        finish=_scale,
    ),
    stated={
        "Section 6, MNIST experiments setting": {
            "noise is on every pixel of the outer four rows and columns, and on no "
            "other": lambda t: [
                (image["noise"].values != 0) == _border(image) for image in t.values()
            ]
        }
    },
    checks={
        "both images show the same digit with the same noise": lambda t: [
            np.array_equal(first[name], other[name])
            for name in ("digit", "noise")
            for first, other in itertools.combinations(t.values(), 2)
        ],
        "at SNR 0.2 the noise is stronger than the digit, at 2 weaker": lambda t: (
            [_is_louder(image) for image in t.values()] == [True, False]
        ),
    },
    printed=PRINTED,
    tolerance=1e-6,
    silent=(
        "The scale of pixels and the deviation of the noise before it is multiplied "
        "are not stated. Ours are from 0 to 1, and 1.",
        "Which digit is shown is not stated. Ours is the first that seed 0 draws.",
    ),
)
