"""Figures 4 and 5: attention of J on Syn-Small over iterations, by two optimisers."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow.figures.exhibits import Tables
from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures import runs as requests
from attnflow.papers.scansnap.figures.readings import named
from attnflow.schema.declarations import Exhibit, Numbers, Predicates
from attnflow.schema.dims import CLASS, SEED, TIME
from attnflow.schema.installation import xr

LOGGED = {"0": 3.52636, "10": 0.01295, "48": 2.51e-5, "98": 2.22e-5}
"""Batch losses in the authors' log of Figure 4, left."""
LOG_DIGITS = 0.005
"""Relative: the log has three digits where the loss is smallest."""
LOSSES = "loss of the batch at iterations"


def batch_losses(run: xr.Dataset) -> np.ndarray:
    """Batch losses at the iterations of the authors' log."""
    return run["batch_loss"].isel({SEED: 0}).sel(time=list(map(int, LOGGED))).values


def _values(t: Tables, side: str) -> Numbers:
    """Batch losses, and statistics of attention by class and iteration."""
    run = t.runs[side]
    return {
        LOSSES: named(LOGGED, batch_losses(run)),
        **({"the same in the authors' log": LOGGED} if side == "left" else {}),
        **{f"class {n + 1}": attention.numbers(run, n) for n in range(2)},
    }


def _at(t: Tables, side: str, record: int, name: str) -> np.ndarray:
    """An observable at a record: mean over classes, first seed."""
    return t.runs[side][name][0, record].mean(CLASS, skipna=False).values


_entropy = partial(_at, name="distinct_entropy")
_mass = partial(_at, name="common_mass")


def _early_share(t: Tables, side: str) -> np.ndarray:
    """Share of the entropy's change that is made in the first ten iterations."""
    first, tenth, last = (_entropy(t, side, record) for record in (0, 10, -1))
    return (tenth - first) / (last - first)


def _has_stopped(t: Tables) -> bool:
    first, late, last = (_entropy(t, "left", record) for record in (0, 48, -1))
    return bool(abs(last - late) < 0.1 * abs(late - first))


REPLAYED: Predicates = {
    "losses are those of the authors' log, to 0.5%": lambda t: (
        abs(batch_losses(t.runs["left"]) / list(LOGGED.values()) - 1) < LOG_DIGITS
    )
}
PLACE = "Caption of Figure 4; Section 8"
_CAPTION = (
    "Attention of each class after some iterations (columns): common tokens are "
    "orange, the class's own tokens blue, and attention at the start is outlined. "
    "System J: both tables by heavy ball (0.9) on batches of 128 sequences of 128 "
    "tokens of Syn-Small, from zero tables. "
)
_figure = partial(
    Exhibit, kind="figure", silent=(*requests.SYN_SMALL_SILENT, requests.STREAM_SILENT)
)

FIGURE4_LEFT = _figure(
    id="figure4-left",
    title="Figure 4, left: attention on Syn-Small, η_Y = η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = η_Z = 1. The frequent distinct tokens gain, common ones lose, and after "
        "some ten iterations little moves. The paper prints no losses; the authors' "
        "log does."
    ),
    needs={"left": requests.syn_small("left")},
    shows=attention.stems(
        {"attention $c_1$": ("left", 0), "attention $c_2$": ("left", 1)},
        r"$\mathbf{J}$: $\eta_Y = 1$, $\eta_Z = 1$",
    ),
    values=partial(_values, side="left"),
    stated={
        PLACE: {
            "attention becomes sparse: its entropy on distinct tokens falls, by more "
            "than 0.1": lambda t: (
                _entropy(t, "left", -1) < _entropy(t, "left", 0) - 0.1
            ),
            "it concentrates on the most frequent distinct token of each class": (
                lambda t: [
                    attention.favourite(t.runs["left"], n)[0]
                    == attention.is_distinct(t.runs["left"], n).sum() - 1
                    for n in range(2)
                ]
            ),
        }
    },
    checks=(REPLAYED if requests.REPLAYS else {})
    | {
        "common tokens lose attention: a quarter of theirs or more": lambda t: (
            _mass(t, "left", -1) < 0.75 * _mass(t, "left", 0)
        ),
        "then it stops: from iteration 48 to 100 the entropy changes by less than a "
        "tenth of what it changed before": _has_stopped,
    },
)
FIGURE4_RIGHT = _figure(
    id="figure4-right",
    title="Figure 4, right: attention on Syn-Small, η_Y = 10, η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = 10, η_Z = 1. The decoder fits within a few iterations, and attention "
        "has less time to move: it ends denser, and common tokens keep more."
    ),
    needs={"right": requests.syn_small("right"), "left": requests.syn_small("left")},
    shows=attention.stems(
        {"attention $c_1$": ("right", 0), "attention $c_2$": ("right", 1)},
        r"$\mathbf{J}$: $\eta_Y = 10$, $\eta_Z = 1$",
    ),
    values=partial(_values, side="right"),
    stated={
        PLACE: {
            "convergence is faster with the larger η_Y: the loss is lower at iteration "
            "4": lambda t: t.runs["right"]["loss"][0, 4] < t.runs["left"]["loss"][0, 4],
            "the final attention is less sparse: entropy on distinct tokens is "
            "higher": lambda t: (
                _entropy(t, "right", -1) > _entropy(t, "left", -1) + 0.05
            ),
        }
    },
    checks={
        "more of the entropy's change is made in the first 10 iterations": (
            lambda t: _early_share(t, "right") > _early_share(t, "left")
        ),
        "common tokens keep more of their attention": lambda t: (
            _mass(t, "right", -1) > _mass(t, "left", -1)
        ),
        "attention does become sparser than at the start": lambda t: (
            _entropy(t, "right", -1) < _entropy(t, "right", 0) - 0.02
        ),
    },
)


