"""Observables of deep networks, on training samples, test samples and shown tokens."""

from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import entr
from jaxtyping import Array, PyTree

from attnflow.models.deep.layers import Forward
from attnflow.observables.curvature.lanczos import top_curvature
from attnflow.observables.registry import Registry

LEAST = np.finfo(np.float64).tiny
"""Stands for a mean that is exactly 0, whose logarithm would be no number."""


class DeepView:
    """A deep network in training, in one state; each set of samples is seen once."""

    def __init__(self, system: PyTree, state: PyTree):
        self.system = system
        self.state = state

    @cached_property
    def seen(self) -> Forward:
        """Outputs and attention of all training samples."""
        return self.system.forward(self.state, self.system.samples)

    @cached_property
    def tested(self) -> Forward:
        """Outputs and attention of the test samples."""
        return self.system.forward(self.state, self.system.test)

    @cached_property
    def shown(self) -> Forward:
        """Outputs and attention of the shown samples."""
        if self.system.shown is None:
            raise ValueError(
                "No samples are shown, so that there is no shown_attention: record "
                "test_attention."
            )
        return self.system.network.forward(
            self.system.weights(self.state), self.system.shown
        )

    @cached_property
    def output(self) -> Array:
        """The outputs of all training samples."""
        return self.system.outputs(self.state, self.system.samples)

    @cached_property
    def test_output(self) -> Array:
        """The outputs of the test samples."""
        return self.system.outputs(self.state, self.system.test)

    @cached_property
    def pulls(self) -> dict[str, dict[str, Array]]:
        """Minus the gradient that the next step takes."""
        return self.system.direction(self.state)

    def losses(self, output: Array, samples: PyTree) -> Array:
        """The loss of each of the samples."""
        return self.system.loss.losses(output, samples.label)

    def correct(self, output: Array, samples: PyTree) -> Array:
        """Which samples are classified rightly."""
        return self.system.loss.correct(output, samples.label)


DEEP = Registry(DeepView, place=f"{__name__}:DEEP")
observable, declare = DEEP.observable, DEEP.declare

declare(
    loss=(
        "mean loss over the training samples",
        lambda v: v.losses(v.output, v.system.samples).mean(),
    ),
    accuracy=(
        "share of training samples that are classified rightly",
        lambda v: v.correct(v.output, v.system.samples).mean(),
    ),
    test_loss=(
        "mean loss over the test samples",
        lambda v: v.losses(v.test_output, v.system.test).mean(),
    ),
    test_accuracy=(
        "share of test samples that are classified rightly",
        lambda v: v.correct(v.test_output, v.system.test).mean(),
    ),
)
declare(
    "layer",
    # Of the loss itself, rescaled or not; at least the smallest positive double.
    log_mean_key_gradient=(
        "log10 of the mean |gradient| by W_K, over all of a layer's",
        lambda v: _log_mean(v, "W_K"),
    ),
    log_mean_query_gradient=(
        "log10 of the mean |gradient| by W_Q, over all of a layer's",
        lambda v: _log_mean(v, "W_Q"),
    ),
)
declare(
    *("head", "neuron", "token"),
    key_neuron=("first layer's W_K on shown tokens", lambda v: _first_layer(v, "W_K")),
    query_neuron=(
        "first layer's W_Q on shown tokens",
        lambda v: _first_layer(v, "W_Q"),
    ),
)
declare(
    *("layer", "sample", "head", "query_position", "key_position"),
    attention=(
        "attention p(key | query) at each training sample's positions",
        lambda v: jnp.stack(v.seen.attention),
    ),
)
declare(
    *("layer", "test_sample", "head", "query_position", "key_position"),
    test_attention=(
        "attention p(key | query) at each test sample's positions",
        lambda v: jnp.stack(v.tested.attention),
    ),
)
declare(
    *("layer", "shown_sample", "head", "query_position", "key_position"),
    shown_attention=(
        "attention p(key | query) at each shown training sample's positions",
        lambda v: jnp.stack(v.shown.attention),
    ),
)


@observable(about="top eigenvalue of the Hessian of the loss by all weights")
def sharpness(view: DeepView) -> Array:
    """That of the mean loss over all training samples, with nothing dropped."""
    system = view.system

    def loss(weights: PyTree) -> Array:
        output = system.outputs({**view.state, **weights}, system.samples)
        return view.losses(output, system.samples).mean()

    return top_curvature(loss, system.weights(view.state))


@observable(about="mean loss over the batch that is next")
def batch_loss(view: DeepView) -> Array:
    """Mean loss over the samples of the next step, with nothing dropped."""
    system = view.system
    batch = system.batch(view.state)
    output = system.forward(view.state, batch).output
    return system.loss.losses(output, batch.label).mean()


@observable("layer", about="entropy of attention on test samples, mean over queries")
def attention_entropy(view: DeepView) -> Array:
    """`−Σ p log p` over keys, in nats, mean over samples, heads and queries."""
    entropies = [entr(paid).sum(axis=-1).mean() for paid in view.tested.attention]
    return jnp.stack(entropies)


@observable(
    "layer", "query_position", about="entropy of attention on test samples, by place"
)
def attention_entropy_by_query(view: DeepView) -> Array:
    """`−Σ p log p` over keys, in nats, mean over samples and heads."""
    layers = view.tested.attention
    return jnp.stack([entr(paid).sum(axis=-1).mean(axis=(0, 1)) for paid in layers])


@observable("layer", about="attention on test samples to tokens that are noise")
def attention_to_noise(view: DeepView) -> Array:
    """The sum of attention over keys that are all noise, mean over the rest."""
    noisy = view.system.noisy
    if noisy is None:
        raise ValueError(
            "No tokens of these samples are known to be noise, so that there is no "
            "attention_to_noise: record attention_entropy."
        )
    paid = [jnp.sum(p * noisy, axis=-1).mean() for p in view.tested.attention]
    return jnp.stack(paid)


@observable("layer", "word", about="share of attention on test samples, word by word")
def attention_by_word(view: DeepView) -> Array:
    """The sum of attention over keys that are a word, mean over the rest.

    Over all words it is one.
    """
    words = view.system.test.tokens
    size = getattr(view.system.network, "vocabulary", None)
    if size is None:
        raise ValueError(
            "The tokens of these samples are no words, so that there is no "
            "attention_by_word: record attention_entropy."
        )
    means = [paid.mean(axis=(1, 2)) / len(words) for paid in view.tested.attention]
    return jnp.stack([jnp.zeros(size, m.dtype).at[words].add(m) for m in means])


@observable("layer", about="share of key and query weights whose gradient is exactly 0")
def zero_signs(view: DeepView) -> Array:
    """Weights that SignGD would not move, as a share of each layer's."""
    shares = [
        (pull == 0).reshape(len(pull), -1).mean(axis=1)
        for pull in view.pulls["scores"].values()
    ]
    return jnp.stack(shares).mean(axis=0)


def _first_layer(view: DeepView, name: str) -> Array:
    shown = view.system.shown
    if shown is None:
        raise ValueError(
            f"No tokens of these samples are shown, on which {name} could be recorded: "
            "record attention_entropy or loss."
        )
    return view.state["scores"][name][0] @ shown.T


def _log_mean(view: DeepView, name: str) -> Array:
    # Means of float32 gradients may be below the smallest float32.
    sizes = jnp.abs(view.pulls["scores"][name]).astype(float)
    mean = sizes.reshape(len(sizes), -1).mean(axis=1)
    taken = view.system.log_divisor(view.state).astype(float)
    return jnp.log10(jnp.maximum(mean, LEAST)) + taken / np.log(10.0)
