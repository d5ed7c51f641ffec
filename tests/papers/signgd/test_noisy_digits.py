"""Noisy digits: settings, a small run, and claims on synthetic losses."""

import numpy as np
import pytest
import xarray as xr

import attnflow as af
from attnflow.claims import Verdict, verify
from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.deep_settings import NoisyDigits
from attnflow.papers.signgd.digit_runs import MAP, SHARES, ends
from attnflow.runs.runner import Runner
from attnflow.testing import all_sentences, check_claim

DIMS = ("seed", "time")
TESTED = {
    "SignGD": (1.657, 0.855, 0.513, 0.437, 0.419, 0.375, 0.258, 0.374, 0.294),
    "Adam": (4.454, 1.84, 0.774, 0.64, 0.609, 0.591, 0.579, 0.491, 0.522),
    "GD": (3.055, 1.513, 0.765, 0.478, 0.402, 0.283, 0.286, 0.226, 0.265),
}
TRAINED = {
    "SignGD": (0.121, 0.054, 0.035, 0.014, 0.015, 0.017, 0.043, 0.04, 0.041),
    "Adam": (0.0054, 0.0013, *(0.0009,) * 2, *(0.0015,) * 5),
    "GD": (0.024, 0.005, 0.004, 0.014, 0.014, 0.029, 0.019, 0.058, 0.049),
}
"""As measured on seed 0."""


@pytest.fixture(scope="module")
def evidence():
    """Runs of two records that end with the losses above, by rule and λ."""
    runs = {}
    for name in MAP:
        rule, share = name.rsplit(" ", 1)
        index = SHARES.index(float(share))
        rows = {
            "loss": [0.7, TRAINED[rule][index]],
            "test_loss": [0.7, TESTED[rule][index]],
        }
        runs[name] = xr.Dataset(
            {
                **{
                    n: (("seed", "time"), np.tile(row, (3, 1)))
                    for n, row in rows.items()
                },
                "recorded": (("seed", "time"), np.ones((3, 2), bool)),
            },
            {"seed": [200, 201, 202], "time": [0.0, 200.0]},
        )
    return runs


@pytest.mark.parametrize("id", ["C-MNIST", "C-MNIST-train"])
def test_claims_on_losses_as_they_were_measured(evidence, id):
    check_claim(PAPER.claim(id), evidence)


def test_the_printed_statement_would_hold_on_other_losses(evidence):
    claim = PAPER.claim("C-MNIST")
    lower = {
        name: run.assign(test_loss=run["test_loss"] * (0.1 if name[0] == "G" else 1))
        for name, run in evidence.items()
    }
    assert verify(claim, PAPER, lambda needs: lower).verdict is Verdict.HOLDS


def test_without_the_data_a_claim_is_unchecked(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNFLOW_DATA", str(tmp_path))
    monkeypatch.setattr("attnflow.data.deep_samples._pool", _uncached())
    runner = Runner(store=False)
    row = verify(PAPER.claim("C-MNIST"), PAPER, lambda n: runner.gather(PAPER, n))
    assert row.verdict is Verdict.UNCHECKED
    assert "attnflow data fetch mnist" in row.note
    assert str(tmp_path / "mnist" / "train-images-idx3-ubyte.gz") in row.note


def _uncached():
    from attnflow.data import deep_samples

    return deep_samples._pool.__wrapped__


def test_the_figure(evidence):
    exhibit = PAPER.exhibit("figure2d")
    answers = all_sentences(exhibit, evidence)
    false = {text for text, answer in answers.items() if not answer}
    assert false == set(exhibit.differs)
    display = exhibit.display(evidence)
    assert len(display.draw().axes) == 2
    values = display.values()
    assert values["Adam"]["test loss, λ = 0.2"]["mean"] == pytest.approx(4.454)
    worse = {
        n: r.assign(loss=r["loss"] + 1 * (r.time > 0)) for n, r in evidence.items()
    }
    assert not exhibit.display(worse).checks()["every run has trained"]
    flat = {
        n: r.assign(test_loss=0 * r["test_loss"] + 0.5) for n, r in evidence.items()
    }
    assert sum(exhibit.display(flat).checks().values()) == 2


def test_losses_are_those_of_the_end(evidence):
    assert ends(evidence, "GD", "test_loss").shape == (9, 3)
    assert np.allclose(ends(evidence, "GD", "test_loss")[:, 1], TESTED["GD"])


@pytest.mark.parametrize(
    ("share", "rate"),
    [
        (0.2, 1.0),
        (0.4, 1.0),
        (0.5, 0.6),
        (0.6, 0.6),
        (0.7, 0.3),
        (0.8, 0.3),
        (0.9, 0.1),
    ],
)
def test_rates_of_appendix_b(share, rate):
    assert NoisyDigits(rule="gd", scaled_snr=share).rate == rate
    assert NoisyDigits(rule="adam", scaled_snr=share).rate == 0.01
    assert NoisyDigits(rule="adam", learning_rate=0.5).rate == 0.5


def test_steps_of_appendix_b():
    assert NoisyDigits(rule="gd").last_step == 500
    assert NoisyDigits().last_step == 200


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"digits": (1, 2, 3)}, "two classes"), ({"records": 0}, "once")],
)
def test_wrong_settings(wrong, words):
    with pytest.raises(ValueError, match=words):
        NoisyDigits(**wrong)


def test_a_small_run(data_at_hand):
    small = {"samples": 30, "test_samples": 20, "steps": 6, "records": 2}
    run = af.run("signgd/noisy-mnist", seeds=2, store=False, **small)
    assert run["time"].values.tolist() == [0, 3, 6]
    assert (run["loss"][:, -1] < run["loss"][:, 0]).all()
    assert run["attention_to_noise"].sizes == {"seed": 2, "time": 3, "layer": 1}
    # Twelve of sixteen patches are noise, and weights begin small.
    assert np.allclose(run["attention_to_noise"][:, 0], 0.75, atol=0.01)
    assert np.allclose(run["attention_entropy"][:, 0], np.log(16), atol=0.01)
