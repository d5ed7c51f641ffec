"""Training of a deep network as a system that rules of descent can move."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.deep.base import Look, Network, Weights
from attnflow.models.deep.losses import OutputLoss

PARTS = ("scores", "values")
PIECE = 128
"""Samples that are looked at together where outputs alone are asked for."""


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
    - `scaled`: pulls are rescaled, which only signs of gradients survive.
    - `clip`: gradients longer than this, all parts together, are shortened to it.
    - `dropping`: the raw key of what the network drops in training; none for nothing.
    - `shown`: tokens on which the first layer is looked at.
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

    @property
    def apart(self) -> bool:
        """Seeds run one after the other: side by side they would leave the caches."""
        return True

    def weights(self, state: Any) -> Weights:
        """The network's parts of a state."""
        return {name: state[name] for name in PARTS}

    def sees(self, state: Any, batch: Batch) -> Look:
        """What the network makes of samples, with nothing dropped."""
        return self.network.look(self.weights(state), batch.tokens)

    def outputs(self, state: Any, batch: Batch) -> Array:
        """The outputs of samples alone, piece by piece.

        Attention maps of thousands of samples leave the caches and fill the memory.
        """
        if len(batch.tokens) <= PIECE:
            return self.sees(state, batch).output
        weights = self.weights(state)
        return jax.lax.map(
            lambda tokens: self.network.look(weights, tokens[None]).output[0],
            batch.tokens,
            batch_size=PIECE,
        )

    def batch(self, state: Any) -> Batch:
        """The samples of the next step."""
        if self.order is None:
            return self.samples
        chosen = self.order[state["step"]]
        return jax.tree.map(lambda array: array[chosen], self.samples)

    def direction(self, state: Any) -> dict[str, Any]:
        """Minus the gradient of the loss, part by part."""
        batch, key = self.batch(state), self._key(state)

        def outputs(weights: Weights) -> Array:
            return self.network.look(weights, batch.tokens, key).output

        output, back = jax.vjp(outputs, self.weights(state))
        pull = self.loss.pull(output, batch.label, scaled=self.scaled)
        (found,) = back(pull)
        return found if self.clip is None else shortened(found, self.clip)

    def log_divisor(self, state: Any) -> Array:
        """The logarithm of what rescaling divided the next step's gradient by."""
        batch = self.batch(state)
        output = self.outputs(state, batch)
        return self.loss.log_divisor(output, batch.label, scaled=self.scaled)

    def move(self, state: Any, updates: dict[str, Any]) -> Any:
        """The state after the rules' updates, one step later."""
        moved = {
            name: jax.tree.map(
                lambda old, change: old + change.astype(old.dtype), state[name], update
            )
            for name, update in updates.items()
        }
        return {**state, **moved, "step": state["step"] + 1}

    def _key(self, state: Any) -> Array | None:
        if self.dropping is None:
            return None
        return jax.random.fold_in(
            jax.random.wrap_key_data(self.dropping), state["step"]
        )


def shortened(gradient: Any, length: float) -> Any:
    """A gradient that is no longer than `length`, in the l2 norm over all entries."""
    squares = [jnp.sum(entry**2) for entry in jax.tree.leaves(gradient)]
    size = jnp.sqrt(sum(squares, start=jnp.zeros((), squares[0].dtype)))
    # PyTorch's own constant, so that its loops are followed to rounding.
    share = jnp.minimum(length / (size + 1e-6), 1.0)
    return jax.tree.map(lambda entry: share * entry, gradient)
