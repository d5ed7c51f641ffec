"""Figures 10 to 12: neurons, attention and losses on samples of ten tokens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims.stages import first_crossing
from attnflow.figures.exhibits import Course, Line, Tables
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.figures.optimisers import MOMENTUM
from attnflow.papers.signgd.stages import series, winners
from attnflow.schema.declarations import Exhibit
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE, TIME
from attnflow.schema.installation import xr

NEEDS = {
    "SignGD": runs.long_samples("length10"),
    MOMENTUM: runs.long_samples("adam-length10"),
    "GD": runs.long_samples("gd-length10"),
}
MEMORISE = ("SignGD", MOMENTUM)
KINDS = ("signal", "noise")
HALF = 0.5
SMALL_LOSS = 0.01
SETTING = (
    "Setting (d), d = 2000, L = 10: five signals and five independent noise tokens in "
    "each sample. Adam with β1 = 0.9, β2 = 0.99, ε = 1e-15, gradient descent with "
    "learning rate 1. Seed 0."
)
_exhibit = partial(
    Exhibit,
    kind="figure",
    needs=NEEDS,
    silent=(*runs.SILENT, "Which β1 Figures 10 to 12 show is not stated. We take 0.9."),
)


def following(run: xr.Dataset, observable: str) -> np.ndarray:
    """The fraction of dominating noise with the query signal's sign, at the end."""
    short = panels.one_noise(run)
    share = series.following(short, observable)
    return schema.last(short.assign(share=share), "share").values


def largest_key(run: xr.Dataset) -> float:
    """The largest |inner product| of a key neuron with a token, at the end."""
    return float(abs(schema.last(run, "key_neuron")).max())


def neuron_values(table: Tables) -> Values:
    """Fractions of dominating noise with the query signal's sign, and largest keys."""
    sides = {
        f"dominating {side} noise as the query signal": observable
        for observable, side in panels.SIDES.items()
    }
    return {
        name: statistics.over_seeds({n: following(run, o) for n, o in sides.items()})
        | {"largest key noise at the end": largest_key(run)}
        for name, run in table.runs.items()
    }


def _fewer_follow(table: Tables) -> list[bool]:
    signgd, adam = (following(table.runs[name], "query_neuron") for name in MEMORISE)
    return [signgd.min() > adam.max(), adam.min() > 0.8]


FIGURE10 = _exhibit(
    id="figure10",
    title="Figure 10: one neuron, samples of ten tokens",
    caption=(
        "Key and query noise of neuron 0 over training, for the noise token a_i on "
        f"which a sample's attention ends. {SETTING} Claimed: key and query noise of "
        "that token have the query signal's sign. This holds under SignGD; under Adam "
        "a tenth of the queries do not follow. Gradient descent hardly trains keys and "
        "queries."
    ),
    shows=panels.side_by_side(panels.neuron, NEEDS),
    values=neuron_values,
    stated={
        "Appendix B.4": {
            "key noise of the dominating token has the query signal's sign under "
            "SignGD and Adam: more than 95%": lambda t: [
                following(t.runs[name], "key_neuron").min() > 0.95 for name in MEMORISE
            ],
            "query noise of the dominating token has that sign under SignGD: more "
            "than 95%": lambda t: following(t.runs["SignGD"], "query_neuron") > 0.95,
            "gradient descent hardly trains keys: a tenth as far as Adam": lambda t: (
                largest_key(t.runs["GD"]) < largest_key(t.runs[MOMENTUM]) / 10
            ),
        }
    },
    checks={
        "under Adam fewer queries follow the query signal, more than 80%": _fewer_follow
    },
)


def to_winner(run: xr.Dataset, kind: str) -> xr.DataArray:
    """Attention of signals or of noise to the noise token that their sample ends on.

    Dims `seed`, `time`, `sample`; means over the queries of that kind.
    """
    attention = run["attention"].mean(HEAD)
    first = attention.sizes[KEY_POSITION] - series.noise_count(run)
    winner = winners(run)
    # Drop the time of the last record, which comes with them as a coordinate.
    key_index = winner.drop_vars([str(name) for name in winner.coords]) + first
    queries = slice(0, first) if kind == "signal" else slice(first, None)
    paid = attention.isel({KEY_POSITION: key_index})
    return paid.isel(query_position=queries).mean(QUERY_POSITION)


def _to_winner(title: str, run: str) -> Course:
    return Course(
        title=title,
        x=panels.STEP,
        y=r"attention to the token $a_i$",
        ylim=(-0.01, 1.04),
        lines=tuple(
            Line(f"by {kind}", partial(to_winner, kind=kind), run=run, kind=kind)
            for kind in KINDS
        ),
    )


def one_token(run: xr.Dataset) -> np.ndarray:
    """The fraction of samples in which all queries attend most to one noise token."""
    peaks = schema.last(run, "attention").mean(HEAD).argmax(KEY_POSITION)
    first = peaks.isel(query_position=0)
    signals = run.sizes[KEY_POSITION] - series.noise_count(run)
    same = (peaks == first).all(QUERY_POSITION) & (first >= signals)
    return same.mean(SAMPLE).values


