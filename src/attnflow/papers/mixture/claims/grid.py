"""Observation 1 by the loss, over a grid of K, L and b at two widths."""

from __future__ import annotations

import math
from functools import partial

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture import grid
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.schema.installation import xr

ALL = mutate.EVERY
RUNS = {**grid.WIDE, **grid.FINITE}
LOSS, WRONG = "loss at the end", "share of the population that is wrong at the end"
LAST = {"holes": "reads the last record only"}
REVERSED = tuple(
    grid.named(K, L, b, "inf")
    for K, L, b in ((3, 4, 0.25), (4, 4, 0.25), (8, 4, 0.25), (4, 5, 0.25), (4, 5, 0.5))
)
"""Runs at infinite width in which a group repels its own class token."""

WEAKER = ("K=3, *, b=1, *", "K=4, *, b=1, *", "K=8, L=4, b=1, *", "*, L=3, *")
"""Runs of the corrected statement."""


def _wrong(run: xr.Dataset) -> xr.DataArray:
    return 1 - ev.at_last_step(run, "accuracy")


def _learned(of: tuple[str, ...] = ("*",)) -> c.All:
    """The loss has fallen, and no sample is misclassified."""
    loss = partial(ev.at_last_step, name="loss")
    return c.All(
        (
            c.AtMost(LOSS, loss, grid.LEARNED, unit="log", of=of),
            c.AtMost(WRONG, _wrong, 1 - ev.ALL_RIGHT, of=of),
        )
    )


def _score(run: xr.Dataset, *, query: str) -> xr.DataArray:
    score = ev.at_last_step(run, "score")
    return score.sel(head="+", key="c1", query=query, drop=True)


def _loss_of_silence(run: xr.Dataset) -> xr.DataArray:
    """The loss over log 2 times the share that is wrong."""
    return ev.at_last_step(run, "loss") / (math.log(2) * _wrong(run))


def _righted(run: xr.Dataset) -> xr.Dataset:
    """A run that has learned: every sample is right, at the loss of b = 1."""
    return run.assign(loss=run["loss"] * 0 + 0.001, accuracy=run["accuracy"] * 0 + 1)


_claim = partial(
    c.Claim, kind=c.Kind.OBSERVATION, system=ev.DESCENT, survives=LAST, under=()
)

GRID = (
    _claim(
        id="B-Obs1-grid",
        origin="ours",
        place="Observation 1, over K, L and b",
        statement="The same transformer learns K ≥ 3 mixtures at every K, L and b of "
        "the grid.",
        needs=RUNS,
        judge=_learned(),
        predicate="learned: the loss ends at most at 0.05, and no sample is wrong. "
        "Samples at f = 0 keep a loss of log 2 each",
        settings="(K, L) = (3, 3), (3, 4), (4, 3), (4, 4), (4, 5), (8, 3), (8, 4), "
        "(8, 9) and b = 1/4, 1/2, 1 at infinite width, 20000 steps ((8, 9): 4000 steps "
        "of 0.5); at m = 64, seeds 200 … 202, (3, 4), (4, 4), (4, 5) at each b and "
        "(8, 3) at b = 1/2, 8000 and 10000 steps, and (8, 9) at b = 1/2 on 2048 drawn "
        "samples, 2000 steps of 1; ω = 0.1",
        expected=c.Verdict.FAILS,
        source=(
            "our runs. The paper says that the transformer can learn them, without "
            "naming b or L. The grid and 0.05 were fixed with some results in view: "
            "those at infinite width up to L = 5, and three of the cells at m = 64. "
            "The correction first included (8, 9) at b = 1, before that was run: "
            "after 4000 steps of 0.5 its loss is 0.62, and more steps may help; at b "
            "= 1/2 it is learned. (8, 9) at m = 64 was added later: its population is "
            "too large, and on 2048 drawn samples 15 to 21% are wrong. This is due to "
            "the draw more than to the width: of the samples of seed 0, 21% are wrong "
            "at infinite width too; of 16,384 drawn samples 6% are wrong at m = 64 "
            "(seed 0, loss 0.055; a run of five minutes)"
        ),
        correction=c.Correction(
            c.CorrectionKind.WEAKER,
            "It learns those of the grid with b = 1 and L ≤ 5, at both widths, and "
            "those with L = 3 at every b.",
            _learned(WEAKER),
        ),
        mends=c.named(mutate.on_run("every sample is learned", ALL, _righted)),
        witness=c.Witness(
            "witnesses/reversal.py",
            {
                "loss": (f"{grid.named(4, 5, 0.5, 'inf')}: {LOSS}", 0),
                "share wrong": (f"{grid.named(4, 5, 0.5, 'inf')}: {WRONG}", 0),
            },
        ),
    ),
    _claim(
        id="B-Obs1-reversed",
        origin="ours",
        place="Observation 1, where it is not seen",
        statement=(
            "In five cells of the grid at infinite width, where training fails, the "
            "association is reversed: a group token repels its own class token and "
            "attracts the others, and the misclassified samples end at f = 0, with a "
            "loss of log 2 each."
        ),
        under=("Definition 5.1",),
        needs={name: grid.WIDE[name] for name in REVERSED},
        judge=c.All(
            (
                c.AtMost(
                    "S[c1,v1]",
                    partial(_score, query="v1"),
                    -1.0,
                    unit="difference",
                ),
                c.AtLeast("S[c1,v2]", partial(_score, query="v2"), 0.5),
                c.Near("loss over log 2 · share wrong", _loss_of_silence, 1.0, 0.1),
            )
        ),
        predicate="−1, 1/2 and 10% are ours",
        settings="(K, L, b) = (3, 4, 1/4), (4, 4, 1/4), (8, 4, 1/4), (4, 5, 1/4), "
        "(4, 5, 1/2); infinite width, ω = 0.1. (8, 9) at b = 1/4 and 1, where training "
        "fails too within our steps, is not among them",
        expected=c.Verdict.HOLDS,
        source="our runs at infinite width (deterministic), which were seen before the "
        "statement was written",
        mutations=c.named(mutate.negate(REVERSED[-1], "score")),
    ),
)
