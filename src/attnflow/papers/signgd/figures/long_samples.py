"""Figures 10 and 11: neurons and attention on samples of ten tokens."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.optimisers import MOMENTUM
from attnflow.papers.signgd.figures.runs import (
    PRECISION_SILENT,
    SEEDS_SILENT,
    long_samples,
)
from attnflow.papers.signgd.figures.statistics import three_numbers
from attnflow.papers.signgd.stages import series, winners
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE
from attnflow.schema.libraries import xr

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
    """Attention of signals and of noise to the noise token that their sample ends on.

    Dims `seed`, `time`, `sample`; means over the queries of either kind.
    """
    noises = series.noise_count(run)
    attention = run["attention"].mean(HEAD)
    first = attention.sizes[KEY_POSITION] - noises
    winner = winners(run)
    # Drop the time of the last record, which comes with them as a coordinate.
    key_index = winner.drop_vars([str(name) for name in winner.coords]) + first
    paid = attention.isel({KEY_POSITION: key_index})
    return {
        "signal": paid.isel(query_position=slice(0, first)).mean(QUERY_POSITION),
        "noise": paid.isel(query_position=slice(first, None)).mean(QUERY_POSITION),
    }


def one_token(run: xr.Dataset) -> np.ndarray:
    """The fraction of samples in which all queries attend most to one noise token."""
    peaks = schema.last(run, "attention").mean(HEAD).argmax(KEY_POSITION)
    first = peaks.isel(query_position=0)
    signals = run.sizes[KEY_POSITION] - series.noise_count(run)
    same = (peaks == first).all(QUERY_POSITION) & (first >= signals)
    return same.mean(SAMPLE).values


def following(run: xr.Dataset, observable: str) -> np.ndarray:
    """The fraction of dominating noise with the query signal's sign, at the end."""
    short = panels.one_noise(run)
    share = series.following(short, observable)
    return schema.last(short.assign(share=share), "share").values


def draw_neurons(evidence: Evidence) -> Figure:
    """Draw one neuron, with the noise token that each sample ends on."""
    return panels.side_by_side(evidence, panels.one_neuron)


def draw_attention(evidence: Evidence) -> Figure:
    """Draw the attention to the noise token that each sample ends on."""
    return panels.side_by_side(evidence, _to_winner)


def _to_winner(ax: Axes, run: xr.Dataset) -> None:
    for kind, paid in to_winner(run).items():
        colour = figures.current_theme().colour(kind)
        line, _ = panels.samples_and_seeds(ax, paid, colour)
        line.set_label(f"by {kind}")
    figures.time_axis(ax, run, label=panels.STEP)
    ax.set(ylim=(-0.01, 1.04), ylabel=r"attention to the token $a_i$")


def neuron_values(evidence: Evidence) -> Values:
    """Fractions of dominating noise with the query signal's sign, and largest keys."""
    return {
        name: {
            **{
                f"dominating {side} noise as the query signal": three_numbers(share)
                for side, share in following_by_side(run).items()
            },
            "largest key noise at the end": largest_key(run),
        }
        for name, run in evidence.items()
    }


def following_by_side(run: xr.Dataset) -> dict[str, np.ndarray]:
    """`following` of queries and of keys."""
    return {
        side: following(run, observable)
        for observable, (side, _) in panels.SIDES.items()
    }


def largest_key(run: xr.Dataset) -> float:
    """The largest |inner product| of a key neuron with a token, at the end."""
    return float(abs(schema.last(run, "key_neuron")).max())


def attention_values(evidence: Evidence) -> Values:
    """Attention to the token a_i at the end, and when it passes 1/2."""
    return {
        name: {
            "rows that peak at one noise token": three_numbers(one_token(run)),
            **attention_to_winner(run),
        }
        for name, run in evidence.items()
    }


def attention_to_winner(run: xr.Dataset) -> dict[str, float]:
    """The median attention to a_i at the end, and when it passes 1/2."""
    paid = to_winner(run)
    ends = {
        f"by {kind} at the end": float(table.isel(time=-1).median())
        for kind, table in paid.items()
    }
    return {**ends, **_passing(run, paid)}


def _passing(run: xr.Dataset, paid: dict[str, xr.DataArray]) -> dict[str, float]:
    """The time at which the median over samples passes 1/2, where it does."""
    times = {
        kind: first_crossing(run, table.median(SAMPLE), level=HALF).median
        for kind, table in paid.items()
    }
    return {f"by {k} above 1/2 at": t for k, t in times.items() if t is not None}


