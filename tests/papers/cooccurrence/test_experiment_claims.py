"""Claims at the paper's sizes on synthetic runs, and helpers of the reductions."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import Verdict, judge
from attnflow.papers.cooccurrence.claims.experiment import CLAIMS
from attnflow.papers.cooccurrence.systems.conformance import one_ulp
from attnflow.papers.cooccurrence.systems.conservation import spectrum_drift

TIME = np.arange(0.0, 1100.0, 100.0)


def claim(id):
    return next(claim for claim in CLAIMS if claim.id == id)


def by_hand(**series):
    """A run of two seeds that are alike, from series by time."""
    seeds = np.ones((2, 1))
    body = {"recorded": (("seed", "time"), np.ones((2, len(TIME)), bool))}
    for name, values in series.items():
        body[name] = (("seed", "time"), seeds * values)
    coords = {"seed": [0, 1], "time": TIME}
    setting = json.dumps(
        {"samples": 60, "width": 128, "steps": TIME[-1], "learning_rate": 0.01}
    )
    return xr.Dataset(body, coords, {"setting": setting})


def losses(one_target, right_from=500.0):
    """Losses by type, every sample right from a time on."""
    falling = 0.7 * np.exp(-TIME / 300)
    groups = [falling, one_target, one_target, falling]
    run = by_hand(loss=np.mean(groups, axis=0))
    dims = ("seed", "time", "group")
    stacked = np.stack([np.stack(groups, axis=-1)] * 2)
    margin = np.stack([(TIME - right_from)[:, None]] * 2)
    return run.assign(
        loss_by_group=(dims, stacked), margin=(("seed", "time", "sample"), margin)
    ).assign_coords(group=["both", "first", "second", "neither"])


RISING = 0.7 * (1 + 0.1 * np.sin(TIME / 100)) * np.exp(-np.maximum(TIME - 150, 0) / 200)


@pytest.mark.parametrize("id", ["A-Fig1b", "A-bump-fig1"])
def test_losses_that_rise_first(id):
    assert judge(claim(id), {"run": losses(RISING)}).decision.verdict is Verdict.HOLDS
    flat = losses(0.7 * np.exp(-TIME / 300))
    assert judge(claim(id), {"run": flat}).decision.verdict is not Verdict.HOLDS


def test_a_rise_after_phase_one_is_another():
    """Right from the start: no record of phase 1 has a higher loss."""
    run = losses(RISING, right_from=-1.0)
    assert judge(claim("A-Fig1b"), {"run": run}).decision.held == 0


def test_a_run_that_is_never_right_has_no_second_phase():
    run = losses(RISING, right_from=2000.0)
    assert judge(claim("A-Fig1b"), {"run": run}).decision.held == 0


@pytest.mark.parametrize(
    ("train", "test", "verdict"),
    [
        (0.002, 0.05, Verdict.HOLDS),
        (0.002, 0.004, Verdict.FAILS),
        (0.05, 0.05, Verdict.FAILS),
    ],
)
def test_a_small_test_loss_would_be_seen(train, test, verdict):
    """That the test loss stays large at the paper's sizes is no matter of course."""
    ends = {"loss": train, "test_loss": test, "test_accuracy": 0.99}
    run = by_hand().assign(
        {f"{n}_at_end": (("seed", "stage"), [[v], [v]]) for n, v in ends.items()}
    )
    row = judge(claim("A-Thm3.3-test-fig1"), {"run": run})
    assert row.decision.verdict is verdict


def boosted(size, angle):
    """A Gram matrix moved by a map that keeps K = diag(1, …, 1, −1)."""
    draw = np.random.default_rng(0)
    factor = draw.normal(size=(2 * size, size + 1))
    move = np.eye(size + 1)
    move[0, 0] = move[-1, -1] = np.cosh(angle)
    move[0, -1] = move[-1, 0] = np.sinh(angle)
    return factor.T @ factor, move.T @ factor.T @ factor @ move


def test_spectrum_drift():
    gram = np.stack(boosted(6, 0.7))
    drift = spectrum_drift(gram, 6)
    assert drift[0] == 0.0
    assert drift[1] <= 1e-13
    assert spectrum_drift(gram, 7)[1] > 0.1
    # The eigenvalues of K P are of one order with P: an error of P shows as itself.
    wrong = spectrum_drift(gram * np.array([1.0, 1 + 1e-6])[:, None, None], 6)
    assert 1e-7 < wrong[1] < 1e-5


def test_one_ulp():
    weights = {"W": np.random.default_rng(1).normal(size=(30, 20))}
    neighbours = one_ulp(weights, 0)["W"]
    ulps = (neighbours - weights["W"]) / np.spacing(np.abs(weights["W"]))
    assert np.isin(np.abs(ulps), [0.5, 1.0]).all()
    assert 0.3 < (ulps > 0).mean() < 0.7
