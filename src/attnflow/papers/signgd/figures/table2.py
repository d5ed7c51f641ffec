"""Table 2: signs of key and query noise at the start and at t = 10, over 20 seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.signgd.figures.runs import PRECISION_SILENT, SEEDS_SILENT
from attnflow.papers.signgd.figures.statistics import at_step
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.dims import HEAD, SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = 10
CLASSES = ("K+Q+", "K+Q−", "K−Q+", "K−Q−")
PRINTED = ((486, 1, 0, 25), (244, 4, 9, 250), (223, 10, 4, 221), (37, 2, 3, 481))
"""Rows are classes at the start, columns classes at t = 10."""
PAIRS = 2000
"""Of a neuron and a sample, in the printed tables."""
LARGEST = 520.0
"""The upper end of the colour scale."""
DEVIATIONS = 3.0
"""Standard deviations within which a printed cell agrees: the paper prints one seed,
and of 16 normal cells one is further off in 4% of tables."""


def sign_table(run: xr.Dataset, step: float = STEP) -> xr.DataArray:
    """Counts of pairs by the classes of their signs at the start and at `step`.

    Dims `seed`, `before`, `after`; pairs with an inner product of exactly zero do not
    count.
    """
    before, after = (_classes(run, moment) for moment in (0.0, step))
    counts = np.einsum("bst,ast->sba", before, after)
    return xr.DataArray(
        counts,
        {"seed": run["seed"], "before": list(CLASSES), "after": list(CLASSES)},
        (SEED, "before", "after"),
    )


def _classes(run: xr.Dataset, step: float) -> np.ndarray:
    """Membership of pairs in classes, 0 or 1: `(class, seed, pair)`."""
    keys, queries = (
        at_step(series.noise(run, name), step)
        .stack(pair=series.PAIR)
        .transpose(SEED, "pair")
        for name in ("key_neuron", "query_neuron")
    )
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    return np.array(
        [(k * keys.values > 0) & (q * queries.values > 0) for k, q in signs], int
    )


def moments(
    run: xr.Dataset, cells: tuple[tuple[int, ...], ...] = PRINTED
) -> dict[str, xr.DataArray]:
    """Mean, standard deviation and range of each cell, and the printed cell's z.

    For a run with fewer pairs, printed counts are scaled down.
    """
    table = sign_table(run)
    mean, sd = table.mean(SEED), table.std(SEED, ddof=1)
    printed = mean.copy(data=shrink(run, cells) * np.array(cells, float))
    return {
        "mean": mean,
        "sd": sd,
        "least": table.min(SEED),
        "largest": table.max(SEED),
        "printed": printed,
        "z": (printed - mean) / sd,
    }


def shrink(run: xr.Dataset, cells: tuple[tuple[int, ...], ...] = PRINTED) -> float:
    """The number of pairs of a run over the printed number: 1 at the paper's size."""
    pairs = [run["key_neuron"].sizes[d] for d in (HEAD, series.NEURON)]
    return pairs[0] * pairs[1] * len(series.noise_names(run)) / np.sum(cells)


def cell_name(before: str, after: str) -> str:
    """The name of a cell, from its row and its column."""
    return f"{before} → {after}"


def draw(evidence: Evidence) -> Figure:
    """Draw our table beside the printed one, with standard deviations and z."""
    return beside(evidence["run"], PRINTED)


def beside(run: xr.Dataset, cells: tuple[tuple[int, ...], ...]) -> Figure:
    """A figure of a run's table beside a printed one, with deviations and z."""
    summary = moments(run, cells)
    seeds = run.sizes[SEED]
    share = shrink(run, cells)
    printed = "Printed" if share == 1 else f"Printed, times {share:g}"
    titles = (f"Mean ± deviation over {seeds} seeds", f"{printed}, and its z")
    figure, grid = figures.panels(1, 2, titles=titles, size=(11.0, 4.9))
    ours, theirs = (
        np.vectorize(form)(summary[upper], summary[lower])
        for form, upper, lower in (
            (lambda mean, sd: f"{mean:.1f}\n± {sd:.1f}", "mean", "sd"),
            (lambda cell, z: f"{cell:.0f}\nz = {z:+.1f}", "printed", "z"),
        )
    )
    limits = (0.0, share * LARGEST)
    _cells(grid[0, 0], summary["mean"], ours, limits)
    _cells(grid[0, 1], summary["printed"], theirs, limits)
    return figure


