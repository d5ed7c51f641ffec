"""Forces are minus the gradient, and their logarithms survive underflow."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core import assert_same_to_rounding

import attnflow
from attnflow.data import sequences
from attnflow.models import problem as problems
from attnflow.models.problem import (
    Exponential,
    Linear,
    Logistic,
    Problem,
    ReluPair,
    Squared,
    attention,
)
from attnflow.models.tables import Pairs

pytestmark = pytest.mark.cpus

# As they are used: outside of a program, each operation would be one of its own.
forces = eqx.filter_jit(problems.forces)
scaled_forces = eqx.filter_jit(problems.scaled_forces)


@eqx.filter_jit
def gradient_of(problem, pairs, data):
    return jax.grad(problem.mean_loss)(pairs, data)


PARTS = [
    (Linear(1), Logistic()),
    (Linear(3), Squared()),
    (Linear(2), Exponential()),
    (ReluPair(0.5), Logistic()),
]


def example(seed, heads, scale=1.0):
    draw = np.random.default_rng(seed)
    samples, keys, queries = 5, 4, 3
    mass = draw.choice([0.0, 0.3, 1.0, 2.0], (samples, keys))
    mass[:, 0] = 1.0
    data = sequences(
        draw.standard_normal((6, 6)),
        draw.integers(0, 6, (samples, keys)),
        draw.choice([-1.0, 1.0], samples),
        mass=mass,
        query=draw.integers(0, 6, (samples, queries)),
        query_weight=draw.random((samples, queries)),
        probability=draw.dirichlet(np.ones(samples)),
    )
    pairs = Pairs(
        jnp.asarray(scale * draw.standard_normal((samples, heads, queries, keys))),
        jnp.asarray(scale * draw.standard_normal((samples, heads, keys))),
    )
    return pairs, data


@pytest.mark.parametrize(("readout", "loss"), PARTS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_forces_are_minus_the_gradient(readout, loss, seed):
    with attnflow.precise():
        problem = Problem(readout, loss, score_scale=0.7)
        pairs, data = example(seed, problem.heads)
        ours = forces(problem, pairs, data)
        theirs = gradient_of(problem, pairs, data)
        for force, gradient in zip(ours, theirs, strict=True):
            scale = float(jnp.abs(gradient).max()) + 1e-300
            assert float(jnp.abs(force + gradient).max()) <= 1e-13 * scale


@pytest.mark.parametrize(("readout", "loss"), PARTS)
def test_scaled_forces_are_the_forces(readout, loss, precise):
    problem = Problem(readout, loss)
    pairs, data = example(1, problem.heads)
    plain = forces(problem, pairs, data)
    for force, scaled in zip(plain, scaled_forces(problem, pairs, data), strict=True):
        # The plain form subtracts a mean of values from each: eps of the largest.
        scale = 1e-15 * float(jnp.abs(force).max())
        np.testing.assert_allclose(scaled.plain, force, rtol=1e-12, atol=scale)


def test_scaled_forces_do_not_underflow(precise):
    """At margins of a thousand the plain forces are zero; what is scaled is not."""
    problem = Problem(Linear(1), Logistic())
    pairs, data = example(2, 1)
    far = Pairs(pairs.scores, pairs.values + 2000.0 * data.label[:, None, None])
    assert float(jnp.abs(forces(problem, far, data).values).max()) == 0.0
    mantissa, log = scaled_forces(problem, far, data).values
    present = np.asarray(data.mass)[:, None, :] > 0
    label = np.broadcast_to(np.asarray(data.label)[:, None, None], present.shape)
    assert (np.sign(mantissa)[present] == label[present]).all()
    assert np.isfinite(np.asarray(log)[present]).all()
    assert float(log.max()) < -745


def test_normalised_forces_keep_the_signs_of_a_vanished_loss(precise):
    problem = Problem(Linear(1), Logistic())
    pairs, data = example(2, 1)
    far = Pairs(pairs.scores, pairs.values + 2000.0 * data.label[:, None, None])
    signs = np.sign(scaled_forces(problem, far, data).values.mantissa)
    pulls = forces(problem, far, data, normalised=True).values
    hardest = int(np.argmin(problem.outputs(far, data) * data.label))
    present = np.asarray(data.mass)[hardest] > 0
    np.testing.assert_array_equal(
        np.sign(pulls)[hardest, :, present], signs[hardest, :, present]
    )
    near = forces(problem, pairs, data)
    scaled = forces(problem, pairs, data, normalised=True)
    for force, other in zip(near, scaled, strict=True):
        ratio = (
            np.asarray(other)[np.asarray(force) != 0] / np.asarray(force)[force != 0]
        )
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
        assert ratio[0] > 1


def test_scaled_forces_survive_a_saturated_softmax(precise):
    """Where one key has all but e^-900 of the mass, `v_k − v̄` is zero in float64."""
    problem = Problem(Linear(1), Logistic())
    data = sequences(np.eye(2), [[0, 1]], [1.0])
    pairs = Pairs(
        jnp.array([[[[900.0, 0.0], [0.0, 900.0]]]]), jnp.array([[[2.0, 5.0]]])
    )
    assert float(jnp.abs(forces(problem, pairs, data).scores).max()) == 0.0
    mantissa, log = scaled_forces(problem, pairs, data).scores
    # p(1 − p)(v_0 − v_1) for key 0 and its opposite for key 1, at either query.
    np.testing.assert_array_equal(np.sign(mantissa[0, 0]), [[-1, 1], [-1, 1]])
    pull = -np.logaddexp(0.0, 7.0)
    size = np.log(np.abs(mantissa)) + log
    np.testing.assert_allclose(size, np.log(3.0) - 900.0 + pull, rtol=1e-13)


def test_masked_keys_do_not_push_others_to_underflow(precise):
    scores = jnp.array([[[[2000.0, 1.0, 0.0]]]])
    p = attention(scores, jnp.array([[0.0, 1.0, 1.0]]))
    e = np.exp(1.0)
    # Two exponentials to an ulp each, of a score less the largest; a sum, a quotient.
    wanted = [0.0, e / (1 + e), 1 / (1 + e)]
    assert_same_to_rounding(p[0, 0, 0], wanted, roundings=2 * 2 + 1 + 1 + 1)


def test_mass_is_repetition(precise):
    """A mass of two is the same token twice."""
    scores = jnp.array([[[[0.3, -0.2]]]])
    twice = jnp.array([[[[0.3, 0.3, -0.2]]]])
    heavy = attention(scores, jnp.array([[2.0, 1.0]]))
    two = attention(twice, jnp.ones((1, 3)))
    # Three exponentials to an ulp each, of a score less the largest; sums, a quotient.
    both = two[..., 0] + two[..., 1]
    assert_same_to_rounding(heavy[..., 0], both, roundings=3 * 2 + 1 + 3 + 1)


def test_the_kink_has_slope_zero(precise):
    """As in PyTorch: a unit exactly at its kink does not move."""
    slope = ReluPair(0.5).slope(jnp.array([[-0.5, 0.0]]), jnp.ones(1))
    np.testing.assert_array_equal(slope, [[0.0, -1.0]])
