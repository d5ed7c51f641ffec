"""The paper's model on token vectors, independent of the forms of the core.

    F(X) = Σ_l aᵀ W W_V X softmax(Xᵀ W_Kᵀ W_Q x_l / sqrt(m)),

a sum over the L queries l, with the softmax over keys and a frozen.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import CooccurrenceTask, Sequences, random
from attnflow.data.cooccurrence import NAMED
from attnflow.models.forms import Initial, Neurons
from attnflow.models.forms.initial import draw_weights
from attnflow.papers.cooccurrence.computations import AppendixC, Gradients

Fillers = Literal["repeated", "distinct"]
FILLERS: tuple[Fillers, Fillers] = ("repeated", "distinct")
Weights = dict[str, Array]


class Samples(NamedTuple):
    """Samples as in the paper: a token vector per position, and labels."""

    tokens: Float[Array, "samples length embed"]
    label: Float[Array, " samples"]


def task_of(setting: Gradients | AppendixC, fillers: Fillers) -> CooccurrenceTask:
    """The task with `embed` tokens, or with as many as distinct fillers need."""
    if fillers == "repeated":
        return CooccurrenceTask(setting.samples, setting.length, setting.embed)
    return distinct_task(setting.samples, setting.length)


def distinct_task(samples: int, length: int) -> CooccurrenceTask:
    """The task with distinct fillers, and no more tokens than they need."""
    embed = NAMED + CooccurrenceTask(samples, length).slots
    return CooccurrenceTask(samples, length, embed, fillers="distinct")


def initial_of(
    width: int, neurons: int, *, sigma_scores: float, sigma_values: float
) -> Initial:
    """Normal W_K, W_Q of deviation `sigma_scores`, W_V, W of `sigma_values`."""
    values = Neurons(width, neurons, sigma_values, sigma_values)
    return Initial(width, sigma_scores * width**0.5, values, draw="weights")


def draw_model(
    setting: Gradients | AppendixC, fillers: Fillers, seed: int
) -> tuple[Weights, Samples]:
    """Weights and samples at the sizes of a setting."""
    initial = initial_of(
        setting.width,
        setting.neurons,
        sigma_scores=setting.sigma_scores,
        sigma_values=setting.sigma_values,
    )
    data, weights = draw(task_of(setting, fillers), initial, seed)
    return weights, samples_of(data)


def draw(
    task: CooccurrenceTask, initial: Initial, seed: int
) -> tuple[Sequences, Weights]:
    """A random training set and random weights, without the head axis."""
    key_data, key_weights = random.split(random.key(seed))
    weights = draw_weights(initial, 1, task.embed, key=key_weights)
    return task.sequences(key=key_data), {n: w[0] for n, w in weights.items()}


def samples_of(data: Sequences) -> Samples:
    """Token vectors by position."""
    return Samples(data.tokens[data.key], data.label)


def outputs(weights: Weights, samples: Samples) -> Float[Array, " samples"]:
    """Output F of every sample, by keys, queries and values."""
    names = ("W_K", "W_Q", "W_V")
    keys, queries, values = (samples.tokens @ weights[name].T for name in names)
    scores = queries @ keys.swapaxes(1, 2) / jnp.sqrt(float(keys.shape[-1]))
    read = jax.nn.softmax(scores, axis=-1) @ values
    return ((read @ weights["W"].T) @ weights["a"]).sum(axis=1)


def loss(weights: Weights, samples: Samples) -> Float[Array, ""]:
    """The mean logistic loss."""
    return jax.nn.softplus(-samples.label * outputs(weights, samples)).mean()


@jax.jit
def velocity(weights: Weights, samples: Samples) -> Weights:
    """Gradient flow by autodiff: minus the gradient, and 0 for the frozen a."""
    slope = jax.grad(loss)(weights, samples)
    return {**{n: -g for n, g in slope.items()}, "a": jnp.zeros_like(weights["a"])}


def relative_error(approximate: Array, exact: Array) -> Array:
    """Largest difference of an entry over the largest exact entry."""
    return jnp.abs(approximate - exact).max() / jnp.abs(exact).max()
