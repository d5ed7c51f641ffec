"""Lazy runs beside real ones: where they agree, how fast, and where they part."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.data import MixtureTask
from attnflow.models.forms import Vector
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.observables.curvature import linearised
from attnflow.training import flow, stack
from attnflow.training.rules import Flow
from tests.core import mostly_slow
from tests.observables.curvature.full import VALUES, systems

pytestmark = pytest.mark.usefixtures("precise")


def real_outputs(system, state):
    return {"output": system.problem.outputs(system.pairs(state), system.data)}


def lazy_outputs(system, state):
    return {"output": state}


def followed(system, state, times, observe):
    """The outputs at some times, `(times, samples)`."""
    stacked, axes = stack([system])
    leg = flow(
        stacked,
        axes,
        jax.tree.map(lambda x: x[None], state),
        rule=Flow(rtol=1e-11, solver="tsit5"),
        start=np.zeros(1),
        stop=np.array([times[-1]]),
        times=times,
        observe=observe,
    )
    return np.asarray(leg.rows["output"][0])


def gap(system, state, times):
    """The largest difference of lazy and real outputs at each time."""
    lazy, outputs = linearised(system, state)
    real = followed(system, state, times, real_outputs)
    return np.abs(followed(lazy, outputs, times, lazy_outputs) - real).max(axis=1)


def slope(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


@pytest.mark.parametrize("values", mostly_slow(["vector", "neurons"], "neurons"))
@pytest.mark.parametrize("trained", [("scores", "values"), ("values",)])
def test_starts_with_the_velocity_of_real_training(values, trained):
    """On samples of probability 0 too, which the others move."""
    _, by_form = systems(VALUES[values], trained=trained)
    system, state = by_form["gram"]
    uneven = system.probability.at[0].set(0.0)
    system = eqx.tree_at(lambda s: s.probability, system, uneven / uneven.sum())

    def outputs(state):
        return real_outputs(system, state)["output"]

    rate = jax.jvp(outputs, (state,), (system.velocity(0.0, state),))[1]
    lazy, start = linearised(system, state)
    # Both are computed operation by operation, by the same programs.
    assert np.abs(start - outputs(state)).max() == 0
    actual = lazy.velocity(0.0, start)
    assert np.abs(actual - rate).max() < 1e-14 * np.abs(rate).max() + 1e-16
    assert np.abs(rate[0]) > 1e-3


@pytest.mark.slow
def test_parts_from_real_training_as_the_square_of_time():
    """Equal velocities at first, and a kernel that moves at a finite rate.

    Of a chain, since the flow of neurons ends at a kink, at t = 0.3.
    """
    _, by_form = systems(VALUES["narrow chain"])
    times = np.array([0.002, 0.004, 0.008, 0.016, 4.0])
    actual = gap(*by_form["gram"], times)
    assert abs(slope(times[:4], actual[:4]) - 2) < 0.05
    assert actual[-1] > 0.03


def scaled(alpha):
    """Outputs times α, from values of size 1/α: lazy in the limit of large α."""
    data = MixtureTask().sequences()
    data = dataclasses.replace(data, query_weight=alpha * data.query_weight)
    problem = Problem(Linear(2), Squared())
    return systems(Vector(0.3 / alpha), problem=problem, data=data, steps=0)[1]["gram"]


def test_large_outputs_of_small_values_are_lazy():
    """In the time α² t the scores move by 1/α², and so much do the outputs differ."""
    alphas = np.array([4.0, 8.0, 16.0, 32.0])
    actual = [gap(*scaled(a), np.array([0.0, 1.0]) / a**2)[-1] for a in alphas]
    assert abs(slope(alphas, actual) + 2) < 0.1
    assert actual[-1] < 1e-3


def test_the_lazy_loss_falls():
    _, by_form = systems(VALUES["vector"])
    lazy, start = linearised(*by_form["gram"])
    end = jnp.asarray(followed(lazy, start, np.array([5.0]), lazy_outputs)[-1])
    assert float(lazy.mean_loss(end)) < 0.9 * float(lazy.mean_loss(start))
