"""Figures 1a, 1b, 1c: losses, neurons and main scores in simultaneous training."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.claims.stages import first_crossing, select
from attnflow.papers.mixture.figures import panels
from attnflow.papers.mixture.figures.runs import (
    FINITE,
    SILENT_TRAINING,
    Numbers,
    at_end,
    at_time,
    comes_before,
    every_at_end,
    nearly_together,
)
from attnflow.papers.mixture.stages import (
    LEFT_PLATEAU,
    attention_grown,
    learned,
    main_score_reaches,
    neurons_aligned,
    stage_table,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _single(
    evidence: Evidence, title: str, draw: Callable[[Axes, xr.Dataset], None]
) -> Figure:
    run = evidence["run"]
    figure, grid = figures.panels(titles=[title], size=(7.2, 3.9))
    draw(grid[0, 0], run)
    panels.finish(grid[0, 0], run)
    return figure


# Figure 1a


def draw_losses(evidence: Evidence) -> Figure:
    """Losses of consistent and conflicting samples."""
    return _single(evidence, "Losses of the two groups of samples", panels.losses)


def loss_values(evidence: Evidence) -> Numbers:
    """When each loss falls to 0.1, and the final losses."""
    run = evidence["run"]
    groups = [str(name) for name in run["group"].values]
    return {
        "steps to loss 0.1": {g: learned(run, g).median for g in groups},
        "loss at the end": {g: at_end(run, f"loss_by_group[{g}]") for g in groups},
    }


OBSERVED = "Section 3.1"
"""Where the paper describes Figure 1."""


def losses_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether consistent samples are learned first, and the plateau is at log 2."""
    run = evidence["run"]
    easy, hard = (learned(run, group) for group in ("consistent", "conflicting"))
    waiting = at_time(run, "loss_by_group[conflicting]", easy.times)
    sentences = {
        "the loss of consistent samples falls before that of conflicting ones": (
            comes_before(easy, hard)
        ),
        "that of conflicting ones starts to fall later: it is within 1% of log 2 when "
        "consistent ones are learned": bool(
            np.abs(waiting / panels.LOG2 - 1).max() < 0.01
        ),
    }
    return {OBSERVED: sentences}


def loss_checks(evidence: Evidence) -> dict[str, bool]:
    """Whether all samples are learned."""
    run = evidence["run"]
    easy, hard = (learned(run, group) for group in ("consistent", "conflicting"))
    return {"both losses fall below 0.1": all((*easy.reached, *hard.reached))}


# Figure 1b


def draw_neurons(evidence: Evidence) -> Figure:
    """Alignments of the positive head's neuron."""
    return _single(evidence, "Neuron of the positive head", panels.neurons)


def neuron_values(evidence: Evidence) -> Numbers:
    """When alignments reach 0.1, and the final alignments."""
    run = evidence["run"]
    tokens = ("v1", "v2", "c1", "c2")
    return {
        "steps to alignment 0.1": {
            t: first_crossing(run, f"value[+,{t}]", level=0.1).median for t in tokens
        },
        "alignment at the end": {t: at_end(run, f"value[+,{t}]") for t in tokens},
    }


