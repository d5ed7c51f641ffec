"""Mini-batches: what is drawn, and forms that see the same."""

import jax
import numpy as np
import pytest

from attnflow.experiments import SystemExperiment, run
from attnflow.models.forms import Initial
from attnflow.models.forms.scores import Transport
from attnflow.training import Stage
from attnflow.training.rules import Batches, Flow, GradientDescent, Momentum
from tests.core import (
    allowed,
    experiment,
    given_weights,
    largest_difference,
    mostly_slow,
    mutated,
)

BATCHES = {
    "drawn": Batches(3),
    "epochs": Batches(3, "epochs", flip=0.3),
}


def plan(batches, rule=None, **changes):
    stages = (
        Stage(rule or Momentum(0.05, 0.8), 60, name="1", batches=batches),
        Stage(rule or Momentum(0.05, 0.8), 120, ("scores",), "conflicting", name="2"),
    )
    return {"stages": stages, "until": 120, **changes}


@pytest.mark.parametrize("kind", mostly_slow(sorted(BATCHES), "epochs"))
def test_transport_equals_plain_weights(kind):
    weights = given_weights()
    changes = plan(BATCHES[kind])
    plain, tolerance = allowed(weights, **changes)
    ours = run(experiment(form="transport", **changes), weights=weights)
    assert (largest_difference(plain, ours) <= tolerance).all()
    whole = run(experiment(form="transport", **plan(None)), weights=weights)
    assert largest_difference(plain, whole).max() > 1e-3


def _short(self, state, force):
    velocity = Transport.velocity(self, state, force)
    return velocity.at[..., -1, :].set(0.0)


@pytest.mark.slow
def test_a_mutated_form_is_caught():
    weights, changes = given_weights(), plan(BATCHES["drawn"])
    plain, tolerance = allowed(weights, **changes)
    with mutated(Transport, "direction", _short):
        ours = run(experiment(form="transport", **changes), weights=weights)
    assert not (largest_difference(plain, ours) <= tolerance).all()


@pytest.mark.usefixtures("precise")
def test_drawn_batches_have_the_samples_probabilities():
    batches, law = Batches(5), jax.numpy.array([0.5, 0.3, 0.2, 0.0])
    draw = jax.vmap(lambda t: batches.shares(law, t, key=jax.random.key(0)))
    shares = np.asarray(draw(jax.numpy.arange(4000)))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-15)
    assert not shares[:, 3].any()
    # A share is a mean of 5 draws: five sigma over 4000 steps.
    sigma = np.sqrt(np.asarray(law) * (1 - np.asarray(law)) / 5 / 4000)
    assert (np.abs(shares.mean(axis=0) - np.asarray(law)) <= 5 * sigma).all()


@pytest.mark.usefixtures("precise")
def test_an_epoch_sees_every_sample_once():
    batches = Batches(2, "epochs")
    law = jax.numpy.array([0.2, 0.2, 0.0, 0.2, 0.2, 0.2])
    draw = jax.vmap(lambda t: batches.shares(law, t, key=jax.random.key(1)))
    shares = np.asarray(draw(jax.numpy.arange(40)))
    assert (np.sort(shares, axis=1)[:, -2:] == 0.5).all()
    assert not shares[:, 2].any()
    # Five samples make two batches of two, and another one waits in each epoch.
    seen = (shares > 0).reshape(20, 2, 6).sum(axis=1)
    assert (seen.max(axis=1) == 1).all()
    assert (seen.sum(axis=0)[[0, 1, 3, 4, 5]] > 8).all()


@pytest.mark.usefixtures("precise")
def test_labels_flip_afresh():
    signs = np.stack(
        [
            np.asarray(Batches(1, flip=0.25).signs(1000, t, key=jax.random.key(2)))
            for t in range(2)
        ]
    )
    assert set(np.unique(signs)) == {-1.0, 1.0}
    rate = (signs < 0).mean()
    assert abs(rate - 0.25) <= 5 * np.sqrt(0.25 * 0.75 / 2000)
    assert (signs[0] != signs[1]).any()
    assert Batches(1).signs(10, 0, key=jax.random.key(2)) is None


@pytest.mark.slow
def test_seeds_draw_their_own_batches_unless_held_fixed():
    changes = plan(Batches(2), GradientDescent(0.1), initial=Initial(16, 0.3))
    fixed = {"weights": 0}
    apart = run(experiment(fixed=fixed, **changes), seeds=(0, 1))["score"]
    assert float(np.abs(apart[0] - apart[1]).max()) > 1e-6
    fixed = {"weights": 0, "batches": 0}
    alike = run(experiment(fixed=fixed, **changes), seeds=(0, 1))["score"]
    assert float(np.abs(alike[0] - alike[1]).max()) < 1e-14


def test_refusals():
    with pytest.raises(ValueError, match="sees all samples at once"):
        Stage(Flow(), 1.0, batches=Batches(2))
    with pytest.raises(ValueError, match="larger than the 8 samples"):
        run(experiment(**plan(Batches(9, "epochs"))))
    with pytest.raises(ValueError, match="draws its own samples"):
        stage = Stage(GradientDescent(0.1), 2, batches=Batches(2))
        parts = {"model": None, "grid": None, "observables": ()}
        SystemExperiment("none", "none", {}, stages=(stage,), **parts)
    for wrong in ({"size": 0}, {"size": 1, "order": "odd"}, {"size": 1, "flip": 2.0}):
        with pytest.raises(ValueError, match=r"use|has|lies"):
            Batches(**wrong)