RATES = {f"η = {rate:g}": rate for rate in (0.1, 0.5, 1.0)}


def entropies(t: Tables, record: int) -> np.ndarray:
    """Entropy on the first class's distinct tokens at a record, by rate and seed."""
    at = {CLASS: 0, TIME: record}
    return np.array([t.runs[n]["distinct_entropy"].isel(at).values for n in RATES])


def favourites(t: Tables) -> np.ndarray:
    """The most attended token of the first class, 0 (rare) to 9, by rate and seed."""
    return np.array([attention.favourite(t.runs[name]) for name in RATES])


def _values_adam(t: Tables) -> Numbers:
    """Favourites and entropies by learning rate, seed by seed."""
    start = {"entropy on distinct tokens at the start": float(entropies(t, 0)[0, 0])}
    tables = zip(RATES, favourites(t), entropies(t, -1), strict=True)
    return start | {
        name: {
            "favourite of 0 to 9": named(_seeds(t.runs[name]), tops),
            "entropy on distinct tokens at the end": named(_seeds(t.runs[name]), ends),
            **attention.numbers(t.runs[name]),
        }
        for name, tops, ends in tables
    }


def _seeds(run: xr.Dataset) -> list[str]:
    return [f"seed {seed}" for seed in run[SEED].values]


FIGURE5 = Exhibit(
    id="figure5",
    kind="figure",
    title="Figure 5: attention on Syn-Small under Adam",
    caption=(
        "Attention of class 1 on Syn-Small under Adam, for several learning rates; "
        "outlined: attention at the start. System J: both tables with one learning "
        "rate, from zero tables; seed 0 of three. Which distinct tokens (blue) are "
        "favoured depends on the learning rate, as the paper says: the larger it is, "
        "the more frequent ones. Entropy on distinct tokens ends above its initial "
        "value: Adam flattens attention among them."
    ),
    needs={name: requests.adam(rate) for name, rate in RATES.items()},
    shows=attention.stems(
        {rf"attention $c_1$, $\eta = {rate:g}$": (n, 0) for n, rate in RATES.items()},
        r"$\mathbf{J}$, by Adam",
    ),
    values=_values_adam,
    stated={
        "Caption of Figure 5; Section 8": {
            "with different learning rates attention goes to different distinct "
            "tokens: the favourite token is a different one at each rate, in every "
            "seed": (lambda t: favourites(t) != np.roll(favourites(t), 1, axis=0))
        }
    },
    checks={
        "the larger the learning rate, the more frequent the favourite "
        "token": lambda t: np.diff(favourites(t), axis=0) > 0,
        "Adam does not make attention sparse: entropy on distinct tokens ends above "
        "that of the start": lambda t: entropies(t, -1) > entropies(t, 0),
    },
    silent=(
        *requests.SYN_SMALL_SILENT,
        "Adam's β1, β2, ε and the seeds are not stated: 0.9, 0.999, ε = 1e-8; seeds "
        "0, 1, 2 of our own random numbers.",
    ),
)
