"""Training of a deep network: losses of its outputs, and the system that descends."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from attnflow.data.random import KIND
from attnflow.models.deep.layers import Forward, Network, Weights
from attnflow.models.problem import Logistic

PARTS = ("scores", "values")
# The network's parts, and `step`.
State = dict[str, PyTree]
PIECE = 128
"""Samples of one forward pass where outputs alone are needed."""


class OutputLoss(Protocol):
    """A loss of outputs against labels: a frozen dataclass without arrays."""

    def losses(self, output: Array, label: Array) -> Array:
        """The loss of each prediction."""
        ...

    def correct(self, output: Array, label: Array) -> Array:
        """Whether each prediction is right."""
        ...

    def pull(self, output: Array, label: Array, *, scaled: bool) -> "Pull":
        """Minus the gradient of the mean loss by the outputs.

        `scaled` divides it by its largest entry's size, whatever that is: signs of
        gradients stay what they are, and do not underflow with the loss.
        """
        ...


class Pull(NamedTuple):
    """A pull on outputs, and the logarithm of what it was divided by."""

    force: Array
    log_divisor: Array


@dataclass(frozen=True)
class BinaryLoss:
    """Logistic loss of one number for each sample, with labels ±1."""

    def losses(self, output: Array, label: Array) -> Array:
        """`log(1 + exp(−y f))`."""
        return Logistic()(output, label)

    def correct(self, output: Array, label: Array) -> Array:
        """Whether output and label have one sign."""
        return label * output > 0

    def pull(self, output: Array, label: Array, *, scaled: bool) -> Pull:
        """`y / (1 + exp(y f))`, over n or over the largest of them."""
        sign, log = Logistic().pull(output, label)
        if not scaled:
            return Pull(sign * jnp.exp(log) / len(output), jnp.zeros((), output.dtype))
        largest = log.max()
        return Pull(sign * jnp.exp(log - largest), largest - jnp.log(len(output)))


@dataclass(frozen=True)
class ClassLoss:
    """Cross-entropy of rows of logits, with labels that are numbers of classes."""

    def losses(self, output: Array, label: Array) -> Array:
        """`log Σ exp(f) − f_label`."""
        target = jnp.take_along_axis(output, label[..., None], axis=-1)[..., 0]
        return jax.nn.logsumexp(output, axis=-1) - target

    def correct(self, output: Array, label: Array) -> Array:
        """Whether the label's logit is the largest."""
        return output.argmax(axis=-1) == label

    def pull(self, output: Array, label: Array, *, scaled: bool) -> Pull:
        """`e_label − softmax(f)`, over the number of predictions; never scaled."""
        if scaled:
            raise ValueError(
                "Pulls of a cross-entropy over several classes are not rescaled: use "
                "scaled=False, or two classes and a BinaryLoss."
            )
        target = jax.nn.one_hot(label, output.shape[-1], dtype=output.dtype)
        force = (target - jax.nn.softmax(output, axis=-1)) / label.size
        return Pull(force, jnp.zeros((), output.dtype))


class Batch(eqx.Module):
    """Samples: `tokens` (samples, length, …) and their `label`s."""

    tokens: Array
    label: Array


