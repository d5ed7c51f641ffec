"""Statistics of noise-free runs, where the answers are known."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.cooccurrence.claims import quiet

TOKENS = ["mu1", "mu2", "mu3", *(f"{kind}:0.0" for kind in quiet.KINDS)]
VALUES = np.array([2.0, 1.5, -2.5, 0.3, -0.4, -0.5, 0.1])
LENGTH, SAMPLES, UNSEEN = 5, 12.0, 20.0


@pytest.fixture
def run():
    """Two records without noise; nothing moves between them."""
    setting = {"samples": SAMPLES, "length": LENGTH, "unseen": UNSEEN}
    both = np.stack([VALUES, VALUES])[None, :, None]
    return xr.Dataset(
        {
            "value": (("seed", "time", "head", "token"), both),
            "readout_gain": (("seed", "time", "head"), np.full((1, 2, 1), 4.0)),
        },
        {"seed": [0], "time": [0.0, 5.0], "token": TOKENS, "head": ["0"]},
        {"setting": json.dumps(setting)},
    )


def drawn_loss(draws, generator):
    """The test loss by drawing fresh samples, and its standard error."""
    free = quiet.slots(LENGTH)
    fillers = np.append(VALUES[3:], 0.0)
    odds = np.append(SAMPLES * quiet.SHARES * free, UNSEEN)
    kinds = generator.choice(4, draws, p=quiet.SHARES)
    slots = generator.choice(5, (draws, LENGTH), p=odds / odds.sum())
    used = np.arange(LENGTH) < free[kinds][:, None]
    output = quiet.HELD[kinds] @ VALUES[:3] + (fillers[slots] * used).sum(axis=1)
    losses = np.logaddexp(0, -quiet.LABELS[kinds] * output)
    return losses.mean(), losses.std() / draws**0.5


def test_the_expected_test_loss_is_that_of_drawn_samples(run):
    mean, error = drawn_loss(200_000, np.random.default_rng(0))
    expected = quiet.test_loss(run)
    # Equal seeds; a product of matrices need not sum their rows in the same order.
    assert expected[0] == pytest.approx(expected[1], rel=1e-14)
    assert abs(expected[0] - mean) < 5 * error


def test_without_fillers_values_the_test_loss_is_that_of_named_tokens(run):
    named = run.assign(value=run["value"] * (np.arange(7) < 3))
    output = quiet.HELD @ VALUES[:3]
    expected = quiet.SHARES @ np.logaddexp(0, -quiet.LABELS * output)
    assert quiet.test_loss(named)[0] == pytest.approx(expected, rel=1e-14)


def test_outputs_are_sums_of_readouts(run):
    outputs = quiet.outputs(quiet.quiet_rows(run)["value"], LENGTH)[0]
    expected = [1.0 + 2 * 0.3, -0.5 - 3 * 0.4, -1.0 - 3 * 0.5, -2.5 + 4 * 0.1]
    assert outputs == pytest.approx(expected, rel=1e-14)


def test_a_training_loss_that_is_never_reached_has_no_test_loss():
    train, test = np.array([1.0, 0.1, 0.01]), np.array([1.0, 0.2, 0.04])
    at = quiet.at_losses(train, test, (0.1, 0.1**1.5, 0.001))
    assert at[:2] == pytest.approx([0.2, (0.2 * 0.04) ** 0.5])
    assert np.isnan(at[2])
    assert np.isnan(quiet.at_losses(train * [1, np.nan, 1], test, (0.1,))).all()
