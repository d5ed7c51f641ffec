"""The whole of training: the headline figure, and Figures 18 and 13 (four heads)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Panels, Series, Tables
from attnflow.figures.exhibits.course import Edges
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import HEAD, SAMPLE, TOKEN
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST = 0.02
"""Where the logarithmic axis begins, in steps."""
JOINT = 2.0
"""Up to this step the run with small steps is shown, as in the paper."""
LINEAR = 0.004
"""Inner products below this, the initial size, are on a linear scale."""
STAGES = ("I", "II", "III", "IV")
DETECTORS = {
    "T1": stages.values_positive,
    "T2_SGN": stages.noise_aligned,
    "T3": stages.signals_voted,
    **statistics.TURNS,
}


def _stages(named: int) -> Callable[[Evidence], Edges]:
    """Ends of stages I, II and III, and names from number `named` on."""
    names = [name if number >= named else "" for number, name in enumerate(STAGES)]
    ends = list(DETECTORS.values())[:3]
    return lambda evidence: ([end(evidence["run"]).median for end in ends], names)


def _signed_axis(ax: Axes, table: Series) -> None:
    """Sets a signed axis over decades: linear near zero, logarithmic beyond."""
    powers = (0.01, 0.1, 1.0, 10.0)
    ticks = [*(-p for p in powers[::-1]), 0.0, *powers]
    ax.set_yscale("asinh", linear_width=LINEAR)
    ax.set_yticks(ticks, [figures.number(t) for t in ticks])
    ax.yaxis.minorticks_off()


def _list_turns(ax: Axes, table: Series) -> None:
    """Lists the marked times, at which outvoted noise turns, in a corner."""
    _signed_axis(ax, table)
    times = {name: event.median for name, event in table.marks.items()}
    rows = [f"{name} at {time:.0f}" for name, time in times.items() if time is not None]
    style: dict[str, Any] = {
        "color": figures.current_theme().muted,
        "va": "top",
        "ha": "left",
    }
    text = "\n".join(["dotted:", *rows])
    ax.text(0.03, 0.97, text, transform=ax.transAxes, **style)
    ax.axhline(0, color=figures.current_theme().hairline, lw=0.8, zorder=1)


def _early(run: xr.Dataset) -> xr.Dataset:
    return panels.in_papers_steps(run).sel(time=slice(None, JOINT))


_VALUES = panels.mean_values(
    "I: values of noise grow",
    look=lambda run: run.sel(time=slice(JOINT, None)),
    scales=("log", "linear"),
    xlim=(FIRST, None),
    shades=_stages(0),
    finish=_signed_axis,
)
_FIRST_STEPS = panels.mean_values("", "slow start", look=_early).lines
_UNNAMED = (replace(e, name=f"{e.name}, first steps", label="") for e in _FIRST_STEPS)
PANELS = (
    replace(_VALUES, lines=(*_UNNAMED, *_VALUES.lines)),
    panels.neuron(
        "II–IV in one neuron: align, vote, turn",
        one=True,
        scales=("log", "linear"),
        shades=_stages(1),
        marks=statistics.TURNS,
        symbols=dict.fromkeys(statistics.TURNS, ""),
        finish=_list_turns,
    ),
    panels.attention(
        "IV: attention leaves the signal", scales=("log", "linear"), shades=_stages(1)
    ),
    panels.losses("Memorised, not learned", shades=_stages(len(STAGES))),
)


def _at_150(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """The median s11 and s21 of each seed at the paper's mark."""
    return {
        name: statistics.at_step(paid, 150)
        for name, paid in statistics.median_attention(run).items()
    }


def values(table: Tables) -> Values:
    """Times of stages and turns, losses at the end, and attention at t = 150."""
    run = table.runs["run"]
    parts = {
        "step": statistics.times(run, DETECTORS),
        "at the end": statistics.final_losses(run),
        "attention to the signal at t = 150": _at_150(run),
    }
    return {part: statistics.over_seeds(rows) for part, rows in parts.items()}


def _memorised(table: Tables) -> xr.DataArray:
    end = statistics.final_losses(table.runs["run"])
    return (end["training loss"] < 0.02) & (end["test loss"] > 0.5)


def _noise_has_left(table: Tables) -> xr.DataArray:
    paid = _at_150(table.runs["run"])
    return (paid["s21"] < 0.1) & (paid["s11"] > 0.4)


OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Four stages of sign gradient descent",
    caption=(
        "Values, keys, queries, attention and losses over training by SignGD in "
        "setting (a), d = 2000. Shown is one neuron of seed 0 with two samples, one "
        "of which is outvoted; shading, dotted lines and their steps are medians "
        "over five seeds. I: the mean value of every noise token turns positive and "
        "grows. II: key and query noise of a sample align in sign. III: noise votes; "
        "the query signal follows the majority, the key signal takes the opposite "
        "sign. IV: noise stops attending to the signal; then the outvoted keys turn, "
        "and at about twice that time their queries, until all signs agree. The "
        "training loss falls exponentially, the test loss stays of order 1. The "
        "first two steps are from a run with steps a thousand times smaller, as in "
        "the paper; bands are the range over samples and seeds. " + runs.ATTENTION
    ),
    needs={"run": runs.signgd(), "slow start": runs.slow_start()},
    shows=Panels(PANELS, columns=2, size=(11.6, 7.8)),
    values=values,
    checks={
        "stages and turning points come in the stated order in every seed": lambda t: (
            np.diff([end(t.runs["run"]).times for end in DETECTORS.values()], axis=0)
            > 0
        ),
        "queries turn 1.6 to 2.2 times as late as keys": lambda t: (
            statistics.turn_later(t.runs["run"], 1.6, 2.2)
        ),
        "at t = 150 noise has left the signal and signals have not: s21 < 0.1 and "
        "s11 > 0.4 in the median of every seed": _noise_has_left,
        "training loss ends below 0.02, test loss above 0.5": _memorised,
    },
    silent=runs.SILENT,
)

ALIKE = 0.1
"""The largest allowed gap between the attention of two heads."""
VALUES, NEURON = panels.mean_values("Mean values"), panels.neuron("One neuron")


def whole_values(table: Tables) -> Values:
    """Times of events, losses at the end, and fits to the training loss."""
    run = table.runs["run"]
    return {
        **statistics.over_seeds(statistics.times(run, statistics.TURNS)),
        **statistics.losses_at_end(run),
        "law of the training loss, second half, seed 0": statistics.law_table(run),
    }


def apart(run: xr.Dataset) -> dict[str, float]:
    """The largest gap between two heads' median attention at one step."""
    tables = {"s11": series.signal_to_signal(run), "s21": series.noise_to_signal(run)}
    middles = {name: table.median(SAMPLE) for name, table in tables.items()}
    return {
        name: float((m.max(HEAD) - m.min(HEAD)).max()) for name, m in middles.items()
    }


def _noise_is_valued(table: Tables) -> xr.DataArray:
    """Whether every mean value noise ends above 5 times the signal's."""
    value = schema.last(table.runs["run"], "value")
    noise = value.sel(token=series.noise_names(table.runs["run"])).min(TOKEN)
    return noise > 5 * abs(value.sel(token=series.SIGNAL))


FIGURE18 = Exhibit(
    id="figure18",
    kind="figure",
    title="Figure 18: all of training with SignGD",
    caption=(
        "Values, one neuron, attention and losses over all 2000 steps of SignGD in "
        "setting (a), d = 2000: values and neuron 0 are of seed 0, attention is over "
        "all samples and five seeds, and losses are medians (bands: range). Claimed: "
        "values and attention memorise noise; the training loss falls exponentially, "
        "the test loss stays of order 1. This is reproduced: an exponential fits the "
        "second half of training with a hundredth of a power law's residual. "
        + runs.ATTENTION
    ),
    needs={"run": runs.signgd()},
    shows=Panels(
        (VALUES, NEURON, panels.attention("Attention"), panels.losses()),
        columns=2,
        size=(11.6, 7.8),
    ),
    values=whole_values,
    checks={
        "mean values of noise end at more than 5 times that of the signal": (
            _noise_is_valued
        ),
        "99% of query noise has the sign of its neuron's query signal in the end": (
            lambda t: np.isfinite(stages.queries_follow(t.runs["run"]).times)
        ),
        "the training loss falls exponentially: the residual of the exponential is a "
        "tenth of that of the power law at most": lambda t: statistics.is_exponential(
            t.runs["run"]
        ),
        "the test loss stays above 0.5": lambda t: t.runs["run"]["test_loss"] > 0.5,
    },
    silent=runs.SILENT,
)
FIGURE13 = Exhibit(
    id="figure13",
    kind="figure",
    title="Figure 13: four heads",
    caption=(
        "Values, one neuron, attention and losses with four heads: setting (a), d = "
        "2000, heads with separate weights, whose outputs are added; seed 0, values "
        "and neuron 0 of the first head. Claimed: heads behave alike, and like a "
        "single head. They do; four heads together learn faster, so that losses fall "
        "earlier. " + runs.ATTENTION
    ),
    needs={"run": runs.HEADS},
    shows=Panels(
        (
            VALUES,
            NEURON,
            *(panels.attention(f"Attention, head {h + 1}", head=h) for h in range(4)),
            panels.losses(),
        ),
        columns=4,
        size=(16.8, 7.8),
    ),
    values=lambda t: {
        **whole_values(t),
        "largest gap between heads": apart(t.runs["run"]),
    },
    stated={
        "Appendix B.5": {
            f"attentions of the four heads are within {ALIKE:g} of each other": (
                lambda t: max(apart(t.runs["run"]).values()) < ALIKE
            ),
            "as with one head noise leaves the signal: s21 < 0.01 in the end": (
                lambda t: [
                    bool((t[f"Attention, head {h + 1}"].ends["s21"] < 0.01).all())
                    for h in range(4)
                ]
            ),
            "as with one head outvoted queries turn about twice as late as keys, 1.5 "
            "to 2.2 times": lambda t: statistics.turn_later(t.runs["run"], 1.5, 2.2),
        }
    },
    silent=runs.SILENT,
)
