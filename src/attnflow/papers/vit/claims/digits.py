"""Figure 2c on noisy digits: whether there is a transition, in what, and for whom."""

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
"""Test errors above and below; a guess has 0.9."""
NEAR = 0.5
"""How near to the power of SNR in the theory's condition is near enough."""
LARGE, SMALL = 3.0, 1.5
"""Falls of the test loss over a tenfold SNR that count as a transition, and as none."""


def _judge_transition(evidence: Evidence) -> Finding:
    tested = np.log(table(evidence, "test_loss").values)
    error = 1 - table(evidence, "test_accuracy").values
    return Finding(
        (
            per_seed(
                (tested[0] - tested[-1]).min(axis=0),
                "from the fewest samples to the most the test loss falls, at every SNR",
                strict=True,
            ),
            per_seed(
                (tested[:, 0] - tested[:, -1]).min(axis=0),
                "from the least SNR to the largest it falls, with every N",
                strict=True,
            ),
            per_seed(error[0, 0] - HARMFUL, "in the one corner half of tests fail"),
            per_seed(BENIGN - error[-1, -1], "in the other one fifth or less"),
        ),
        {
            f"mean test loss, N = {count}, SNR = {RATIOS[0]:g} … {RATIOS[-1]:g}": row
            for count, row in zip(
                SAMPLES, np.exp(tested).mean(axis=-1).round(3).tolist(), strict=True
            )
        },
    )


def _judge_law(evidence: Evidence) -> Finding:
    tested = table(evidence, "test_loss")
    with_count, with_ratio = powers(tested)
    margin = 1 - np.abs(level_power(tested) - LAW) / NEAR
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
    """The run with a test loss that falls with one of its settings alone."""
    made = 0 * run["test_loss_at_end"] + 1 / schema.setting_of(run)[key]
    return run.assign(test_loss_at_end=made)


def _cell(patch: int, *, samples: int, snr: int) -> str:
    return name_of(patch, SAMPLES[samples], RATIOS[snr])


_SEEN_FIRST = (
    "our run on seeds 200 and 201. Seen before predicates were fixed, of seed 0: "
    "corners of the map with patches of 14 (test losses 5.8, 1.2, 3.4, 0.66), some "
    "cells with 7 and two with 4, by which 14 and the training loss were chosen; of "
    "seeds 200 and 201 a quick map of few samples"
)
_claim = partial(
    Claim,
    system="a vision transformer of two layers with four heads on noisy digits, Adam "
    "on batches of 64",
    place="Section 6; Figure 2c",
    scope=Scope.EXPERIMENT,
    source=_SEEN_FIRST,
    conditions="N = 3000 to 8400, SNR = 0.2 to 2, border 4, two layers, four heads, a "
    "ReLU layer. The paper is silent about patches (14 × 14 unless said), width (32), "
    "hidden neurons (64), optimiser (Adam, 0.003) and the training loss at which it "
    "stops (0.05)",
)
CLAIMS = (
    _claim(
        id="D-Fig2c",
        statement="On noisy digits the test loss falls with N and with the SNR, from "
        "harmful to benign overfitting.",
        needs=CELLS,
        judge=_judge_transition,
        predicate="between the ends of either axis the test loss falls, whatever the "
        "other is; the test error is above 0.5 with the fewest samples at the least "
        "SNR and below 0.2 with the most at the largest; in 90% of seeds",
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
        "is 2 to 0.5 in 90% of seeds",
        expected=Verdict.INCONCLUSIVE,
        source=f"{_SEEN_FIRST}. There c/b was 1.25 between corners; 1.25 to 0.5 holds "
        "in one of the two seeds",
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
