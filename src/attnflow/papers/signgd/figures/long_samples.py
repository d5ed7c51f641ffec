"""Figures 10 and 11: samples of ten tokens, five of them noise."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.optimisers import MOMENTUM
from attnflow.papers.signgd.figures.readings import three_numbers
from attnflow.papers.signgd.figures.runs import (
    PRECISION_SILENT,
    SEEDS_SILENT,
    long_samples,
)
from attnflow.papers.signgd.stages import series, winners
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = {
    "SignGD": long_samples("length10"),
    MOMENTUM: long_samples("adam-length10"),
    "GD": long_samples("gd-length10"),
}
MEMORISE = ("SignGD", MOMENTUM)
HALF = 0.5


def to_winner(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """What signals and noise pay to the noise token that their sample ends on.

    Dims `seed`, `time`, `sample`; means over the queries of either kind.
    """
    noises = series.noise_count(run)
    attention = run["attention"].mean(HEAD)
    first = attention.sizes[KEY_POSITION] - noises
    found = winners(run)
    # The last record's time, which they come with, is no coordinate of theirs.
    places = found.drop_vars([str(name) for name in found.coords]) + first
    paid = attention.isel({KEY_POSITION: places})
    return {
        "signal": paid.isel(query_position=slice(0, first)).mean(QUERY_POSITION),
        "noise": paid.isel(query_position=slice(first, None)).mean(QUERY_POSITION),
    }


def one_token(run: xr.Dataset) -> np.ndarray:
    """The share of samples whose rows of attention all peak at one noise token."""
    peaks = schema.last(run, "attention").mean(HEAD).argmax(KEY_POSITION)
    first = peaks.isel(query_position=0)
    signals = run.sizes[KEY_POSITION] - series.noise_count(run)
    same = (peaks == first).all(QUERY_POSITION) & (first >= signals)
    return same.mean(SAMPLE).values


def following(run: xr.Dataset, observable: str) -> np.ndarray:
    """The share of dominating noise with the query signal's sign, at the end."""
    one = panels.one_noise(run)
    share = series.following(one, observable)
    return schema.last(one.assign(share=share), "share").values


def draw_neurons(evidence: Evidence) -> "Figure":
    """One neuron, by the noise token that each sample ends on."""
    return panels.side_by_side(evidence, panels.one_neuron)


def draw_attention(evidence: Evidence) -> "Figure":
    """Attention to the noise token that each sample ends on."""
    return panels.side_by_side(evidence, _to_winner)


def _to_winner(ax: "Axes", run: xr.Dataset) -> None:
    for kind, paid in to_winner(run).items():
        colour = figures.current_theme().colour(kind)
        line, _ = panels.samples_and_seeds(ax, paid, colour)
        line.set_label(f"by {kind}")
    figures.time_axis(ax, run, label=panels.STEP)
    ax.set(ylim=(-0.01, 1.04), ylabel=r"attention to the token $a_i$")


def neuron_values(evidence: Evidence) -> dict[str, Any]:
    """How much dominating noise has the query signal's sign, and how far keys moved."""
    return {
        name: {
            **{
                f"dominating {side} noise as the query signal": three_numbers(
                    following(run, observable)
                )
                for observable, (side, _) in panels.SIDES.items()
            },
            "largest key noise at the end": float(
                abs(schema.last(run, "key_neuron")).max()
            ),
        }
        for name, run in evidence.items()
    }


def attention_values(evidence: Evidence) -> dict[str, Any]:
    """Attention to the token a_i at the end, and when it passes 1/2."""
    found = {}
    for name, run in evidence.items():
        paid = to_winner(run)
        found[name] = {
            "rows that peak at one noise token": three_numbers(one_token(run)),
            **{
                f"by {kind} at the end": float(table.isel(time=-1).median())
                for kind, table in paid.items()
            },
            **_passing(run, paid),
        }
    return found


