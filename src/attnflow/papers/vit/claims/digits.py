"""Figure 2c: test loss on noisy digits over N and SNR, by patch size."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named, per_seed
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.digit_runs import (
    CELLS,
    ENDS,
    LAW,
    MAIN,
    NEEDS,
    RATIOS,
    SAMPLES,
    gains,
    level_power,
    name_of,
    powers,
    table,
)

HARMFUL, BENIGN = 0.5, 0.2
"""Test errors of harmful (at least) and benign (at most) cells; guessing has 0.9."""
NEAR = 0.5
"""Tolerance on the exponent of the SNR in the control parameter."""
LARGE, SMALL = 3.0, 1.5
"""Factors of the test loss over a tenfold SNR that count as a transition or as none."""


def _judge_transition(evidence: Evidence) -> Finding:
    logs = np.log(table(evidence, "test_loss").values)
    error = 1 - table(evidence, "test_accuracy").values
    return Finding(
        (
            per_seed(
                (logs[0] - logs[-1]).min(axis=0),
                "from the fewest samples to the most the test loss falls, at every SNR",
                strict=True,
            ),
            per_seed(
                (logs[:, 0] - logs[:, -1]).min(axis=0),
                "from the least SNR to the largest it falls, with every N",
                strict=True,
            ),
            per_seed(error[0, 0] - HARMFUL, "in the one corner half of tests fail"),
            per_seed(BENIGN - error[-1, -1], "in the other one fifth or less"),
        ),
        {
            f"mean test loss, N = {count}, SNR = {RATIOS[0]:g} … {RATIOS[-1]:g}": row
            for count, row in zip(
                SAMPLES, np.exp(logs).mean(axis=-1).round(3).tolist(), strict=True
            )
        },
    )


def _judge_law(evidence: Evidence) -> Finding:
    losses = table(evidence, "test_loss")
    with_count, with_ratio = powers(losses)
    margin = 1 - np.abs(level_power(losses) - LAW) / NEAR
    return Finding(
        (per_seed(margin, f"c/b is {LAW:g} to {NEAR:g}"),),
        {
            "b, by seed": with_count.round(3).tolist(),
            "c, by seed": with_ratio.round(3).tolist(),
        },
    )


def _judge_patches(evidence: Evidence) -> Finding:
    falls = {patch: np.log(gains(evidence, patch)) for patch in ENDS}
    checks = [
        per_seed(
            falls[MAIN].min(axis=0) - np.log(LARGE),
            f"patches of {MAIN}: the test loss falls {LARGE:g} times or more",
        )
    ]
    checks += [
        per_seed(
            np.log(SMALL) - np.abs(fall).max(axis=0),
            f"patches of {patch}: it changes by a factor of {SMALL:g} at most",
        )
        for patch, fall in falls.items()
        if patch != MAIN
    ]
    return Finding(
        tuple(checks),
        {
            f"fall, patches of {patch}, by N": gains(evidence, patch)
            .mean(axis=-1)
            .round(3)
            .tolist()
            for patch in ENDS
        },
    )


def _only(run: xr.Dataset, key: str) -> xr.Dataset:
    """The run with a test loss that depends on one of its settings only."""
    losses = 0 * run["test_loss_at_end"] + 1 / schema.setting_of(run)[key]
    return run.assign(test_loss_at_end=losses)


def _cell(patch: int, *, samples: int, snr: int) -> str:
    return name_of(patch, SAMPLES[samples], RATIOS[snr])


_SOURCE = (
    "our runs, seeds 200 and 201. Known before predicates were fixed: on seed 0 the "
    "corners of the map with patches of 14 (test losses 5.8, 1.2, 3.4, 0.66), some "
    "cells with 7 and two with 4, from which 14 and the training loss were chosen; on "
    "seeds 200 and 201 a quick map of few samples"
)
_claim = partial(
    Claim,
    system="a vision transformer of two layers with four heads on noisy digits, Adam "
    "on batches of 64",
    place="Section 6; Figure 2c",
    scope=Scope.EXPERIMENT,
    source=_SOURCE,
    conditions="N = 3000 to 8400, SNR = 0.2 to 2, border 4, two layers, four heads, a "
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
        judge=_judge_transition,
        predicate="from one end of either axis to the other the test loss falls, at "
        "every value of the other axis; the test error is above 0.5 with the fewest "
        "samples at the least SNR and below 0.2 with the most at the largest; in 90% "
        "of seeds",
        expected=Verdict.HOLDS,
        mutations=named(
            mutate.scale(_cell(MAIN, samples=-1, snr=1), "test_loss_at_end", 10.0),
            mutate.scale(_cell(MAIN, samples=1, snr=-1), "test_loss_at_end", 10.0),
            mutate.scale(_cell(MAIN, samples=0, snr=0), "test_accuracy_at_end", 3.0),
            mutate.scale(_cell(MAIN, samples=-1, snr=-1), "test_accuracy_at_end", 0.5),
        ),
    ),
    _claim(
        id="D-Fig2c-law",
        origin="ours",
        statement="On noisy digits the test loss is level along lines of constant "
        "N·SNR², as the theory's condition is.",
        needs=CELLS,
        judge=_judge_law,
        predicate="with the least-squares law N^b SNR^c of the map's test losses, c/b "
        "is within 0.5 of 2 in 90% of seeds",
        expected=Verdict.INCONCLUSIVE,
        source=f"{_SOURCE}. Between those corners c/b was 1.25; within 0.5 of that "
        "it is in one of the two seeds",
        mutations=named(
            mutate.on_run(
                "N alone matters", mutate.EVERY, partial(_only, key="samples")
            ),
            mutate.on_run("SNR alone matters", mutate.EVERY, partial(_only, key="snr")),
        ),
    ),
    _claim(
        id="D-Fig2c-patch",
        origin="ours",
        statement="Whether the SNR matters hangs on the patches: where each holds "
        "noise and digit, a tenfold SNR lowers the test loss three times or more; with "
        "patches of 7 × 7 or 4 × 4 it changes it by a factor of 1.5 at most.",
        needs={name: NEEDS[name] for cells in ENDS.values() for name in cells},
        judge=_judge_patches,
        predicate="between SNR 0.2 and 2, at N = 3000 and 8400 (with 4 × 4 at 3000 "
        "alone), in 90% of seeds",
        expected=Verdict.HOLDS,
        mutations=named(
            mutate.scale(_cell(MAIN, samples=0, snr=-1), "test_loss_at_end", 10.0),
            mutate.scale(_cell(7, samples=-1, snr=0), "test_loss_at_end", 3.0),
            mutate.scale(_cell(4, samples=0, snr=0), "test_loss_at_end", 0.3),
        ),
    ),
)