class DeepTraining(eqx.Module):
    """A network under the gradient of its loss, on all samples or on batches.

    The state has the network's parts and, as `step`, how many steps were made.

    **Arguments:**

    - `samples`: to train on; `test`: to test on.
    - `order`: which samples stand in the batch of each step, `(steps, batch)`; none for
      all of them in each.
    - `scaled`: pulls are rescaled, for rules that see signs of gradients alone.
    - `clip`: gradients longer than this, all parts together, are shortened to it.
    - `paces`: by the name of a first layer's weights among the values, what their rate
      is as a multiple of all others'; gradients are shortened before that.
    - `dropping`: the raw key of what the network drops in training; none for nothing.
    - `shown`: tokens on which the first layer is observed, or samples of them.
    """

    network: Network = eqx.field(static=True)
    loss: OutputLoss = eqx.field(static=True)
    samples: Batch
    test: Batch
    order: Array | None = None
    dropping: Array | None = None
    shown: Array | None = None
    noisy: Array | None = None
    scaled: bool = eqx.field(static=True, default=False)
    clip: float | None = eqx.field(static=True, default=None)
    paces: tuple[tuple[str, float], ...] = eqx.field(static=True, default=())

    @property
    def apart(self) -> bool:
        """Seeds run one after the other: side by side they would leave the caches."""
        return True

    @property
    def in_products(self) -> bool:
        """Time goes into products of matrices, which no compiler makes faster."""
        return True

    def weights(self, state: State) -> Weights:
        """The network's parts of a state."""
        return {name: state[name] for name in PARTS}

    def forward(self, state: State, batch: Batch) -> Forward:
        """The forward pass on samples, with nothing dropped."""
        return self.network.forward(self.weights(state), batch.tokens)

    def outputs(self, state: State, batch: Batch) -> Array:
        """The outputs of samples alone, piece by piece.

        Attention maps of thousands of samples leave the caches and fill the memory.
        """
        if len(batch.tokens) <= PIECE:
            return self.forward(state, batch).output
        weights = self.weights(state)
        return jax.lax.map(
            lambda tokens: self.network.forward(weights, tokens[None]).output[0],
            batch.tokens,
            batch_size=PIECE,
        )

    def batch(self, state: State) -> Batch:
        """The samples of the next step."""
        if self.order is None:
            return self.samples
        index = self.order[state["step"]]
        return jax.tree.map(lambda array: array[index], self.samples)

    def direction(self, state: State) -> Weights:
        """Minus the gradient of the loss, part by part."""
        batch, key = self.batch(state), self._key(state)

        def outputs(weights: Weights) -> Array:
            return self.network.forward(weights, batch.tokens, key).output

        output, back = jax.vjp(outputs, self.weights(state))
        pull = self.loss.pull(output, batch.label, scaled=self.scaled)
        (gradient,) = back(pull.force)
        if self.clip is not None:
            gradient = _shortened(gradient, self.clip)
        return _paced(gradient, self.paces)

    def log_divisor(self, state: State) -> Array:
        """The logarithm of what rescaling divided the next step's gradient by."""
        batch = self.batch(state)
        output = self.outputs(state, batch)
        return self.loss.pull(output, batch.label, scaled=self.scaled).log_divisor

    def move(self, state: State, updates: Weights) -> State:
        """The state after the rules' updates, one step later."""
        moved = {
            name: jax.tree.map(
                lambda old, change: old + change.astype(old.dtype), state[name], update
            )
            for name, update in updates.items()
        }
        return {**state, **moved, "step": state["step"] + 1}

    def square(self, name: str, state: State, direction: PyTree) -> Array:
        """The squared length of the gradient by a part's weights."""
        return _square(direction)

    def _key(self, state: State) -> Array | None:
        if self.dropping is None:
            return None
        return jax.random.fold_in(
            jax.random.wrap_key_data(self.dropping, impl=KIND), state["step"]
        )


def _paced(gradient: Weights, paces: tuple[tuple[str, float], ...]) -> Weights:
    """A gradient whose first-layer entries of some names are multiplied."""
    values = dict(gradient["values"])
    for name, pace in paces:
        values[name] = values[name].at[0].multiply(pace)
    return {**gradient, "values": values}


def _shortened(gradient: Weights, length: float) -> Weights:
    """A gradient that is no longer than `length`, in the l2 norm over all entries."""
    size = jnp.sqrt(_square(gradient))
    # PyTorch's constant, so that its loops are followed to rounding.
    share = jnp.minimum(length / (size + 1e-6), 1.0)
    return jax.tree.map(lambda entry: share * entry, gradient)


def _square(gradient: PyTree) -> Array:
    squares = [jnp.sum(entry**2) for entry in jax.tree.leaves(gradient)]
    return sum(squares, start=jnp.zeros((), squares[0].dtype))
