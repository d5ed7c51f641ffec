"""Table 2: signs of key and query noise at the start and at t = 10, over 20 seeds."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.signgd.figures.runs import PRECISION_SILENT, SEEDS_SILENT
from attnflow.papers.signgd.figures.statistics import at_step
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import HEAD, SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = 10
CLASSES = ("K+Q+", "K+Q−", "K−Q+", "K−Q−")
PRINTED = ((486, 1, 0, 25), (244, 4, 9, 250), (223, 10, 4, 221), (37, 2, 3, 481))
"""Rows are classes at the start, columns classes at t = 10."""
LARGEST = 520.0
"""The upper end of the colour scale."""
DEVIATIONS = 3.0
RELATIVE = 3.0
"""Relative tolerance: printed cells are as small as 0 and 1, with means of 2 and 3."""


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


def draw(evidence: Evidence) -> "Figure":
    """Draw our table beside the printed one, with standard deviations and z."""
    return beside(evidence["run"], PRINTED)


def beside(run: xr.Dataset, cells: tuple[tuple[int, ...], ...]) -> "Figure":
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
    ax: "Axes", table: xr.DataArray, texts: np.ndarray, limits: tuple[float, float]
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


def on_paper() -> dict[str, dict[str, float]]:
    """The printed cells, with the keys of `values`."""
    return {
        cell_name(b, a): {"mean": PRINTED[i][j]}
        for i, b in enumerate(CLASSES)
        for j, a in enumerate(CLASSES)
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """Whether printed cells are within our range, and signs align."""
    run = evidence["run"]
    summary, table = moments(run), sign_table(run)
    pairs = table.sum(("before", "after"))
    aligned = table.sel(after=["K+Q+", "K−Q−"]).sum(("before", "after")) / pairs
    began = table.sel(before=["K+Q+", "K−Q−"]).sum(("before", "after")) / pairs
    inside = (summary["least"] <= summary["printed"]) & (
        summary["printed"] <= summary["largest"]
    )
    return {
        f"no printed cell is further than {DEVIATIONS:g} deviations off our mean": bool(
            (abs(summary["z"]) <= DEVIATIONS).all()
        ),
        "every printed cell is between our least and our largest": bool(inside.all()),
        "signs are independent at the start: equal in 45% to 55% of pairs": bool(
            (abs(began - 0.5) < 0.05).all()
        ),
        "and aligned at t = 10: equal in more than 95%": bool((aligned > 0.95).all()),
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
    seen=seen,
    printed=on_paper(),
    tolerance=RELATIVE,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