SOURCE = "Appendix B.4"


def stated_neurons(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on Figure 10."""
    shares = {name: following_by_side(evidence[name]) for name in MEMORISE}
    sentences = {
        "dominating key noise has the query signal's sign under SignGD and Adam: more "
        "than 95%": all(shares[name]["key"].min() > 0.95 for name in MEMORISE),
        "so has dominating query noise under SignGD: more than 95%": bool(
            shares["SignGD"]["query"].min() > 0.95
        ),
        "gradient descent hardly trains keys: a tenth as far as Adam": (
            largest_key(evidence["GD"]) < largest_key(evidence[MOMENTUM]) / 10
        ),
    }
    return {SOURCE: sentences}


def checks_neurons(evidence: Evidence) -> dict[str, bool]:
    """Where Adam differs from SignGD."""
    queries = {name: following_by_side(evidence[name])["query"] for name in MEMORISE}
    signgd, adam = queries["SignGD"], queries[MOMENTUM]
    return {
        "under Adam fewer queries follow the query signal, more than 80%": bool(
            signgd.min() > adam.max() and adam.min() > 0.8
        )
    }


SPARSE = (
    "only that token is attended to in the end, by noise and by signals: more than 0.9"
)


def stated_attention(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on Figure 11."""
    paid = {name: attention_to_winner(run) for name, run in evidence.items()}
    sentences = {
        "all rows of a sample peak at one token, a noise token, under SignGD and "
        "Adam": all(one_token(evidence[name]).min() == 1 for name in MEMORISE),
        SPARSE: all(
            paid[name][f"by {kind} at the end"] > 0.9
            for name in MEMORISE
            for kind in ("noise", "signal")
        ),
        "noise gets there before signals do": all(
            paid[name].get("by noise above 1/2 at", np.inf)
            < paid[name].get("by signal above 1/2 at", -np.inf)
            for name in MEMORISE
        ),
        "under gradient descent attention stays where it was, 0.1 ± 0.02": all(
            abs(paid["GD"][f"by {kind} at the end"] - 0.1) < 0.02
            for kind in ("signal", "noise")
        ),
    }
    return {SOURCE: sentences}


def checks_attention(evidence: Evidence) -> dict[str, bool]:
    """How far attention has gone in the end."""
    paid = {name: attention_to_winner(evidence[name]) for name in MEMORISE}
    return {
        "noise pays more than 0.99 of its attention to that token in the end, signals "
        "more than 0.7": all(
            table[f"by {kind} at the end"] > least
            for table in paid.values()
            for kind, least in (("noise", 0.99), ("signal", 0.7))
        )
    }


SETTING = (
    "Setting (d), d = 2000, L = 10: five signals and five independent noise tokens in "
    "each sample. Adam with β1 = 0.9, β2 = 0.99, ε = 1e-15, gradient descent with "
    "learning rate 1. Seed 0."
)
long_exhibit = partial(
    Exhibit,
    kind="figure",
    needs=NEEDS,
    silent=(
        SEEDS_SILENT,
        PRECISION_SILENT,
        "Which β1 Figures 10 to 12 show is not stated. We take 0.9.",
    ),
)
FIGURE10 = long_exhibit(
    id="figure10",
    title="Figure 10: one neuron, samples of ten tokens",
    caption=(
        f"{SETTING} Neuron 0, by the noise token a_i that a sample's attention ends "
        "on. Claimed: key and query noise of that token have the query signal's sign. "
        "This holds under SignGD; under Adam a tenth of the queries does not follow. "
        "Gradient descent hardly trains keys and queries."
    ),
    draw=draw_neurons,
    values=neuron_values,
    stated=stated_neurons,
    checks=checks_neurons,
)
FIGURE11 = long_exhibit(
    id="figure11",
    title="Figure 11: attention, samples of ten tokens",
    caption=(
        f"{SETTING} Attention that signals and noise pay to the noise token a_i, "
        "medians over samples (bands: range). Claimed: all queries of a sample attend "
        "to the same noise token, noise before signals. They do; under gradient "
        "descent attention stays uniform."
    ),
    draw=draw_attention,
    values=attention_values,
    stated=stated_attention,
    checks=checks_attention,
)
