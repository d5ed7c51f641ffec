"""Figures 2a and 2b: a digit with noise on its border, at two SNRs."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import SEED

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
"""The fullest colours; at SNR 0.2 noise goes beyond."""
PARTS = {"factor of the image": "digit", "factor of the noise": "noise"}


def draw(evidence: Evidence) -> "Figure":
    """What a network is shown, on one scale, cut into patches."""
    figure, grid = figures.panels(1, len(evidence), titles=[*evidence], size=(9.6, 4.6))
    mesh = None
    for ax, run in zip(grid[0], evidence.values(), strict=True):
        mesh = _image(ax, _first(run)["shown"].values)
        _frame(ax, schema.setting_of(run)["border"], run.sizes["row"])
    if mesh is not None:
        bar = figures.field_bar(figure, mesh, grid, "pixel")
        bar.set_ticks([-LIMIT, 0.0, LIMIT])
    return figure


def _image(ax: "Axes", shown: np.ndarray) -> "QuadMesh":
    theme = figures.current_theme()
    places = np.arange(len(shown) + 1)
    mesh = ax.pcolormesh(
        places, places, shown, cmap=theme.signed, vmin=-LIMIT, vmax=LIMIT
    )
    for place in places[PATCH:-1:PATCH]:
        for line in (ax.axhline, ax.axvline):
            line(place, color=theme.hairline, lw=0.5)
    ax.set(xlabel="column of pixels", ylabel="row of pixels", aspect="equal")
    ax.set(xticks=places[:: 2 * PATCH], yticks=places[:: 2 * PATCH])
    ax.invert_yaxis()
    ax.spines[:].set_visible(False)
    return mesh


def _frame(ax: "Axes", border: int, side: int) -> None:
    """A line inside of which there is no noise, of an image with so many rows."""
    low, high = border, side - border
    corners = [low, high, high, low, low], [low, low, high, high, low]
    figures.outlined(ax, *corners, color=figures.current_theme().ink)


def _first(run: xr.Dataset) -> xr.Dataset:
    return run.isel({SEED: 0})


def factors(run: xr.Dataset) -> dict[str, float]:
    """By how much image and noise were multiplied, as pixels tell by least squares."""
    one = _first(run)
    parts = np.stack([one[name].values.ravel() for name in PARTS.values()], axis=1)
    found = np.linalg.lstsq(parts, one["shown"].values.ravel(), rcond=None)[0]
    return dict(zip(PARTS, found.tolist(), strict=True))


def _border(run: xr.Dataset) -> np.ndarray:
    width = schema.setting_of(run)["border"]
    inside = slice(width, -width)
    found = np.ones(_first(run)["shown"].shape, bool)
    found[inside, inside] = False
    return found


def values(evidence: Evidence) -> dict[str, Any]:
    """Both factors, and how strong the border is beside the digit."""
    found: dict[str, Any] = {}
    for name, run in evidence.items():
        shown, border = _first(run)["shown"].values, _border(run)
        found[name] = {
            **factors(run),
            "deviation of a pixel on the border": float(shown[border].std()),
            "largest pixel inside": float(shown[~border].max()),
        }
    return found


def seen(evidence: Evidence) -> dict[str, bool]:
    """Noise is on the border alone, in the stated factors, on one digit."""
    runs = [*evidence.values()]
    noise = [_first(run)["noise"].values for run in runs]
    digits = [_first(run)["digit"].values for run in runs]
    borders = [_border(run) for run in runs]
    told = values(evidence)
    louder = [
        one["deviation of a pixel on the border"] > one["largest pixel inside"]
        for one in told.values()
    ]
    return {
        "noise is on every pixel of the border, and on no other": all(
            np.array_equal(n != 0, border)
            for n, border in zip(noise, borders, strict=True)
        ),
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
        "are drawn within 20 × 20 pixels and then centred, so that they keep to the "
        "inside of the line but for ends of strokes. Cut into patches of 4 × 4 (thin "
        "lines), an image has 24 of noise and 25 of digit, as the samples of the "
        "theory have."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    seen=seen,
    printed=PRINTED,
    tolerance=1e-6,
    silent=(
        "The scale of pixels and the deviation of the noise before it is multiplied "
        "are not stated. Ours are from 0 to 1, and 1.",
        "Which digit is shown is not stated. Ours is the first that seed 0 draws.",
    ),
)
