"""Figures 7 to 9: SignGD, Adam and gradient descent in setting (d)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow.claims.stages import Event, first_crossing
from attnflow.figures.exhibits import Panels, Tables
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.figures.optimisers import (
    ADAMS,
    MEMORISE,
    by_optimiser,
    ends,
    turned,
    turned_by_optimiser,
)
from attnflow.schema.declarations import Exhibit
from attnflow.schema.installation import xr

DENSE = {
    "SignGD": runs.signgd("d"),
    **{name: runs.adam(beta1, 0.99, row="d") for name, beta1 in ADAMS.items()},
    "GD": runs.descent(0.1, row="d"),
}
LEFT = 0.02
"""The distance from 1/2 at which attention counts as having left it."""
STARTS = 600.0
"""The step at which attention leaves 1/2 under gradient descent in the paper."""
_DENSE = (
    "Setting (d), d = 2000: dense noise, not orthogonal to the signal. Adam with β2 = "
    "0.99, ε = 1e-15; gradient descent with learning rate 0.1. Seed 0 (SignGD: three "
    "seeds)."
)
_exhibit = partial(Exhibit, kind="figure", needs=DENSE, silent=runs.SILENT)

FIGURE7 = _exhibit(
    id="figure7",
    title="Figure 7: one neuron under SignGD, Adam and gradient descent",
    caption=(
        f"Key and query noise of neuron 0 over training. {_DENSE} Claimed: Adam "
        "behaves like SignGD except for outvoted queries, for every β1. Here a fifth "
        "to a third of these turn with this β2. "
        "Under gradient descent there is no outvoted noise: attention does not leave "
        "the signal."
    ),
    shows=panels.side_by_side(panels.neuron, DENSE),
    values=turned_by_optimiser,
    stated={
        "Appendix B.3": {
            "outvoted keys turn under SignGD and every Adam: all but 1%": lambda t: (
                turned(t, "key_neuron", MEMORISE) > 0.99
            ),
            "outvoted queries turn under SignGD, more than 95%, and under no Adam, "
            "less than a half": lambda t: [
                turned(t, "query_neuron", ["SignGD"]).min() > 0.95,
                turned(t, "query_neuron", ADAMS).max() < 0.5,
            ],
        },
        "Appendix B.7": {
            "β1 matters little: shares of outvoted queries that turn differ by less "
            "than 0.15": lambda t: np.ptp(turned(t, "query_neuron", ADAMS)) < 0.15
        },
    },
)


def leaving(run: xr.Dataset) -> Event:
    """When the median s11 or s21 first differs from 1/2 by 0.02."""
    gaps = [abs(paid - 0.5) for paid in statistics.median_attention(run).values()]
    most = xr.apply_ufunc(np.maximum, *gaps)
    return first_crossing(run, most, level=LEFT, name="attention leaves 1/2")


def attention_values(table: Tables) -> Values:
    """When attention leaves 1/2, and the median s11 and s21 at t = 600 and the end."""
    numbers = {}
    for optimiser, run in table.runs.items():
        paid = statistics.median_attention(run).items()
        then = {
            f"median {n} at t = {STARTS:g}": statistics.at_step(p, STARTS)
            for n, p in paid
        }
        last = {f"median {n} at the end": p.isel(time=-1) for n, p in paid}
        left = {"attention leaves 1/2 at": float(np.median(leaving(run).times))}
        numbers[optimiser] = left | statistics.over_seeds(then | last)
    return numbers


def _paid(
    table: Tables, name: str, optimisers: tuple[str, ...] = ("GD",)
) -> np.ndarray:
    """Median attention at t = 600 in some runs, over seeds and runs."""
    paid = (statistics.median_attention(table.runs[run])[name] for run in optimisers)
    return np.concatenate([statistics.at_step(rows, STARTS).values for rows in paid])


FIGURE8 = _exhibit(
    id="figure8",
    title="Figure 8: attention under SignGD, Adam and gradient descent",
    caption=(
        f"Attention over training. {_DENSE} Medians over samples (bands: range). "
        "Claimed: attention has nearly converged under SignGD and Adam when it starts "
        "to leave 1/2 under gradient descent, at about t = 600 (here: when the median "
        "differs from 1/2 by 0.02). This is reproduced; under gradient descent "
        "attention moves to the signal. " + runs.ATTENTION
    ),
    shows=panels.side_by_side(panels.attention, DENSE),
    values=attention_values,
    stated={
        "Appendix B.3": {
            f"at t = {STARTS:g} attention under SignGD and Adam has nearly left the "
            "signal: s21 < 0.001, s11 < 0.1": lambda t: [
                _paid(t, "s21", MEMORISE).max() < 1e-3,
                _paid(t, "s11", MEMORISE).max() < 0.1,
            ],
            f"at t = {STARTS:g} attention under gradient descent is within 0.05 of "
            "1/2": (
                lambda t: [
                    abs(np.median(_paid(t, name)) - 0.5) < 0.05
                    for name in ("s11", "s21")
                ]
            ),
        }
    },
    checks={
        "attention goes to the signal under gradient descent: s11 and s21 end above "
        "0.5": lambda t: [
            np.median(paid.isel(time=-1)) > 0.52
            for paid in statistics.median_attention(t.runs["GD"]).values()
        ]
    },
    printed={"GD": {"attention leaves 1/2 at": 600}},
    tolerance=0.25,
)


def _in_order(table: Tables) -> list[bool]:
    """Whether SignGD ends below every Adam, and these below gradient descent."""
    end = table["Training loss"].ends
    adams = np.concatenate([end[name].values for name in ADAMS])
    return [end["SignGD"].max() < adams.min(), adams.max() < end["GD"].min()]


FIGURE9 = _exhibit(
    id="figure9",
    title="Figure 9: training and test loss of SignGD, Adam and gradient descent",
    caption=(
        f"Losses over training. {_DENSE} Claimed: SignGD and Adam train faster, "
        "gradient descent has a small gap between training and test loss. Both are "
        "reproduced. With β2 = 0.99 Adam's loss falls exponentially too."
    ),
    shows=Panels(
        (
            by_optimiser("Training loss", "loss", DENSE, y="loss"),
            by_optimiser("Test loss", "test_loss", DENSE, y="test loss"),
        ),
        size=(12.4, 4.6),
    ),
    values=ends,
    stated={
        "Appendix B.3": {
            "gradient descent has a small generalisation gap: its test loss exceeds "
            "its training loss by less than 0.05": lambda t: (
                t["Test loss"].ends["GD"] - t["Training loss"].ends["GD"] < 0.05
            )
        }
    },
    checks={
        "SignGD trains fastest, then Adam, then gradient descent": _in_order,
        "SignGD and Adam do not generalise: their test losses stay above 0.5": (
            lambda t: [(t["Test loss"].ends[n] > 0.5).all() for n in MEMORISE]
        ),
    },
)
