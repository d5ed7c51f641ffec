"""Figure 2c: test loss on noisy digits over N and SNR, by patch size."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import ENDS_ALONE
from attnflow.papers.vit.claims.measures import log
from attnflow.papers.vit.digit_runs import (
    BY_PATCH,
    CELLS,
    LAW,
    MAIN,
    NEEDS,
    cells_table,
    level_power,
    powers,
)
from attnflow.schema.installation import xr

HARMFUL, BENIGN = 0.5, 0.2
"""Test errors of harmful (at least) and benign (at most) cells; guessing has 0.9."""
NEAR = 0.5
"""Tolerance on the exponent of the SNR in the control parameter."""
LARGE, SMALL = 3.0, 1.5
"""Factors of the test loss over a tenfold SNR that count as a transition or as none."""


# With 49 patches N = 8400 is shown in Figure 2c, and not judged.
JUDGED = {p: tuple(cells)[: 2 if p == 4 else None] for p, cells in BY_PATCH.items()}


def _losses(*runs: xr.Dataset) -> xr.DataArray:
    return cells_table(runs, "test_loss")


def _ends(*runs: xr.Dataset, along: str) -> xr.DataArray:
    """Log test losses at both ends of an axis, at every value of the other."""
    return log(_losses(*runs)).isel({along: [0, -1]})


def _error(*runs: xr.Dataset, corner: int) -> xr.DataArray:
    """Test error in a corner: fewest samples at the least SNR (0), or most (−1)."""
    accuracy = cells_table(runs, "test_accuracy")
    return 1 - accuracy.isel(samples=corner, snr=corner)


def _fall(*runs: xr.Dataset) -> xr.DataArray:
    """Log of the test loss at the smallest SNR over that at the largest, by N."""
    ends = _ends(*runs, along="snr")
    return ends.isel(snr=0) - ends.isel(snr=-1)


def _fits(evidence: c.Evidence) -> dict[str, list[float]]:
    names = "b, by seed", "c, by seed"
    rows = powers(_losses(*evidence.values()))
    return {n: row.round(3).tolist() for n, row in zip(names, rows, strict=True)}


TRANSITION = c.All(
    (
        c.Falling(
            "test loss", partial(_ends, along="samples"), "samples", together=True
        ),
        c.Falling(
            "test loss, by SNR", partial(_ends, along="snr"), "snr", together=True
        ),
        c.AtLeast(
            "test error with the fewest samples at the least SNR",
            partial(_error, corner=0),
            HARMFUL,
            unit="difference",
            together=True,
        ),
        c.AtMost(
            "test error with the most samples at the largest SNR",
            partial(_error, corner=-1),
            BENIGN,
            unit="difference",
            together=True,
        ),
    )
)
LEVEL = c.All(
    (
        c.Near(
            "c/b of the least-squares law N^b SNR^c",
            lambda *runs: level_power(_losses(*runs)),
            LAW,
            NEAR,
            unit="difference",
            together=True,
        ),
    ),
    also={"law": _fits},
)
_FALL = "log fall of the test loss"
PATCHES = c.All(
    (
        c.AtLeast(
            f"{_FALL}, patches of {MAIN}",
            _fall,
            float(np.log(LARGE)),
            unit="difference",
            of=JUDGED[MAIN],
            together=True,
        ),
        *(
            c.Near(
                f"{_FALL}, patches of {patch}",
                _fall,
                0.0,
                float(np.log(SMALL)),
                unit="difference",
                of=cells,
                together=True,
            )
            for patch, cells in JUDGED.items()
            if patch != MAIN
        ),
    )
)


def _by_control(run: xr.Dataset) -> xr.Dataset:
    """The run with a test loss of 1/(N · SNR²)."""
    setting = schema.setting_of(run)
    losses = 0 * run["test_loss_at_end"] + 1 / (
        setting["samples"] * setting["snr"] ** 2
    )
    return run.assign(test_loss_at_end=losses)


_SOURCE = (
    "our runs, seeds 200 and 201. Seen before the predicates were fixed: on seed 0 "
    "the corners of the map with patches of 14 (test losses 5.8, 1.2, 3.4, 0.66), "
    "some cells with patches of 7 and two with patches of 4, from which 14 and the "
    "training loss were chosen; on seeds 200 and 201 a quick map of few samples"
)
_claim = partial(
    c.Claim,
    system="a vision transformer of two layers with four heads on noisy digits, Adam "
    "on batches of 64",
    place="Section 6; Figure 2c",
    kind=c.Kind.OBSERVATION,
    under=(),
    expected=c.Verdict.HOLDS,
    source=_SOURCE,
    settings="N = 3000 to 8400, SNR = 0.2 to 2, border 4, two layers, four heads, a "
    "ReLU layer. Unspecified in the paper: patches (14 × 14 unless stated), width "
    "(32), hidden neurons (64), optimiser (Adam, 0.003) and the training loss at which "
    "it stops (0.05)",
)

CLAIMS = (
    _claim(
        id="D-Fig2c",
        statement="On noisy digits the test loss falls with N and with the SNR, from "
        "harmful to benign overfitting.",
        needs=CELLS,
        judge=TRANSITION,
        predicate=(
            "from one end of an axis to the other, at every value of the other axis; "
            "guessing has an error of 0.9"
        ),
        survives=ENDS_ALONE,
    ),
    _claim(
        id="D-Fig2c-law",
        origin="ours",
        statement=(
            "On noisy digits the test loss is constant along lines of constant "
            "N·SNR², as the theory's condition suggests."
        ),
        needs=CELLS,
        judge=LEVEL,
        expected=c.Verdict.FAILS,
        source=f"{_SOURCE}. Between those corners c/b was 1.25; it is within 0.5 of "
        "that in one of the two seeds",
        no_witness=(
            "it would take hours to train vision transformers on MNIST in an "
            "independent script"
        ),
        mends=c.named(mutate.on_run("N·SNR² alone matters", mutate.EVERY, _by_control)),
    ),
    _claim(
        id="D-Fig2c-patch",
        origin="ours",
        statement=(
            "Whether the SNR matters depends on the patches: if each contains noise "
            "and digit, a tenfold SNR lowers the test loss by a factor of 3 or more; "
            "with patches of 7 × 7 or 4 × 4 it changes the test loss by a factor of "
            "at most 1.5."
        ),
        needs={name: NEEDS[name] for cells in JUDGED.values() for name in cells},
        judge=PATCHES,
        predicate="between SNR 0.2 and 2, at N = 3000 and 8400 (with 4 × 4 at 3000 "
        "alone)",
        survives=ENDS_ALONE,
    ),
)
