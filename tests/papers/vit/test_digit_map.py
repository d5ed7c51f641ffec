"""Figure 2c and its claims, on losses that follow a power law."""

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import Verdict
from attnflow.papers.vit import PAPER
from attnflow.papers.vit.digit_runs import (
    MAIN,
    NEEDS,
    gains,
    level_power,
    powers,
    table,
    trained,
)
from attnflow.testing import all_sentences, check_claim

IDS = ("D-Fig2c", "D-Fig2c-law", "D-Fig2c-patch")
FALLS = {14: -0.7, 7: -0.05, 4: 0.03}
"""Exponents of SNR in the test loss, by the size of patches."""


def cell(samples, snr, patch, seeds, *, fall=None, rise=-0.55):
    """A run that ended at `5.8 (N/3000)^b (SNR/0.2)^c`, other seeds a little above."""
    fall = FALLS[patch] if fall is None else fall
    first = 5.8 * (samples / 3000) ** rise * (snr / 0.2) ** fall
    tested = first * (1 + 0.02 * np.arange(len(seeds)))
    ends = {
        "loss": 0 * tested + 0.04,
        "test_loss": tested,
        "test_accuracy": 1 - np.clip(tested / 8, 0, 1),
    }
    dims = ("seed", "stage")
    return xr.Dataset(
        {
            **{f"{name}_at_end": (dims, row[:, None]) for name, row in ends.items()},
            "outcome": ("seed", np.full(len(seeds), "event", object)),
            "end_time": ("seed", 0 * tested + samples / 10),
        },
        {"seed": list(seeds), "stage": ["training"]},
        {
            "setting": json.dumps(
                {
                    "samples": samples,
                    "snr": snr,
                    "patch": patch,
                    "batch": 64,
                }
            )
        },
    )


def runs_by_law(**law):
    return {
        name: cell(**request.overrides, seeds=request.seeds, **law)
        for name, request in NEEDS.items()
    }


@pytest.fixture(scope="module")
def evidence():
    return runs_by_law()


def evidence_of(claim, evidence):
    return {name: evidence[name] for name in claim.needs}


@pytest.mark.parametrize("id", IDS)
def test_claims_on_losses_near_those_that_were_measured(evidence, id):
    claim = PAPER.claim(id)
    check_claim(claim, evidence_of(claim, evidence))


def test_the_theorys_law_would_be_seen():
    claim = PAPER.claim("D-Fig2c-law")
    lawful = evidence_of(claim, runs_by_law(fall=-1.1))
    check_claim(replace(claim, expected=Verdict.HOLDS), lawful)


def test_the_law_of_known_losses(evidence):
    with_count, with_ratio = powers(table(evidence, "test_loss"))
    assert with_count == pytest.approx([-0.55, -0.55])
    assert with_ratio == pytest.approx([-0.7, -0.7])
    assert gains(evidence, MAIN) == pytest.approx(np.full((2, 2), 10**0.7))
    assert gains(evidence, 4) == pytest.approx(np.full((2, 1), 10**-0.03))
    assert table(evidence, "end_time").values[:, 0, 0].tolist() == [300, 480, 660, 840]


def test_a_law_that_does_not_fall_with_n_has_no_power():
    assert np.isnan(level_power(table(runs_by_law(rise=0.1), "test_loss"))).all()
    figure = PAPER.exhibit("figure2c").display(runs_by_law(rise=0.1)).draw()
    assert len(figure.axes[3].lines) == 1


def test_the_figure(evidence):
    exhibit = PAPER.exhibit("figure2c")
    assert all(all_sentences(exhibit, evidence).values())
    display = exhibit.display(evidence)
    figure = display.draw()
    shown = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(shown) == 4
    values = display.values()
    assert values["test loss ∝ N^b SNR^c"]["c/b"] == pytest.approx(0.7 / 0.55)
    falls = values["fall of the test loss over SNR"]["patches of 14"]
    assert falls == pytest.approx({"N = 3000": 10**0.7, "N = 8400": 10**0.7})
    cell_values = values["cells"]["patches of 14, N = 3000, SNR = 0.2"]
    assert cell_values["epochs"] == pytest.approx(300 * 64 / 3000)


def test_a_cell_that_missed_its_target_is_reported_and_marked(evidence):
    name = "patches of 14, N = 8400, SNR = 0.2"
    run = evidence[name]
    missed = ("seed", np.full(2, "event-not-reached", object))
    late = {**evidence, name: run.assign(outcome=missed)}
    exhibit = PAPER.exhibit("figure2c")
    assert int((~trained(late)).sum()) == 2
    display = exhibit.display(late)
    assert not display.checks()["every cell has reached the stated training loss"]
    texts = [text.get_text() for text in display.draw().axes[0].texts]
    assert sum(text.startswith("(") for text in texts) == 1