def neurons_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether neurons align from the start, and before attention moves."""
    run = evidence["run"]
    growth = [select(run, f"value[+,{token}]").diff("time") for token in ("v1", "v2")]
    early = run["time"].values[1:] <= learned(run, "consistent").times.min()
    sentences = {
        "the neuron aligns with the class tokens from the first record on": bool(
            early.any() and all((s.isel(time=early) > 0).all() for s in growth)
        ),
        "attention scores change noticeably only after the neurons have aligned": (
            comes_before(neurons_aligned(run), attention_grown(run))
        ),
    }
    return {OBSERVED: sentences}


def neuron_checks(evidence: Evidence) -> dict[str, bool]:
    """Whether class tokens come before group tokens, and both are learned."""
    run = evidence["run"]
    first, second = (
        first_crossing(run, f"value[+,{token}]", level=0.1) for token in ("v1", "c1")
    )
    ends = [every_at_end(run, f"value[+,{t}]") for t in ("v1", "v2", "c1", "c2")]
    return {
        "the neuron aligns with class tokens, then with group tokens": comes_before(
            first, second
        ),
        "it ends aligned with both kinds": bool(np.min(ends) > 0.5),
    }


# Figure 1c


def draw_scores(evidence: Evidence) -> Figure:
    """Main attention scores of the positive head."""
    return _single(evidence, "Attention scores of the positive head", panels.scores)


def score_values(evidence: Evidence) -> Numbers:
    """Final main scores, the largest other score, and the onset time."""
    run = evidence["run"]
    rows = {row.name: row for row in stage_table(run)}
    return {
        "score at the end": {
            f"{key}, {query}": at_end(run, f"score[+,{key},{query}]")
            for key, query in panels.MAIN
        },
        "largest other score": float(np.median(_others(evidence))),
        "steps to score 0.1": {
            "measured": rows["t_onset"].detected,
            "closed form": rows["t_onset"].formula,
        },
        "steps until the conflicting loss leaves log 2": rows["t_conflict"].detected,
    }


def _others(evidence: Evidence) -> np.ndarray:
    """Largest absolute value of the scores other than the main ones, per seed."""
    last = evidence["run"]["score_at_end"].isel(stage=-1).sel(head="+")
    table = {
        (str(key), str(query)): np.abs(last.sel(key=key, query=query).values)
        for key in last["key"].values
        for query in last["query"].values
    }
    return np.max([table[pair] for pair in table if pair not in panels.MAIN], axis=0)


def _main(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """The final scores of key c1 with queries v1 and v2, by seed."""
    same, different = (
        every_at_end(evidence["run"], f"score[+,c1,{query}]") for query in ("v1", "v2")
    )
    return same, different


def scores_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether the main scores have the right signs and dominate, and when they grow."""
    run = evidence["run"]
    same, different = _main(evidence)
    smallest = np.minimum(np.abs(same), np.abs(different))
    return {
        OBSERVED: {
            "the score of key c1 and query v1 grows to a large positive value": bool(
                (same > 1).all()
            ),
            "that of key c1 and query v2 falls to a large negative one": bool(
                (different < -1).all()
            ),
            "scores grow only after the consistent samples are learned": comes_before(
                learned(run, "consistent"), main_score_reaches(run)
            ),
        },
        "Section 5.2": {
            "these two, and those of c2, which mirror them, change more than all other "
            "scores": bool((_others(evidence) < smallest).all()),
        },
    }


def score_checks(evidence: Evidence) -> dict[str, bool]:
    """How far the main scores dominate, and with what they grow."""
    run = evidence["run"]
    smallest = np.min(np.abs(_main(evidence)), axis=0)
    leaves = learned(run, "conflicting", LEFT_PLATEAU)
    return {
        "all other scores stay below half of the main ones": bool(
            (_others(evidence) < smallest / 2).all()
        ),
        "they grow when the loss of the conflicting samples starts to fall": (
            nearly_together(leaves, attention_grown(run), 1.3)
        ),
    }


FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: losses of consistent and conflicting samples",
    caption=(
        "Simultaneous training of all weights by gradient descent. Samples whose two "
        "class tokens agree in sign are learned within 150 steps; those whose signs "
        "conflict stay at the loss of a guess for most of training, and are learned "
        "when attention moves (Figure 1c)."
    ),
    needs={"run": FINITE},
    draw=draw_losses,
    values=loss_values,
    stated=losses_stated,
    checks=loss_checks,
    silent=SILENT_TRAINING,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: alignment of the positive head's neuron with the tokens",
    caption=(
        "The same runs. The neuron aligns with the class tokens v from the first step; "
        "with the group tokens c only once its ReLU has switched off on consistent "
        "samples of the wrong sign, and faster once attention lets the loss of "
        "conflicting samples fall."
    ),
    needs={"run": FINITE},
    draw=draw_neurons,
    values=neuron_values,
    stated=neurons_stated,
    checks=neuron_checks,
    silent=SILENT_TRAINING,
)
FIGURE1C = Exhibit(
    id="figure1c",
    kind="figure",
    title="Figure 1c: main attention scores of the positive head",
    caption=(
        "The same runs; labels give the key, then the query. Attention is learned "
        "last: query v1 is attracted by the key of its own group and repelled by that "
        "of the other one. The other twelve scores are in grey."
    ),
    needs={"run": FINITE},
    draw=draw_scores,
    values=score_values,
    stated=scores_stated,
    checks=score_checks,
    silent=SILENT_TRAINING,
)
