"""Figure 6: entropy of attention on distinct tokens, by learning rates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.published import HALF_DIGIT, MEANS, SPREADS
from attnflow.papers.scansnap.figures.runs import (
    GRID,
    PANELS,
    RATIOS,
    SCORE_RATES,
    SYN_MEDIUM_SILENT,
    panel_name,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEAN = "mean"
SPREAD = "standard deviation over seeds"
NOISE = 2.0
"""Standard errors within which two means count as ordered either way."""
DIGITS = (
    "of panels replayed in full, every mean and spread has the digits that are "
    "published"
)


def entropy(evidence: Evidence, queries: int) -> xr.DataArray:
    """The entropies of a panel by seed, η_Z and ratio."""
    entropies = evidence[panel_name(queries)]["mean_distinct_entropy"].isel(queries=0)
    return entropies.transpose(SEED, "score_rate", "ratio")


def table(evidence: Evidence, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations over seeds, by η_Z and ratio."""
    entropies = entropy(evidence, queries).values
    return entropies.mean(axis=0), entropies.std(axis=0, ddof=1)


def draw(evidence: Evidence) -> Figure:
    """A panel for each number of queries; published means as rings."""
    titles = list(map(panels.queries_title, PANELS))
    figure, grid = figures.panels(
        1, len(PANELS), titles=titles, size=(14.4, 4.3), share_values=True
    )
    for ax, queries in zip(grid[0], PANELS, strict=True):
        _panel(ax, evidence, queries)
    grid[0, 0].set_ylabel(panels.ENTROPY)
    text = "rings: published means\nbars: ± one standard deviation"
    panels.remark(grid[0, 0], (0.3, 0.03), text)
    figures.label_ends(grid[0, -1], size=10.5)
    return figure


def _panel(ax: Axes, evidence: Evidence, queries: int) -> None:
    theme, entropies = figures.current_theme(), entropy(evidence, queries)
    ratios = entropies["ratio"].values
    colours = dict(zip(SCORE_RATES, theme.ramp("easy", len(SCORE_RATES)), strict=True))
    rows = zip(entropies["score_rate"].values, *table(evidence, queries), strict=True)
    for rate, mean, spread in rows:
        positions, colour = ratios * _aside(rate), colours[rate]
        label = rf"$\eta_Z = {rate:g}$"
        ax.plot(positions, mean, color=colour, label=label, marker="o", ms=4, zorder=3)
        ax.vlines(
            positions, mean - spread, mean + spread, color=colour, lw=1.4, zorder=2
        )
    ring = {"ls": "", "marker": "o", "ms": 8.5, "mfc": "none", "mec": theme.ink}
    for rate, row in zip(SCORE_RATES, MEANS.get(queries, ()), strict=False):
        if rate in entropies["score_rate"]:
            published = [row[RATIOS.index(ratio)] for ratio in ratios]
            ax.plot(ratios * _aside(rate), published, mew=0.9, zorder=5, **ring)
    ax.set(xscale="log", xlabel=r"ratio $\eta_Y/\eta_Z$", xlim=(0.85, 11.8))
    ax.set_xticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
    ax.minorticks_off()


def _aside(rate: float) -> float:
    """Factor that shifts a curve sideways, so that error bars do not overlap."""
    return 1.035 ** (SCORE_RATES.index(rate) - 1.5)


def by_name(
    rates: Iterable[float], ratios: Iterable[float], cells: Iterable[Iterable[float]]
) -> dict[str, dict[str, float]]:
    """Cells by the names of η_Z and of the ratio."""
    names = [f"η_Y/η_Z = {ratio:g}" for ratio in ratios]
    rows = zip(rates, cells, strict=True)
    return {f"η_Z = {rate:g}": panels.named(names, row) for rate, row in rows}


def values(evidence: Evidence) -> Numbers:
    """Means and spreads of all cells."""
    numbers: dict[str, float | Numbers] = {}
    for queries in PANELS:
        cells = entropy(evidence, queries)
        axes = cells["score_rate"].values, cells["ratio"].values
        tables = zip((MEAN, SPREAD), table(evidence, queries), strict=True)
        numbers[panel_name(queries)] = {text: by_name(*axes, t) for text, t in tables}
    return numbers


def is_full_replay(evidence: Evidence, queries: int) -> bool:
    """Whether a panel replays all of the published runs, and not some of them."""
    run = evidence[panel_name(queries)]
    setting = schema.setting_of(run)
    sizes = (setting["batch"], setting["steps"], run.sizes[SEED])
    cells = (run.sizes["score_rate"], run.sizes["ratio"])
    is_replay = setting["stream"] == "published"
    return is_replay and sizes == (128, 100, 10) and cells == (4, 4)


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """The order of cells."""
    cells = [entropy(evidence, queries) for queries in PANELS]
    sentences = {
        "entropy falls with η_Z, at every ratio, in every panel": all(
            bool((table.mean(SEED).diff("score_rate") < 0).all()) for table in cells
        ),
        "past the ratio 2 entropy rises with η_Y at fixed η_Z, but for noise of two "
        "standard errors": all(map(_rises, cells)),
    }
    return {"Section 8": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """What is below the ratio 2, and the digits of full replays."""
    cells = {queries: entropy(evidence, queries) for queries in PANELS}
    steps = {queries: _first_step(table) for queries, table in cells.items()}
    answers = {
        "from ratio 1 to 2 it falls with several queries, and rises with one": all(
            bool((step > 0).all() if queries == 1 else (step < 0).all())
            for queries, step in steps.items()
        ),
    }
    exact = [queries for queries in MEANS if is_full_replay(evidence, queries)]
    if exact:
        answers[DIGITS] = all(_has_digits(evidence, queries) for queries in exact)
    return answers


def _first_step(cells: xr.DataArray) -> np.ndarray:
    """The change of the mean from ratio 1 to ratio 2, by η_Z."""
    means = cells.mean(SEED)
    return means.sel(ratio=2.0).values - means.sel(ratio=1.0).values


def _rises(cells: xr.DataArray) -> bool:
    """Whether means rise from ratio 2 on, within noise, and on the whole."""
    late = cells.sel(ratio=cells["ratio"] >= 2).values
    means = late.mean(axis=0)
    errors = late.std(axis=0, ddof=1) / np.sqrt(len(late))
    rising = np.diff(means, axis=1) > -NOISE * errors[:, 1:]
    return bool(rising.all() and (means[:, -1] > means[:, 0]).all())


def _has_digits(evidence: Evidence, queries: int) -> bool:
    means, spreads = table(evidence, queries)
    differences = np.abs(means - MEANS[queries]), np.abs(spreads - SPREADS[queries])
    return bool(np.max(differences) < HALF_DIGIT)


FIGURE6 = Exhibit(
    id="figure6",
    kind="figure",
    title="Figure 6: entropy on distinct tokens by learning rates",
    caption=(
        "System J: both tables by heavy ball (0.9), 100 steps on batches of 128 "
        "sequences of 128 tokens, Syn-Medium with two next tokens for each query, "
        "uniform initial tables; mean over 10 seeds and one standard deviation (the "
        "caption's 'of the mean' is the deviation itself). Rings are published "
        "means, for the two panels for which we have them. Entropy falls with η_Z, and "
        "rises with η_Y/η_Z from 2 on. Figure `decomposition` says why η_Z matters: "
        "in a flow it could not."
    ),
    needs=GRID,
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=(
        *SYN_MEDIUM_SILENT,
        "What the average is taken of is not stated: entropy of attention among the "
        "class's distinct tokens, renormalised, natural logarithm, mean over classes.",
    ),
)
