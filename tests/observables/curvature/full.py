"""Small full models: every weight by itself, and its derivatives by autodiff."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from attnflow.data import MixtureTask, sequences
from attnflow.models.forms import Chain, ClassMeans, Initial, Neurons, Vector, build
from attnflow.models.forms.initial import draw_weights
from attnflow.models.problem import Logistic, Problem, ReluPair
from attnflow.models.systems import Training

VALUES = {
    "vector": Vector(0.3),
    "fixed output": Chain(7, 0.3, 0.5, trained=False),
    "trained output": Chain(7, 0.3, 0.5),
    "neurons": Neurons(7, 5, 0.3, 0.3),
    "narrow chain": Chain(2, 0.4, 0.5),
    "class means": ClassMeans(3, 0.3),
}
FORMS = ("weights", "gram", "transport")
BOTH = ("scores", "values")


def sampled_data(seed):
    """Random tokens (dependent ones too), positions, masses and probabilities."""
    draw = np.random.default_rng(seed)
    tokens = draw.standard_normal((5, 4)) / 2
    tokens[3:] = tokens[0] - tokens[1], 0.5 * tokens[2]
    mass = draw.choice([0.0, 0.5, 1.0, 2.0], (5, 3))
    mass[:, 0] = 1.0
    return sequences(
        tokens,
        draw.integers(0, 5, (5, 3)),
        draw.choice([-1.0, 1.0], 5),
        mass=mass,
        query=draw.integers(0, 5, (5, 2)),
        probability=draw.dirichlet(np.ones(5)),
    )


def systems(
    values,
    *,
    width=11,
    steps=3,
    rate=0.5,
    problem=None,
    data=None,
    trained=BOTH,
    seed=0,
    merged=False,
):
    """One model after a few steps of training, in every form: (system, state)."""
    problem = problem or Problem(ReluPair(0.5), Logistic(), score_scale=1.3)
    data = MixtureTask().sequences() if data is None else data
    initial = Initial(width=width, omega=0.9, values=values, merged=merged)
    key = jax.random.key(seed)
    heads = problem.heads
    weights = draw_weights(initial, heads, data.tokens.shape[1], key=key)
    by_form = {}
    for name in FORMS:
        form, state = build(name, data, initial, heads=heads, key=key, weights=weights)
        system = Training(form, problem, data, data.probability, BOTH)
        state = few_steps(system, state, steps, rate)
        by_form[name] = dataclasses.replace(system, trained=trained), state
    return initial, by_form


@eqx.filter_jit
def few_steps(system, state, steps, rate):
    """Away from the initial state, where nothing is special."""

    def step(_, state):
        updates = jax.tree.map(lambda x: rate * x, system.direction(state))
        return system.move(state, updates)

    return jax.lax.fori_loop(0, steps, step, state)


def outputs_and_loss(system, state):
    """Outputs and training loss as functions of all trained weights, and these."""
    flat, unravel = ravel_pytree({name: state[name] for name in system.trained})

    def outputs(x):
        pairs = system.pairs({**state, **unravel(x)})
        return system.problem.outputs(pairs, system.data)

    def loss(x):
        target = system.problem.target(system.data)
        return jnp.sum(system.probability * system.problem.loss(outputs(x), target))

    return outputs, loss, flat


# Functions of systems and states: one program for all tests of one shape.


@eqx.filter_jit
def full_jacobian(system, state):
    """Derivatives of outputs by all trained weights, and the outputs."""
    outputs, _, flat = outputs_and_loss(system, state)
    return jax.jacrev(outputs)(flat), outputs(flat)


@eqx.filter_jit
def _full_hessian(system, state):
    _, loss, flat = outputs_and_loss(system, state)
    return jax.hessian(loss)(flat)


def full_kernel(system, state):
    """`J Jᵀ` over all trained weights."""
    jacobian = np.asarray(full_jacobian(system, state)[0])
    return jacobian @ jacobian.T


def full_spectrum(system, state):
    """All eigenvalues of the Hessian over all trained weights, smallest first."""
    return np.linalg.eigvalsh(np.asarray(_full_hessian(system, state)))


def expanded(spectrum, size):
    """A spectrum with its multiplicities written out, and zeros up to `size`."""
    each = np.repeat(spectrum.values, spectrum.multiplicity.astype(int))
    assert len(each) <= size, "more eigenvalues than weights"
    return np.sort(np.concatenate([each, np.zeros(size - len(each))]))
