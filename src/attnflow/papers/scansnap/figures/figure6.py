"""Figure 6: entropy of attention on distinct tokens, by learning rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from attnflow import schema
from attnflow.figures.exhibits import Curves, Panels, Tables, family, tabulate
from attnflow.papers.scansnap.figures import published, readings, runs
from attnflow.schema.declarations import Evidence, Exhibit, Numbers, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

NOISE = 2.0
"""Standard errors within which two means count as ordered either way."""
DIGITS = (
    "of panels replayed in full, every mean has the digits that are published, and so "
    "has every spread of two of them"
)
RATE, RATIO = "η_Z", "η_Y/η_Z"
RING = {"ls": "", "ms": 8.5, "mfc": "none", "mew": 0.9, "zorder": 5}


def cells(evidence: Evidence, queries: int, name: str) -> xr.DataArray:
    """A statistic of a panel's runs by seed, η_Z and ratio."""
    table = evidence[runs.panel_name(queries)][name].isel(queries=0)
    table = table.rename(score_rate=RATE, ratio=RATIO)
    return table.transpose(SEED, RATE, RATIO, ...)


entropy = partial(cells, name="mean_distinct_entropy")


def _published(evidence: Evidence, queries: int) -> xr.DataArray:
    """The published means of the cells that a panel has."""
    ours = entropy(evidence, queries)
    axes = {RATE: list(runs.SCORE_RATES), RATIO: list(runs.RATIOS)}
    means = xr.DataArray(np.array(published.MEANS[queries]), axes)
    return means.sel({RATE: ours[RATE], RATIO: ours[RATIO]})


_family = partial(family, along=RATE, values=runs.SCORE_RATES, apart=0.034)


def _panel(queries: int) -> Curves:
    ours, printed = (partial(of, queries=queries) for of in (entropy, _published))
    curves = _family(ours, name=RATE, symbol=r"\eta_Z", kind="easy", style={"ms": 4})
    rings = _family(printed, name="published, η_Z", kind="theory", style=RING)
    curves += tuple(replace(ring, ramp=None) for ring in rings)
    note = "rings: published means\nbars: ± one standard deviation"
    return Curves(
        title=runs.panel_title(queries),
        name=runs.panel_name(queries),
        x=r"ratio $\eta_Y/\eta_Z$",
        y=readings.ENTROPY,
        scales=("log", "linear"),
        xlim=(0.85, 11.8),
        curves=curves,
        at_points=True,
        names="ends" if queries == runs.PANELS[-1] else "",
        remarks={"lower right": note} if queries == runs.PANELS[0] else {},
    )


def statistics(evidence: Evidence, queries: int) -> dict[str, xr.DataArray]:
    """Means and standard deviations over seeds, by η_Z and ratio."""
    table = entropy(evidence, queries)
    return {
        "mean": table.mean(SEED, skipna=False),
        "standard deviation over seeds": table.std(SEED, ddof=1, skipna=False),
    }


def values(t: Tables) -> Numbers:
    """Means and spreads of all cells."""
    return {
        runs.panel_name(q): {n: tabulate(s) for n, s in statistics(t.runs, q).items()}
        for q in runs.PANELS
    }


def is_full_replay(run: xr.Dataset) -> bool:
    """Whether a panel replays all of the published runs, and not some of them."""
    setting = schema.setting_of(run)
    sizes = (setting["stream"], setting["batch"], setting["steps"], run.sizes[SEED])
    grid = (run.sizes["score_rate"], run.sizes["ratio"])
    return sizes == ("published", 128, 100, 10) and grid == (4, 4)


def _has_digits(evidence: Evidence, queries: int) -> bool:
    means, spreads = statistics(evidence, queries).values()
    errors = [abs(means - published.MEANS[queries]).values]
    if queries in published.SPREADS:
        errors.append(abs(spreads - published.SPREADS[queries]).values)
    return bool(np.max(errors) < published.HALF_DIGIT)


def rises(rows: xr.DataArray, along: str) -> bool:
    """Whether means over seeds rise all along a dim, within noise, and on the whole."""
    rows = rows.transpose(SEED, ..., along)
    means = rows.values.mean(axis=0)
    errors = rows.values.std(axis=0, ddof=1) / np.sqrt(rows.sizes[SEED])
    rising = np.diff(means) > -NOISE * errors[..., 1:]
    return bool(rising.all() and (means[..., -1] > means[..., 0]).all())


def _turns(evidence: Evidence, queries: int) -> bool:
    """Whether means rise from ratio 1 to 2 with one query, and fall with several."""
    steps = entropy(evidence, queries).sel({RATIO: [1.0, 2.0]}).mean(SEED).diff(RATIO)
    return bool((steps > 0 if queries == 1 else steps < 0).all())


def checks(t: Tables) -> Sentences:
    """What is below the ratio 2, and the digits of full replays."""
    turn = "from ratio 1 to 2 it falls with several queries, and rises with one"
    answers = {turn: all(_turns(t.runs, queries) for queries in runs.PANELS)}
    panels = {queries: t.runs[runs.panel_name(queries)] for queries in published.MEANS}
    exact = [queries for queries, run in panels.items() if is_full_replay(run)]
    if exact:
        answers[DIGITS] = all(_has_digits(t.runs, queries) for queries in exact)
    return answers


def _in_panels(
    is_true: Callable[[xr.DataArray], bool],
) -> Callable[[Tables], list[bool]]:
    return lambda t: [is_true(entropy(t.runs, queries)) for queries in runs.PANELS]


FIGURE6 = Exhibit(
    id="figure6",
    kind="figure",
    title="Figure 6: entropy on distinct tokens by learning rates",
    caption=(
        "Entropy of attention on distinct tokens against η_Z and η_Y/η_Z, in system "
        "J: both tables by heavy ball (0.9), 100 steps on batches of 128 sequences "
        "of 128 tokens of Syn-Medium with two next tokens for each query, from "
        "uniform tables; mean over 10 seeds and one standard deviation over seeds "
        "(the paper's caption says 'of the mean'). Rings are published means. "
        "Entropy falls with η_Z, and rises with η_Y/η_Z from 2 on. Figure "
        "`decomposition` shows why η_Z matters, although in a flow it only rescales "
        "time."
    ),
    needs=runs.GRID,
    shows=Panels(tuple(map(_panel, runs.PANELS)), size=(14.4, 4.3), share_values=True),
    values=values,
    stated={
        "Section 8": {
            "entropy falls with η_Z, at every ratio, in every panel": _in_panels(
                lambda table: bool((table.mean(SEED).diff(RATE) < 0).all())
            ),
            "past the ratio 2 entropy rises with η_Y at fixed η_Z, but for noise of "
            "two standard errors": _in_panels(
                lambda table: rises(table.sel({RATIO: table[RATIO] >= 2}), RATIO)
            ),
        }
    },
    checks=checks,
    silent=(
        *runs.SYN_MEDIUM_SILENT,
        "What the average is taken of is not stated: entropy of attention among the "
        "class's distinct tokens, renormalised, natural logarithm, mean over classes.",
    ),
)
