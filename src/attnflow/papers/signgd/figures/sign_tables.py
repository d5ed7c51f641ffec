"""Tables 2 and 4 to 11: signs of key and query noise at the start and at t = 10.

Table 2 is of the shallow model, the others of the first layer of deeper ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Panels, Table, Tables
from attnflow.papers.signgd.claims.stage_two import PRINTED
from attnflow.papers.signgd.deep_runs import Blocks, models, smaller
from attnflow.papers.signgd.figures import runs, statistics
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.dims import HEAD, SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 10
CLASSES = ("K+Q+", "K+Q−", "K−Q+", "K−Q−")
DIMS = ("signs at the start", f"signs at $t = {STEP}$")
ALIGNED = ["K+Q+", "K−Q−"]
CELLS = tuple(f"{before} → {after}" for before in CLASSES for after in CLASSES)
APART = "pairs of different signs at t = 10"
RECORD = ("key_neuron", "query_neuron")
SEEDS, DEEP_SEEDS = 20, 3
LARGEST = 520.0
"""The upper end of the colour scale."""
DEVIATIONS = 3.0
"""Standard deviations within which a printed cell agrees: the paper prints one seed,
and of 16 normal cells one is further off in 4% of tables."""
Counts = tuple[tuple[int, ...], ...]


TABLES: dict[int, Counts] = {
    4: ((483, 2, 1, 26), (242, 3, 9, 253), (224, 10, 3, 221), (37, 3, 3, 480)),
    5: ((482, 2, 0, 28), (243, 4, 7, 253), (222, 12, 3, 221), (39, 1, 3, 480)),
    6: ((479, 4, 0, 29), (241, 14, 6, 246), (217, 9, 11, 221), (39, 3, 2, 479)),
    7: ((481, 3, 1, 27), (232, 25, 16, 234), (213, 9, 20, 216), (36, 3, 1, 483)),
    8: ((486, 2, 0, 24), (249, 4, 4, 250), (224, 7, 4, 223), (33, 2, 1, 487)),
    9: ((483, 1, 2, 26), (238, 9, 13, 247), (222, 8, 9, 219), (34, 4, 5, 480)),
    10: ((484, 1, 0, 27), (245, 5, 12, 245), (213, 12, 5, 228), (41, 0, 2, 480)),
    11: ((473, 4, 3, 32), (233, 12, 14, 248), (211, 14, 9, 224), (36, 2, 6, 479)),
}
"""Printed cells of Appendix B.6, of the models with residual connections first."""
DIFFER = {
    7: ("more", 33, (APART, "K+Q− → K+Q−", "K−Q+ → K−Q+")),
    10: ("fewer", 144, (APART, "K+Q− → K+Q−")),
    11: ("fewer", 117, ("K+Q− → K+Q−",)),
}
"""Whether more or fewer pairs have aligned than printed, how many of ours have not, and
the rows that differ."""


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
        statistics.at_step(series.noise(run, name), step)
        .stack(pair=series.PAIR)
        .transpose(SEED, "pair")
        for name in RECORD
    )
    signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    return np.array(
        [(k * keys.values > 0) & (q * queries.values > 0) for k, q in signs], int
    )


def shrink(run: xr.Dataset, cells: Counts = PRINTED) -> float:
    """The number of pairs of a run over the printed number: 1 at the paper's size."""
    pairs = [run["key_neuron"].sizes[d] for d in (HEAD, series.NEURON)]
    return pairs[0] * pairs[1] * len(series.noise_names(run)) / np.sum(cells)


def _in_a_row(tables: np.ndarray) -> np.ndarray:
    """The pairs that end apart, then the cells, of tables with 4 × 4 as last axes."""
    apart = tables[..., 1:3].sum((-2, -1))[..., None]
    return np.concatenate([apart, tables.reshape(*tables.shape[:-2], 16)], axis=-1)


def moments(run: xr.Dataset, cells: Counts) -> xr.Dataset:
    """Mean, deviation and range of each cell; the printed cell, its z and its chance.

    For a run with fewer pairs, printed counts are scaled down. `chance` is how far a
    printed count deviates from our mean by chance alone: a few seeds tell little of a
    deviation, which is at least that of a binomial count.
    """
    rows = _in_a_row(sign_table(run).values)
    counts = xr.DataArray(rows, {"cell": [APART, *CELLS]}, (SEED, "cell"))
    mean, sd, seeds = counts.mean(SEED), counts.std(SEED, ddof=1), run.sizes[SEED]
    printed = mean.copy(data=shrink(run, cells) * _in_a_row(np.array(cells, float)))
    count = np.maximum(np.maximum(mean, printed), 1.0)
    binomial = np.sqrt(count * (1 - count / np.sum(cells)))
    return xr.Dataset(
        {
            "mean": mean,
            "sd": sd,
            "least": counts.min(SEED),
            "largest": counts.max(SEED),
            "printed": printed,
            "z": (printed - mean) / sd,
            "chance": np.maximum(sd, binomial) * np.sqrt(1 + 1 / seeds),
        }
    )


def _cells(title: str, cells: Counts, what: str, beside: str, text: str) -> Table:
    """A table of one moment of each cell, with another below it."""

    def of(evidence: Evidence) -> xr.DataArray:
        run = evidence["run"]
        summary = moments(run, cells).sel(cell=list(CELLS))
        further = {"beside": summary[beside], "share": shrink(run, cells)}
        square, names = summary[what].values.reshape(4, 4), [list(CLASSES)] * 2
        return xr.DataArray(square, names, DIMS, attrs=further)

    def write(number: float, other: float) -> str:
        # Three seeds may have one count, from which nothing deviates by a number.
        known = np.isfinite(other)
        return text.format(number, other) if known else f"{number:.0f}\nno spread"

    return Table(
        title=title,
        of=of,
        texts=lambda t: np.vectorize(write)(t.values.ravel(), t.attrs["beside"]),
        limits=lambda t: (0.0, t.attrs["share"] * LARGEST),
    )


