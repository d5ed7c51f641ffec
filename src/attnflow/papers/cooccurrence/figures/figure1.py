"""Figure 1: attention scores, and losses by type, in the paper's experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.claims.stages import select
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.runs import (
    EXPERIMENT,
    SILENT_EXPERIMENT,
    Numbers,
    after,
    always,
    at_end,
    at_time,
    falls,
    grows,
    three_numbers,
)
from attnflow.papers.cooccurrence.stages import all_correct
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PHASES = ("Phase 1", "Phase 2")
ENLARGED = 2.5
"""End of the enlarged part of the axis, in units of T1."""
RISES = 1.02


def _shade(ax: Axes, run: xr.Dataset, *, named: bool = True) -> None:
    """Shade the phases of the seed in bold."""
    end = all_correct(run.isel(seed=[0])).median
    figures.shade_stages(ax, [end], PHASES if named else ("", ""))


# Figure 1a


def draw_scores(evidence: Evidence) -> Figure:
    """Figure of four scores over epochs."""
    run = evidence["run"]
    title = "Attention scores: key, query"
    figure, grid = figures.panels(titles=[title], size=(7.6, 4.2))
    ax = grid[0, 0]
    for pair, (kind, shade) in panels.PAIRS.items():
        series, label = f"score[0,{pair[0]},{pair[1]}]", panels.pair_name(pair)
        panels.emphasise_first_seed(
            ax, run, series, kind=kind, shade=shade, label=label
        )
    ax.set_ylabel(panels.SCORE)
    figures.time_axis(ax, run, label="epoch")
    _shade(ax, run)
    figures.label_ends(ax)
    return figure


def _moves(run: xr.Dataset) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Change of each score until T1 and in total, per seed."""
    end = all_correct(run).times
    moves = {}
    for key, query in panels.PAIRS:
        series = f"score[0,{key},{query}]"
        start = select(run, series).isel(time=0).values
        early = at_time(run, series, end) - start
        moves[f"{key}, {query}"] = (early, at_end(run, series) - start)
    return moves


def score_values(evidence: Evidence) -> dict[str, Numbers]:
    """End of Phase 1, and changes of the scores until then and in total."""
    run = evidence["run"]
    moves = _moves(run)
    return {
        "Phase 1 ends at epoch": three_numbers(all_correct(run).times),
        "move in Phase 1": {
            name: three_numbers(early) for name, (early, _) in moves.items()
        },
        "move in all": {
            name: three_numbers(whole) for name, (_, whole) in moves.items()
        },
    }