def _ends(paid: Mapping[str, xr.DataArray]) -> dict[str, float]:
    """The median attention to a_i at the end."""
    return {
        f"{name} at the end": float(rows.isel(time=-1).median())
        for name, rows in paid.items()
    }


def _passing(table: Tables, run: str) -> dict[str, float]:
    """The time at which the median over samples passes 1/2, where it does."""
    times = {
        name: first_crossing(table.runs[run], rows.median(SAMPLE), level=HALF).median
        for name, rows in table[run].items()
    }
    return {f"{name} above 1/2 at": t for name, t in times.items() if t is not None}


def _end_above(table: Tables, noise: float, signal: float) -> list[bool]:
    """Whether SignGD and Adam end with more attention of each kind on that token."""
    ends = [_ends(table[name]) for name in MEMORISE]
    return [
        end["by noise at the end"] > noise and end["by signal at the end"] > signal
        for end in ends
    ]


def _noise_first(table: Tables) -> list[bool]:
    times = [_passing(table, name) for name in MEMORISE]
    return [
        time.get("by noise above 1/2 at", np.inf)
        < time.get("by signal above 1/2 at", -np.inf)
        for time in times
    ]


FIGURE11 = _exhibit(
    id="figure11",
    title="Figure 11: attention, samples of ten tokens",
    caption=(
        "Attention that signals and noise pay to the noise token a_i on which a "
        f"sample's attention ends. {SETTING} Medians over samples (bands: range). "
        "Claimed: all queries of a sample attend to the same noise token, noise before "
        "signals. They do; under gradient descent attention stays uniform."
    ),
    shows=panels.side_by_side(_to_winner, NEEDS),
    values=lambda t: {
        name: statistics.over_seeds(
            {"rows that peak at one noise token": one_token(t.runs[name])}
        )
        | _ends(paid)
        | _passing(t, name)
        for name, paid in t.items()
    },
    stated={
        "Appendix B.4": {
            "all rows of a sample peak at one token, a noise token, under SignGD and "
            "Adam": lambda t: [one_token(t.runs[n]).min() == 1 for n in MEMORISE],
            "only that token is attended to in the end, by noise and by signals: more "
            "than 0.9": lambda t: _end_above(t, 0.9, 0.9),
            "noise attends to that token before signals do": _noise_first,
            "under gradient descent attention stays where it was, 0.1 ± 0.02": (
                lambda t: [abs(end - 0.1) < 0.02 for end in _ends(t["GD"]).values()]
            ),
        }
    },
    checks={
        "noise pays more than 0.99 of its attention to that token in the end, signals "
        "more than 0.7": lambda t: _end_above(t, 0.99, 0.7)
    },
)


def losses(run: xr.Dataset) -> dict[str, float]:
    """Losses at the end, medians over seeds, and when the training loss is small."""
    fall = first_crossing(run, "loss", level=SMALL_LOSS, direction="down", scale="log")
    return {
        "training loss at the end": float(schema.last(run, "loss").median()),
        "test loss at the end": float(schema.last(run, "test_loss").median()),
        "least test loss": float(run["test_loss"].min(TIME).median()),
        f"training loss below {SMALL_LOSS:g} at": float(np.median(fall.times)),
    }


def _above_descent(table: Tables, name: str) -> np.ndarray:
    """By how much SignGD and Adam are above gradient descent in one of the numbers."""
    descent = losses(table.runs["GD"])[name]
    return np.array([losses(table.runs[run])[name] - descent for run in MEMORISE])


FIGURE12 = _exhibit(
    id="figure12",
    title="Figure 12: training and test loss, samples of ten tokens",
    caption=(
        f"Losses over training. {SETTING} Claimed: gradient descent, whose rate is 10⁴ "
        "times as large, converges much faster. It is the first to reach a small loss; "
        "but its loss falls as a power of t, while those of SignGD and Adam fall "
        "exponentially and end far below."
    ),
    shows=panels.side_by_side(panels.losses, NEEDS),
    values=lambda t: {
        name: losses(run) | {"law, second half, seed 0": statistics.law_table(run)}
        for name, run in t.runs.items()
    },
    stated={
        "Caption of Figure 12": {
            "gradient descent, with its rate of 1, converges faster: it has a small "
            "loss before SignGD and Adam": lambda t: (
                _above_descent(t, f"training loss below {SMALL_LOSS:g} at") > 0
            )
        }
    },
    checks={
        "gradient descent ends with a larger training loss": lambda t: (
            _above_descent(t, "training loss at the end") < 0
        ),
        "gradient descent generalises, test loss below 0.01; SignGD and Adam do not, "
        "above 0.2": lambda t: [
            losses(t.runs["GD"])["test loss at the end"] < 0.01,
            *(losses(t.runs[name])["least test loss"] > 0.2 for name in MEMORISE),
        ],
    },
)