def _cells(
    ax: Axes, table: xr.DataArray, texts: np.ndarray, limits: tuple[float, float]
) -> None:
    mesh = figures.heatmap(
        ax, table, limits=limits, digits=0, rows=CLASSES, columns=CLASSES
    )
    # Replace the heatmap's numbers by two lines in each cell.
    for text, words in zip(list(ax.texts), texts.ravel(), strict=True):
        text.set_text(words.replace("-", "−"))
    mesh.set_edgecolor(figures.current_theme().paper)
    ax.set(xlabel=f"signs at $t = {STEP}$", ylabel="signs at the start")


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Statistics of each cell."""
    summary = moments(evidence["run"])
    return {
        cell_name(b, a): {
            name: float(table.sel(before=b, after=a)) for name, table in summary.items()
        }
        for b in CLASSES
        for a in CLASSES
    }


def on_paper(
    cells: tuple[tuple[int, ...], ...] = PRINTED,
) -> dict[str, dict[str, float]]:
    """The printed cells, with the keys of `values`."""
    return {
        cell_name(b, a): {"mean": cells[i][j]}
        for i, b in enumerate(CLASSES)
        for j, a in enumerate(CLASSES)
    }


def chance(
    ours: xr.DataArray, printed: xr.DataArray, sd: xr.DataArray, seeds: int
) -> xr.DataArray:
    """The deviation of a printed count from our mean over seeds, by chance alone.

    A few seeds tell little of a deviation: it is at least that of a binomial count.
    """
    count = np.maximum(np.maximum(ours, printed), 1.0)
    binomial = np.sqrt(count * (1 - count / PAIRS))
    return np.maximum(sd, binomial) * np.sqrt(1 + 1 / seeds)


def spread(
    run: xr.Dataset, cells: tuple[tuple[int, ...], ...] = PRINTED
) -> dict[str, dict[str, float]]:
    """Deviations of printed cells from ours by chance, with the keys of `values`."""
    summary = moments(run, cells)
    counts = (summary[name] for name in ("mean", "printed", "sd"))
    deviations = chance(*counts, seeds=run.sizes[SEED])
    return {
        cell_name(b, a): {"mean": float(deviations.sel(before=b, after=a))}
        for b in CLASSES
        for a in CLASSES
    }


def shares_of_one_sign(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Shares of pairs with key and query noise of one sign: at the start, at t = 10."""
    table = sign_table(run)
    pairs = table.sum(("before", "after"))
    began, ended = (
        table.sel({when: ["K+Q+", "K−Q−"]}).sum(("before", "after")) / pairs
        for when in ("before", "after")
    )
    return began, ended


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether signs are independent first, and then align."""
    began, ended = shares_of_one_sign(evidence["run"])
    sentences = {
        "signs are independent at the start: equal in 45% to 55% of pairs": bool(
            (abs(began - 0.5) < 0.05).all()
        ),
        "and aligned at t = 10: equal in more than 95%": bool((ended > 0.95).all()),
    }
    return {"Caption of Table 2": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether printed cells are within our range."""
    summary = moments(evidence["run"])
    inside = (summary["least"] <= summary["printed"]) & (
        summary["printed"] <= summary["largest"]
    )
    return {
        "every printed cell is between our least and our largest": bool(inside.all())
    }


TABLE2 = Exhibit(
    id="table2",
    kind="table",
    title="Table 2: signs of query and key noise in Stage II",
    caption=(
        "Setting (a), d = 2000, t = 10, 20 seeds: how many of the 2000 pairs of a "
        "neuron and a sample go from one class of signs (of key and query noise) to "
        "another. The paper prints one seed; z is its distance from our mean in "
        "standard deviations over seeds. Claimed: signs are independent at the start "
        "and aligned at t = 10."
    ),
    needs={
        "run": Request(
            "setting-a",
            {
                "steps": STEP,
                "dense": STEP,
                "record": ("key_neuron", "query_neuron"),
                "test_samples": 0,
            },
            seeds=20,
        )
    },
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    printed=on_paper(),
    tolerance=DEVIATIONS,
    deviations=lambda evidence: spread(evidence["run"]),
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
