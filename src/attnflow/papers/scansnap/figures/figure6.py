"""Figure 6: entropy on distinct tokens after training, by learning rates."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import _dims, figures, schema
from attnflow.paper import Evidence, Exhibit
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.published import HALF_DIGIT, MEANS, SPREADS
from attnflow.papers.scansnap.figures.runs import (
    GRID,
    PANELS,
    REPLAYS,
    SYN_MEDIUM_SILENT,
    panel_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEAN = "mean by η_Z (rows) and η_Y/η_Z"
SPREAD = "standard deviation over seeds"
NOISE = 2.0
"""Standard errors within which an order of two means is not held against them."""
RATIOS = (1, 2, 5, 10)
ASIDE = 1.035
"""What shifts curves sideways, so that their bars stand apart."""


def entropy(evidence: Evidence, queries: int) -> xr.DataArray:
    """The entropies of a panel by seed, η_Z and ratio."""
    return evidence[panel_name(queries)]["mean_distinct_entropy"].isel(queries=0)


def table(evidence: Evidence, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations over seeds, by η_Z and ratio."""
    found = entropy(evidence, queries).transpose(_dims.SEED, "score_rate", "ratio")
    return found.values.mean(axis=0), found.values.std(axis=0, ddof=1)


def draw(evidence: Evidence) -> "Figure":
    """A panel for each number of queries; published means as rings."""
    titles = [f"{q} quer{'y' if q == 1 else 'ies'}, $K = {2 * q}$" for q in PANELS]
    figure, grid = figures.panels(
        1, len(PANELS), titles=titles, size=(14.4, 4.3), share_values=True
    )
    for ax, queries in zip(grid[0], PANELS, strict=True):
        _panel(ax, evidence, queries)
    grid[0, 0].set_ylabel(panels.ENTROPY)
    _legend(grid[0, 0])
    figures.label_ends(grid[0, -1], size=10.5)
    return figure


def _panel(ax: "Axes", evidence: Evidence, queries: int) -> None:
    theme, found = figures.current_theme(), entropy(evidence, queries)
    means, spreads = table(evidence, queries)
    rates, ratios = found["score_rate"].values, found["ratio"].values
    for i, colour in enumerate(theme.ramp("easy", len(rates))):
        label = rf"$\eta_Z = {rates[i]:g}$"
        place = ratios * ASIDE ** (i - 1.5)
        ax.plot(place, means[i], color=colour, label=label, marker="o", ms=4, zorder=3)
        low, high = means[i] - spreads[i], means[i] + spreads[i]
        ax.vlines(place, low, high, color=colour, lw=1.4, zorder=2)
    for i, row in enumerate(MEANS.get(queries, ())):
        ring = {"ls": "", "marker": "o", "ms": 8.5, "mfc": "none", "mec": theme.ink}
        place = np.array(RATIOS) * ASIDE ** (i - 1.5)
        ax.plot(place, row, mew=0.9, zorder=5, **ring)
    ax.set(xscale="log", xlabel=r"ratio $\eta_Y/\eta_Z$", xlim=(0.85, 11.8))
    ax.set_xticks(ratios, [f"{ratio:g}" for ratio in ratios])
    ax.minorticks_off()


def _legend(ax: "Axes") -> None:
    theme = figures.current_theme()
    text = "rings: published means\nbars: ± one standard deviation"
    place = {"transform": ax.transAxes, "va": "bottom", "size": "small"}
    ax.text(0.3, 0.03, text, color=theme.muted, **place)


def values(evidence: Evidence) -> dict[str, Any]:
    """Means and spreads of all cells."""
    found: dict[str, Any] = {}
    for queries in PANELS:
        means, spreads = table(evidence, queries)
        found[panel_name(queries)] = {MEAN: means.tolist(), SPREAD: spreads.tolist()}
    return found


def whole(evidence: Evidence, queries: int) -> bool:
    """Whether a panel is a replay of all that was published, and not a quick one."""
    run = evidence[panel_name(queries)]
    setting = schema.setting_of(run)
    sizes = (setting["batch"], setting["steps"], run.sizes[_dims.SEED])
    return setting["stream"] == "published" and sizes == (128, 100, 10)


def seen(evidence: Evidence) -> dict[str, bool]:
    """Orders of cells; and, of whole panels, the printed digits."""
    cells = {queries: table(evidence, queries) for queries in PANELS}
    means = np.array([mean for mean, _ in cells.values()])
    error = np.array([spread for _, spread in cells.values()]) / np.sqrt(10)
    rising = np.diff(means[:, :, 1:], axis=2) > -NOISE * error[:, :, 2:]
    found = {
        "entropy falls with η_Z at every ratio, in every panel": bool(
            (np.diff(means, axis=1) < 0).all()
        ),
        "from ratio 2 on entropy rises with the ratio, but for noise of two standard "
        "errors": bool(rising.all() and (means[:, :, 3] > means[:, :, 1]).all()),
        "from ratio 1 to 2 it falls with several queries, and rises with one": bool(
            (means[1:, :, 1] < means[1:, :, 0]).all()
            and (means[0, :, 1] > means[0, :, 0]).all()
        ),
    }
    exact = [queries for queries in MEANS if whole(evidence, queries)]
    if exact:
        found[
            "of panels replayed in full, every mean and spread has the digits that "
            "are published"
        ] = all(
            np.abs(cells[q][0] - MEANS[q]).max() < HALF_DIGIT
            and np.abs(cells[q][1] - SPREADS[q]).max() < HALF_DIGIT
            for q in exact
        )
    return found


FIGURE6 = Exhibit(
    id="figure6",
    kind="figure",
    title="Figure 6: entropy on distinct tokens by learning rates",
    caption=(
        "System J: both tables by heavy ball (0.9), 100 steps on batches of 128 "
        "sequences of 128 tokens, Syn-Medium with two next tokens for each query, "
        "uniform initial tables; mean over 10 seeds and one standard deviation (the "
        "caption's 'of the mean' is the deviation itself). Rings are published "
        "means, of the two panels that we have them of. Entropy falls with η_Z, and "
        "rises with η_Y/η_Z from 2 on. Figure `decomposition` says why η_Z matters: "
        "in a flow it could not."
    ),
    needs=GRID,
    draw=draw,
    values=values,
    seen=seen,
    printed={panel_name(3): {MEAN: [list(row) for row in MEANS[3]]}} if REPLAYS else {},
    tolerance=4e-4,
    silent=(
        *SYN_MEDIUM_SILENT,
        "What the average is taken of is not stated: entropy of attention among the "
        "class's distinct tokens, renormalised, natural logarithm, mean over classes.",
    ),
)
