"""The paper's model on whole token vectors, apart from the forms of the core.

    F(X) = Σ_l aᵀ W W_V X softmax(Xᵀ W_Kᵀ W_Q x_l / sqrt(m)),

a sum over the L queries l, with the softmax over keys and a fixed.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import CooccurrenceTask, Sequences
from attnflow.data.cooccurrence import NAMED
from attnflow.models.forms import Initial, Neurons
from attnflow.models.forms.initial import draw_weights

FILLERS = ("repeated", "distinct")
Weights = dict[str, Array]


class Samples(NamedTuple):
    """Samples as the paper has them: one token vector per position, and labels."""

    tokens: Float[Array, "samples length embed"]
    label: Float[Array, " samples"]


def task_of(setting: dict[str, Any], fillers: Any) -> CooccurrenceTask:
    """The task with `embed` tokens, or with as many as distinct fillers need."""
    sizes = {"samples": setting["samples"], "length": setting["length"]}
    if fillers == "repeated":
        return CooccurrenceTask(**sizes, embed=setting["embed"])
    embed = NAMED + CooccurrenceTask(**sizes).slots
    return CooccurrenceTask(**sizes, embed=embed, fillers="distinct")


def initial_of(setting: dict[str, Any], width: int, neurons: int) -> Initial:
    """Normal W_K, W_Q of deviation `sigma_scores`, W_V, W of `sigma_values`."""
    scale = setting["sigma_values"]
    values = Neurons(width, neurons, scale, scale)
    return Initial(width, setting["sigma_scores"] * width**0.5, values, draw="weights")


def drawn(
    task: CooccurrenceTask, initial: Initial, seed: int
) -> tuple[Sequences, Weights]:
    """A training set and weights, without the axis of the only head."""
    key_data, key_weights = jax.random.split(jax.random.key(seed))
    weights = draw_weights(initial, 1, task.embed, key=key_weights)
    return task.sequences(key=key_data), {n: w[0] for n, w in weights.items()}


def samples_of(data: Sequences) -> Samples:
    """Token vectors by position."""
    return Samples(data.tokens[data.key], data.label)


def outputs(weights: Weights, samples: Samples) -> Float[Array, " samples"]:
    """F of every sample, by keys, queries and values."""
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
    """Gradient flow by autodiff: minus the gradient, and 0 for the fixed a."""
    slope = jax.grad(loss)(weights, samples)
    return {**{n: -g for n, g in slope.items()}, "a": jnp.zeros_like(weights["a"])}


def relative_error(found: Array, exact: Array) -> Array:
    """The largest difference of an entry, as a part of the largest entry."""
    return jnp.abs(found - exact).max() / jnp.abs(exact).max()