def scores_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether scores are flat in Phase 1 and then separate."""
    run = evidence["run"]
    later = after(run, all_correct(run).times)
    scores = {
        pair: select(run, f"score[0,{pair[0]},{pair[1]}]") for pair in panels.PAIRS
    }
    flat = [np.abs(early) < np.abs(whole) / 4 for early, whole in _moves(run).values()]
    sentences = {
        "in Phase 1 scores hardly change: none makes more than a quarter of its "
        "move": bool(np.all(flat)),
        "in Phase 2 the scores between the targets rise, at every record": all(
            always(grows(scores[pair]), later)
            for pair in (("mu1", "mu2"), ("mu2", "mu1"))
        ),
        "in Phase 2 those of a target with the common token, as key, fall, at every "
        "record": all(
            always(falls(scores[pair]), later)
            for pair in (("mu3", "mu1"), ("mu3", "mu2"))
        ),
    }
    return {"Section 3, on Figure 1a": sentences}


# Figure 1b


def draw_losses(evidence: Evidence) -> Figure:
    """Figure of losses by type: the first epochs enlarged, and all epochs."""
    run = evidence["run"]
    titles = ("Phase 1 enlarged", "All epochs, on a logarithmic axis")
    figure, grid = figures.panels(1, 2, titles=titles, size=(10.4, 4.4))
    for ax in grid[0]:
        _losses(ax, run)
        figures.time_axis(ax, run, label="epoch")
    first, whole = grid[0]
    first.set_xlim(0, ENLARGED * float(all_correct(run.isel(seed=[0])).times[0]))
    first.set_ylim(0, 0.9)
    first.set_ylabel("mean loss of the type")
    figures.reference(first, float(np.log(2)), r"$\log 2$")
    whole.set_yscale("log")
    figures.number_axis(whole, "y")
    for ax in (first, whole):
        figures.number_axis(ax, "x")
        _shade(ax, run)
    figures.label_ends(whole)
    return figure


def _losses(ax: Axes, run: xr.Dataset) -> None:
    for group, (kind, shade) in panels.TYPES.items():
        series, label = f"loss_by_group[{group}]", panels.NAMES[group]
        panels.emphasise_first_seed(
            ax, run, series, kind=kind, shade=shade, label=label
        )
    panels.emphasise_first_seed(ax, run, "loss", kind="loss", label="all samples")


def loss_values(evidence: Evidence) -> dict[str, Numbers]:
    """Peaks of the one-target losses, their epochs, and final losses."""
    run = evidence["run"]
    losses = run["loss_by_group"]
    peak = losses.max("time") / losses.isel(time=0)
    when = run["time"].isel(time=losses.argmax("time"))
    rising = ("first", "second")
    return {
        "largest loss over the first": {
            g: three_numbers(peak.sel(group=g).values) for g in rising
        },
        "epoch of the largest loss": {
            g: three_numbers(when.sel(group=g).values) for g in rising
        },
        "loss at the end": {
            **{
                g: three_numbers(at_end(run, f"loss_by_group[{g}]"))
                for g in panels.TYPES
            },
            "all samples": three_numbers(at_end(run, "loss")),
        },
    }


ONE_TARGET = ["first", "second"]


def losses_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Which losses fall at once, which first rise, and when they fall."""
    run = evidence["run"]
    losses, end = run["loss_by_group"], all_correct(run).times
    falling = {g: falls(losses.sel(group=g)) for g in panels.TYPES}
    later = after(run, end)
    rising = losses.sel(group=ONE_TARGET)
    peak = rising.max("time") / rising.isel(time=0)
    when = run["time"].isel(time=rising.argmax("time"))
    sentences = {
        "the loss of samples with both targets falls from the first record on": always(
            falling["both"], after(run, run["time"].values[1] + 0 * end)
        ),
        "losses of samples with one target rise by 2% at least, in every seed": bool(
            (peak > RISES).all()
        ),
        "they fall again within Phase 1": bool(
            (when.transpose("group", "seed") < end).all()
        ),
        "in Phase 2 the losses of all four types fall at every record": all(
            always(falling[g], later) for g in panels.TYPES
        ),
    }
    return {"Sections 3 and 4.1, on Figure 1b": sentences}


def loss_checks(evidence: Evidence) -> dict[str, bool]:
    """Whether losses that rose have fallen below their start by the end of Phase 1."""
    run = evidence["run"]
    end = all_correct(run).times
    return {
        "losses of samples with one target end Phase 1 below where they began": all(
            (
                at_time(run, f"loss_by_group[{g}]", end)
                < run["loss_by_group"].sel(group=g).isel(time=0).values
            ).all()
            for g in ONE_TARGET
        )
    }


FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: attention scores between targets and common token",
    caption=(
        "Gradient descent at the sizes of Appendix A; a curve is named by its key, "
        "then its query. Scores are flat while samples are being learned (Phase 1); "
        "then the scores between the two targets rise, and those of the common token's "
        "key with the targets' queries fall, for the rest of training. Phases are "
        "those of the seed in bold; the other four seeds are faint."
    ),
    needs={"run": EXPERIMENT},
    draw=draw_scores,
    values=score_values,
    stated=scores_stated,
    silent=SILENT_EXPERIMENT,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: loss of all samples and of the four types",
    caption=(
        "The same runs. The readout of the targets grows first, which helps samples "
        "with both and hurts those with one of them: their loss rises until the "
        "readout of the common token, which every sample holds, has fallen far enough. "
        "At the end of Phase 1 all samples are classified correctly; in Phase 2 all "
        "losses fall, fastest that of samples with neither target."
    ),
    needs={"run": EXPERIMENT},
    draw=draw_losses,
    values=loss_values,
    stated=losses_stated,
    checks=loss_checks,
    silent=SILENT_EXPERIMENT,
)
