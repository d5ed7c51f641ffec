"""Statistics of Phase 2 and of noise-free runs, where the answers are known."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.papers.cooccurrence.claims import courses, quiet

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


@pytest.fixture
def wide():
    """Runs of two widths and seeds; b0·t is 10, 30, 90, and one record is missing."""
    return {f"m={m}": _wide(m) for m in (16, 4)}


def _wide(width):
    setting = {
        "width": width,
        "samples": 6,
        "length": 5,
        "neurons": 2,
        "c0": 1,
        "c1": 1,
    }
    loss = np.array([[0.7, 0.5, 0.25, 0.125], [0.7, 0.5, 0.25, np.nan]]) / width
    gain = np.full((2, 4, 1), 2.0)
    return xr.Dataset(
        {
            "loss": (("seed", "time"), loss),
            "recorded": (("seed", "time"), np.isfinite(loss)),
            "readout_gain": (("seed", "time", "head"), gain),
        },
        {"seed": [0, 1], "time": [0.0, 5.0, 15.0, 45.0], "head": ["0"]},
        {"setting": json.dumps(setting)},
    )


def test_courses_are_phase_two_of_each_seed(wide):
    first, second = courses.courses(wide["m=4"])
    assert first["clock"].tolist() == [30.0, 90.0]
    assert second["clock"].tolist() == [30.0]
    assert float(first.start["loss"]) == 0.7 / 4
    assert first.key_norm == 1 / 5 and first.gain == 4


def test_ladders_take_the_worst_of_each_seed_and_sort_widths(wide):
    def loss(course):
        return course["loss"]

    ladder = courses.ladder(wide, loss, "loss", kind="O", pick=np.min)
    assert ladder.size == (4, 4, 16, 16)
    assert ladder.ratio == (0.125 / 4, 0.25 / 4, 0.125 / 16, 0.25 / 16)
    assert ladder.seeds == 2
    assert courses.worst(wide, loss, np.max) == {4: 0.25 / 4, 16: 0.25 / 16}
    by_seed = courses.everywhere(wide, lambda c: c["loss"] - 0.01, "loss")
    assert by_seed.held == (False, True)
