"""Figures 18 and 13: the whole of training, with one head and with four."""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.figures.exhibits import Panels, Tables
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Exhibit
from attnflow.schema.dims import HEAD, SAMPLE, TOKEN

ALIKE = 0.1
"""The largest allowed gap between the attention of two heads."""
VALUES, NEURON = panels.mean_values("Mean values"), panels.neuron("One neuron")


def values(table: Tables) -> Values:
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
        "Setting (a), d = 2000; values and neuron 0 of seed 0, attention over all "
        "samples and five seeds, losses as medians (bands: range). Claimed: values and "
        "attention memorise noise; the training loss falls exponentially, the test "
        "loss stays of order 1. This is reproduced: an exponential fits the second "
        "half of training with a hundredth of a power law's residual. " + runs.ATTENTION
    ),
    needs={"run": runs.signgd()},
    shows=Panels(
        (VALUES, NEURON, panels.attention("Attention"), panels.losses()),
        columns=2,
        size=(11.6, 7.8),
    ),
    values=values,
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
        "Setting (a), d = 2000, four heads with separate weights, whose outputs are "
        "added; seed 0, values and neuron 0 of the first head. Claimed: heads behave "
        "alike, and like a single head. They do; four heads together learn faster, so "
        "that losses fall earlier. " + runs.ATTENTION
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
    values=lambda t: {**values(t), "largest gap between heads": apart(t.runs["run"])},
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
