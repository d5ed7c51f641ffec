"""Figures 1a and 1b: losses and neurons in simultaneous training."""

from __future__ import annotations

import numpy as np

from attnflow.claims import look
from attnflow.claims.stages import Event, first_crossing
from attnflow.figures.exhibits import Panels, Tables
from attnflow.papers.mixture.figures.courses import (
    FINITE,
    LOG2,
    NEURONS,
    SILENT_TRAINING,
    comes_before,
    losses,
    medians,
)
from attnflow.papers.mixture.stages import attention_grown, learned, neurons_aligned
from attnflow.schema.declarations import Exhibit
from attnflow.schema.installation import xr

SIZE = (7.2, 3.9)
OBSERVED = "Section 3.1"
"""Where the paper describes Figure 1."""


def _waiting(table: Tables) -> xr.DataArray:
    """Loss of conflicting samples when consistent ones are learned, by seed."""
    run, loss = table.runs["run"], table["losses"]["conflicting"]
    return look.at(run, learned(run, "consistent"), loss, how="linear")


def _aligned(table: Tables, token: str) -> Event:
    return first_crossing(table.runs["run"], f"value[+,{token}]", level=0.1)


def _aligns_at_once(table: Tables) -> list[np.ndarray]:
    """Whether class tokens align at each step until consistent ones are learned."""
    run = table.runs["run"]
    early = look.between(run, 0.0, learned(run, "consistent"))
    steps = [look.steps(table["neurons"][token]) for token in ("v1", "v2")]
    return [look.least(step, look.both(early)) > 0 for step in steps]


FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: losses of consistent and conflicting samples",
    caption=(
        "Losses when all weights are trained together by gradient descent. Samples "
        "whose two class tokens agree in sign are learned within 150 steps; those "
        "whose signs conflict stay at the loss of a guess for most of training, and "
        "are learned when attention moves (Figure 1c)."
    ),
    needs={"run": FINITE},
    shows=Panels((losses("Losses of the two groups of samples"),), size=SIZE),
    values=lambda t: {
        "steps to loss 0.1": {
            group: learned(t.runs["run"], group).median for group in t["losses"]
        },
        "loss at the end": medians(t["losses"].ends),
    },
    stated={
        OBSERVED: {
            "the loss of consistent samples falls before that of conflicting ones": (
                lambda t: comes_before(
                    *(learned(t.runs["run"], group) for group in t["losses"])
                )
            ),
            "the loss of conflicting samples starts to fall later: it is within 1% "
            "of log 2 when consistent ones are learned": (
                lambda t: abs(_waiting(t) / LOG2 - 1) < 0.01
            ),
        }
    },
    checks={
        "both losses fall below 0.1": lambda t: [
            learned(t.runs["run"], group).reached for group in t["losses"]
        ]
    },
    silent=SILENT_TRAINING,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: alignment of the positive head's neuron with the tokens",
    caption=(
        "Inner products of the neuron with class tokens v and group tokens c, in the "
        "runs of Figure 1a. The neuron aligns with the class tokens from the first "
        "step; with the group tokens only once its ReLU has switched off on "
        "consistent samples of the wrong sign, and faster once attention lets the "
        "loss of conflicting samples fall."
    ),
    needs={"run": FINITE},
    shows=Panels((NEURONS,), size=SIZE),
    values=lambda t: {
        "steps to alignment 0.1": {
            token: _aligned(t, token).median for token in t["neurons"]
        },
        "alignment at the end": medians(t["neurons"].ends),
    },
    stated={
        OBSERVED: {
            "the neuron aligns with the class tokens from the first record on": (
                _aligns_at_once
            ),
            "attention scores change noticeably only after the neurons have aligned": (
                lambda t: comes_before(
                    neurons_aligned(t.runs["run"]), attention_grown(t.runs["run"])
                )
            ),
        }
    },
    checks={
        "the neuron aligns with class tokens, then with group tokens": (
            lambda t: comes_before(_aligned(t, "v1"), _aligned(t, "c1"))
        ),
        "the neuron ends aligned with both kinds of tokens": lambda t: [
            end > 0.5 for end in t["neurons"].ends.values()
        ],
    },
    silent=SILENT_TRAINING,
)