def _passing(run: xr.Dataset, paid: dict[str, xr.DataArray]) -> dict[str, float]:
    """When the median over samples passes 1/2, for what does."""
    found = {
        kind: first_crossing(run, table.median(SAMPLE), level=HALF).median
        for kind, table in paid.items()
    }
    return {f"by {k} above 1/2 at": t for k, t in found.items() if t is not None}


def seen_neurons(evidence: Evidence) -> dict[str, bool]:
    """What Figure 10 is said to show."""
    found = neuron_values(evidence)
    share = "dominating {} noise as the query signal"
    moved = {name: one["largest key noise at the end"] for name, one in found.items()}
    return {
        "dominating key noise has the query signal's sign under SignGD and Adam: more "
        "than 95%": all(
            found[name][share.format("key")]["least"] > 0.95 for name in MEMORISE
        ),
        "so has dominating query noise: more than 95% under SignGD, fewer under Adam, "
        "more than 80%": (
            found["SignGD"][share.format("query")]["least"]
            > max(0.95, found[MOMENTUM][share.format("query")]["largest"])
            and found[MOMENTUM][share.format("query")]["least"] > 0.8
        ),
        "gradient descent hardly trains keys: a tenth as far as Adam": (
            moved["GD"] < moved[MOMENTUM] / 10
        ),
    }


def seen_attention(evidence: Evidence) -> dict[str, bool]:
    """What Figure 11 is said to show."""
    found = attention_values(evidence)
    return {
        "all rows of a sample peak at one token, a noise token, under SignGD and "
        "Adam": all(
            found[name]["rows that peak at one noise token"]["least"] == 1
            for name in MEMORISE
        ),
        "only that token is attended to in the end: more than 0.99 by noise, more than "
        "0.7 by signals": all(
            found[name][f"by {kind} at the end"] > least
            for name in MEMORISE
            for kind, least in (("noise", 0.99), ("signal", 0.7))
        ),
        "noise gets there before signals do": all(
            found[name].get("by noise above 1/2 at", np.inf)
            < found[name].get("by signal above 1/2 at", -np.inf)
            for name in MEMORISE
        ),
        "under gradient descent attention stays where it was, 0.1 ± 0.02": all(
            abs(found["GD"][f"by {kind} at the end"] - 0.1) < 0.02
            for kind in ("signal", "noise")
        ),
    }


SETTING = (
    "Setting (d), d = 2000, L = 10: five signals and five noise tokens of their own in "
    "each sample. Adam with β1 = 0.9, β2 = 0.99, ε = 1e-15, gradient descent with rate "
    "1. Seed 0."
)
COMMON: dict[str, Any] = {
    "kind": "figure",
    "needs": NEEDS,
    "silent": (
        SEEDS_SILENT,
        PRECISION_SILENT,
        "Which β1 Figures 10 to 12 show is not stated. We take 0.9.",
    ),
}
FIGURE10 = Exhibit(
    id="figure10",
    title="Figure 10: one neuron, samples of ten tokens",
    caption=(
        f"{SETTING} Neuron 0, by the noise token a_i that a sample's attention ends "
        "on. Claimed: key and query noise of that token have the query signal's sign. "
        "So it is under SignGD; under Adam a tenth of the queries does not follow. "
        "Gradient descent hardly trains keys and queries."
    ),
    draw=draw_neurons,
    values=neuron_values,
    seen=seen_neurons,
    **COMMON,
)
FIGURE11 = Exhibit(
    id="figure11",
    title="Figure 11: attention, samples of ten tokens",
    caption=(
        f"{SETTING} Attention that signals and noise pay to the noise token a_i, "
        "medians over samples (bands: range). Claimed: every row of a sample attends "
        "to one and the same noise token, noise before signals. It does; under "
        "gradient descent attention stays even."
    ),
    draw=draw_attention,
    values=attention_values,
    seen=seen_attention,
    **COMMON,
)
