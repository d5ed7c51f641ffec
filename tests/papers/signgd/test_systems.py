"""Computations on single weights, in cases with known results."""

import importlib

import numpy as np
import pytest

from attnflow.papers.signgd.settings import Train
from attnflow.papers.signgd.systems import naive_signs, updates
from attnflow.papers.signgd.systems.weights_along import weights_along
from attnflow.training import precise

# The function of this name hides its module.
module = importlib.import_module("attnflow.papers.signgd.systems.naive_signs")
SMALL = {"row": "a", "embed": 200}


@pytest.fixture(scope="module")
def along():
    """A small run, at its start and after each of three steps."""
    with precise():
        return weights_along(Train(**SMALL), 0, (0, 1, 2, 3))


def test_weights_move_by_the_learning_rate(along):
    for name in ("W_K", "W_Q"):
        moves = np.abs(np.diff(along.states["scores"][name], axis=0))
        # A weight of about 0.01 is rounded at 1e-18; steps are 1e-4.
        np.testing.assert_allclose(moves, 1e-4, rtol=1e-12)


def test_autodiff_in_both_precisions_has_all_signs_early_on():
    setting = {**SMALL, "at_steps": (0, 1, 10)}
    with precise():
        shares = naive_signs(setting, [0, 1])
    assert dict(shares.sizes) == {"seed": 2, "step": 3, "precision": 3, "side": 2}
    assert float(shares["zero"].max()) == float(shares["wrong"].max()) == 0.0


def test_room_for_columns_that_no_token_covers_is_not_counted():
    setting = {**SMALL, "embed": 2000, "at_steps": (0,)}
    with precise():
        shares = naive_signs(setting, [0])
    assert float(shares["zero"].max()) == float(shares["wrong"].max()) == 0.0


def test_lost_signs_are_counted(along):
    """Scores of 10^3 in float32: a softmax of exactly 0 and 1 has no gradient."""
    states = {
        "scores": {n: 1e3 * w for n, w in along.states["scores"].items()},
        "values": along.states["values"],
    }
    with precise():
        late = along._replace(states=states)
        rows = module._at_step(late, 3, module._samples(late))
    float32, exact = rows[0], rows[2]
    assert float32[:, 1].min() > 0.2
    assert exact[:, 1].max() == 0.0
    naive, true = np.array([1.0, -1.0, 0.0, 0.0]), np.array([2, 3, -1, 0])
    assert module._shares(naive, true) == [0.25, 0.25]


def test_precision_is_that_which_is_asked_for():
    """A gradient of about 1e-41, below what float32 holds, is zero there alone."""
    weights = {name: np.full((1, 2, 1), 1e-10) for name in ("W_K", "W_Q")}
    weights["v"] = np.array([[1e-30, 0.0]])
    sample = np.eye(2)[None], np.ones(1)
    with precise():
        signs = {
            p: module.descent_signs(weights, *sample, p) for p in ("float32", "float64")
        }
    assert not signs["float32"]["W_K"].any()
    assert signs["float64"]["W_K"].all()


def test_adams_first_update_is_that_of_sign_descent():
    """m̂/√v̂ is a sign after one step, whatever the betas; later it is not."""
    setting = {**SMALL, "beta1": 0.5, "betas2": (0.9,), "epsilon": 0.0}
    with precise():
        sizes = updates({**setting, "steps": 4, "every": 2}, [0])
    first, later = sizes["mean_update"].values[0, 0]
    np.testing.assert_allclose(first, 1.0, rtol=1e-9)
    assert (np.abs(later - 1.0) > 1e-3).all()