def _name_share(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    """Says by what printed counts are multiplied, where a run has fewer pairs."""
    share = shrink(table.runs["run"])
    if share != 1:
        title = f"Printed, times {share:g}, and its z"
        figures.name_panel(grid[0, 1], title, letter="b")


def _compared(
    cells: Counts, seeds: int, rows: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Our table beside the printed one: some moments of some rows are its numbers."""
    ours = f"Mean ± deviation over {seeds} seeds"
    counts = _in_a_row(np.array(cells)).tolist()
    printed = dict(zip((APART, *CELLS), counts, strict=True))

    def numbers(table: Tables, names: dict[str, str]) -> dict[str, dict[str, float]]:
        summary = moments(table.runs["run"], cells)
        return {
            row: {key: float(summary[n].sel(cell=row)) for key, n in names.items()}
            for row in rows
        }

    return {
        "kind": "table",
        "shows": Panels(
            (
                _cells(ours, cells, "mean", "sd", "{:.1f}\n± {:.1f}"),
                _cells(
                    "Printed, and its z", cells, "printed", "z", "{:.0f}\nz = {:+.1f}"
                ),
            ),
            size=(11.0, 4.9),
            finish=_name_share,
        ),
        "values": partial(numbers, names={name: name for name in names}),
        "printed": {row: {"mean": printed[row]} for row in rows},
        "tolerance": DEVIATIONS,
        "deviations": partial(numbers, names={"mean": "chance"}),
    }


def share_of_one_sign(table: Tables, when: str) -> xr.DataArray:
    """The share of pairs with key and query noise of one sign, `before` or `after`."""
    counts = sign_table(table.runs["run"])
    over = ("before", "after")
    return counts.sel({when: ALIGNED}).sum(over) / counts.sum(over)


def _inside(table: Tables) -> xr.DataArray:
    """Whether each printed cell is between our least and our largest."""
    m = moments(table.runs["run"], PRINTED).sel(cell=list(CELLS))
    return (m["least"] <= m["printed"]) & (m["printed"] <= m["largest"])


TABLE2 = Exhibit(
    id="table2",
    title="Table 2: signs of query and key noise in Stage II",
    caption=(
        "How many of the 2000 pairs of a neuron and a sample go from one combination "
        "of signs (of key and query noise) at the start to another at t = 10: "
        "setting (a), d = 2000, 20 seeds. The paper prints one seed; z is the "
        "distance of its count from our mean, in standard deviations over seeds. "
        "Claimed: signs are independent at the start and aligned at t = 10."
    ),
    needs={
        "run": Request(
            "setting-a",
            {"steps": STEP, "dense": STEP, "record": RECORD, "test_samples": 0},
            seeds=SEEDS,
        )
    },
    **_compared(
        PRINTED, SEEDS, CELLS, ("mean", "sd", "least", "largest", "printed", "z")
    ),
    stated={
        "Caption of Table 2": {
            "signs are independent at the start: equal in 45% to 55% of pairs": (
                lambda t: abs(share_of_one_sign(t, "before") - 0.5) < 0.05
            ),
            "signs are aligned at t = 10: equal in more than 95% of pairs": lambda t: (
                share_of_one_sign(t, "after") > 0.95
            ),
        }
    },
    checks={
        "every printed cell is between our smallest and our largest count": _inside
    },
    silent=runs.SILENT,
)


def _differs(number: int) -> dict[str, str]:
    how, count, rows = DIFFER.get(number, ("", 0, ()))
    why = f"with this reading of the blocks {how} pairs have aligned: {count} have not"
    return {f"{row} · mean": why for row in rows}


def _exhibit(number: int, model: Blocks) -> Exhibit:
    overrides = {**model._asdict(), "record": RECORD}
    return Exhibit(
        id=f"table{number}",
        title=f"Table {number}: signs in Stage II, {model.name}",
        caption=(
            "Numbers of pairs of a neuron of the first layer and a sample, by their "
            "signs at the start and at t = 10 as in Table 2, and the number of pairs "
            f"that have not aligned: setting (a), d = 2000, {DEEP_SEEDS} seeds. The "
            "paper prints one seed and does not define its blocks. Deviations are "
            "those over our seeds, and at least that of a count."
        ),
        needs={
            "run": Request("stack", overrides, seeds=DEEP_SEEDS, quick=smaller(400))
        },
        **_compared(
            TABLES[number], DEEP_SEEDS, (APART, *CELLS), ("mean", "sd", "printed")
        ),
        differs=_differs(number),
        stated={
            "Appendix B.6": {
                "query and key noise align in sign: in more than 85% of pairs at t = "
                "10": lambda t: share_of_one_sign(t, "after") > 0.85
            }
        },
        checks={
            "signs are independent at the start: equal in 40% to 60% of pairs": (
                lambda t: abs(share_of_one_sign(t, "before") - 0.5) < 0.1
            )
        },
        silent=(
            runs.SEEDS_SILENT,
            "Blocks are not defined. We take W_V of d × d, a ReLU layer of d neurons, "
            "all entries of standard deviation σ_0 (the reading `full` of the README).",
        ),
    )


TABLES4TO11 = tuple(
    map(_exhibit, TABLES, (*models(residual=True), *models(residual=False)))
)
