"""Figures 18 and 13: the whole of training, with one head and with four."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import (
    ATTENTION,
    HEADS,
    PRECISION_SILENT,
    SEEDS_SILENT,
    signgd,
)
from attnflow.papers.signgd.figures.statistics import (
    late_laws,
    law_table,
    three_numbers,
)
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import HEAD, SAMPLE, TOKEN
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = ("Mean values", "One neuron", "Attention", "Losses")
ALIKE = 0.1
"""The largest allowed gap between the attention of two heads."""


def draw(evidence: Evidence) -> Figure:
    """Draw values, one neuron, attention and losses over all steps."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.6, 7.8))
    run = evidence["run"]
    panels.values(grid[0, 0], run)
    panels.one_neuron(grid[0, 1], run)
    panels.attention(grid[1, 0], run)
    panels.losses(grid[1, 1], run)
    for ax in grid.flat:
        figures.label_ends(ax)
    return figure


def draw_heads(evidence: Evidence) -> Figure:
    """Draw values and a neuron of the first head, attention by head, and losses."""
    run = evidence["run"]
    count = run.sizes[HEAD]
    heads = [f"Attention, head {head + 1}" for head in range(count)]
    titles = (TITLES[0], TITLES[1], *heads, TITLES[3])
    across = -(-(count + 3) // 2)
    figure, grid = figures.panels(2, across, titles=titles, size=(4.2 * across, 7.8))
    flat = list(grid.flat)
    panels.values(flat[0], run)
    panels.one_neuron(flat[1], run)
    for head in range(count):
        panels.attention(flat[2 + head], run, head=head)
    panels.losses(flat[2 + count], run)
    for ax in flat[3 + count :]:
        ax.set_axis_off()
    for ax in flat[: 3 + count]:
        figures.label_ends(ax)
    return figure


def values(evidence: Evidence) -> Values:
    """Times of events, losses at the end, and fits to the training loss."""
    run = evidence["run"]
    events = {
        "keys turn": stages.keys_turn,
        "queries turn": stages.queries_turn,
        "all signs agree": stages.all_follow,
    }
    return {
        **{name: three_numbers(detect(run).times) for name, detect in events.items()},
        "training loss at the end": three_numbers(schema.last(run, "loss").values),
        "test loss at the end": three_numbers(schema.last(run, "test_loss").values),
        "law of the training loss, second half, seed 0": law_table(late_laws(run)[0]),
    }


def head_values(evidence: Evidence) -> Values:
    """`values`, and the largest gap between heads."""
    gaps = apart(evidence)
    return {**values(evidence), "largest gap between heads": gaps}


def apart(evidence: Evidence) -> dict[str, float]:
    """The largest gap between two heads' median attention at one step."""
    run = evidence["run"]
    attentions = {
        "s11": series.signal_to_signal(run),
        "s21": series.noise_to_signal(run),
    }
    middles = {name: table.median(SAMPLE) for name, table in attentions.items()}
    return {
        name: float((m.max(HEAD) - m.min(HEAD)).max()) for name, m in middles.items()
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Statements of the paper on Figure 18."""
    run = evidence["run"]
    value = schema.last(run, "value")
    noise = value.sel(token=series.noise_names(run)).min(TOKEN)
    signal = abs(value.sel(token=series.SIGNAL))
    follow = stages.queries_follow(run).times
    return {
        "mean values of noise end at more than 5 times that of the signal": bool(
            (noise > 5 * signal).all()
        ),
        "99% of query noise has the sign of its neuron's query signal in the end": bool(
            np.isfinite(follow).all()
        ),
        "the training loss falls exponentially: the residual of the exponential is a "
        "tenth of that of the power law at most": all(
            law.exponential < law.algebraic / 10 for law in late_laws(run)
        ),
        "the test loss stays above 0.5": bool((run["test_loss"] > 0.5).all()),
    }


def heads_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on Figure 13."""
    run = evidence["run"]
    keys, queries = stages.keys_turn(run).times, stages.queries_turn(run).times
    sentences = {
        f"attentions of the four heads are within {ALIKE:g} of each other": (
            max(apart(evidence).values()) < ALIKE
        ),
        "as with one head noise leaves the signal: s21 < 0.01 in the end": bool(
            (schema.last(series_of(evidence), "s21") < 0.01).all()
        ),
        "as with one head outvoted queries turn about twice as late as keys, 1.5 to "
        "2.2 times": bool(((queries > 1.5 * keys) & (queries < 2.2 * keys)).all()),
    }
    return {"Appendix B.5": sentences}


def series_of(evidence: Evidence) -> xr.Dataset:
    """The run with s21 as one of its series."""
    run = evidence["run"]
    return run.assign(s21=series.noise_to_signal(run))


FIGURE18 = Exhibit(
    id="figure18",
    kind="figure",
    title="Figure 18: all of training with SignGD",
    caption=(
        "Setting (a), d = 2000; values and neuron 0 of seed 0, attention over all "
        "samples and five seeds, losses as medians (bands: range). Claimed: values and "
        "attention memorise noise; the training loss falls exponentially, the test "
        "loss stays of order 1. This is reproduced: an exponential fits the second "
        "half of training with a hundredth of a power law's residual. " + ATTENTION
    ),
    needs={"run": signgd()},
    draw=draw,
    values=values,
    checks=checks,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
FIGURE13 = Exhibit(
    id="figure13",
    kind="figure",
    title="Figure 13: four heads",
    caption=(
        "Setting (a), d = 2000, four heads with separate weights, whose outputs are "
        "added; seed 0, values and neuron 0 of the first head. Claimed: heads behave "
        "alike, and like a single head. They do; four heads together learn faster, so "
        "that losses fall earlier. " + ATTENTION
    ),
    needs={"run": HEADS},
    draw=draw_heads,
    values=head_values,
    stated=heads_stated,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
