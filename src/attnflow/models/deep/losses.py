"""Losses of deep networks, with their pulls on the outputs written out."""

from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.problem import Logistic


class OutputLoss(Protocol):
    """A loss of outputs against labels: a frozen dataclass without arrays."""

    def losses(self, output: Array, label: Array) -> Array:
        """The loss of each prediction."""
        ...

    def correct(self, output: Array, label: Array) -> Array:
        """Whether each prediction is right."""
        ...

    def pull(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """Minus the gradient of the mean loss by the outputs.

        `scaled` divides it by its largest entry's size, whatever that is: signs of
        gradients stay what they are, and do not underflow with the loss.
        """
        ...

    def log_divisor(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """The logarithm of what `pull` was divided by: 0 where it is not scaled."""
        ...


@dataclass(frozen=True)
class BinaryLoss:
    """Logistic loss of one number for each sample, with labels ±1."""

    def losses(self, output: Array, label: Array) -> Array:
        """`log(1 + exp(−y f))`."""
        return Logistic()(output, label)

    def correct(self, output: Array, label: Array) -> Array:
        """Whether output and label have one sign."""
        return label * output > 0

    def pull(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """`y / (1 + exp(y f))`, over n or over the largest of them."""
        sign, log = Logistic().pull(output, label)
        if scaled:
            return sign * jnp.exp(log - log.max())
        return sign * jnp.exp(log) / len(output)

    def log_divisor(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """The log of the largest pull over n, where pulls are scaled."""
        if not scaled:
            return jnp.zeros((), output.dtype)
        return Logistic().pull(output, label)[1].max() - jnp.log(len(output))


@dataclass(frozen=True)
class ClassLoss:
    """Cross-entropy of rows of logits, with labels that are numbers of classes."""

    def losses(self, output: Array, label: Array) -> Array:
        """`log Σ exp(f) − f_label`."""
        own = jnp.take_along_axis(output, label[..., None], axis=-1)[..., 0]
        return jax.nn.logsumexp(output, axis=-1) - own

    def correct(self, output: Array, label: Array) -> Array:
        """Whether the label's logit is the largest."""
        return output.argmax(axis=-1) == label

    def pull(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """`e_label − softmax(f)`, over the number of predictions."""
        if scaled:
            raise ValueError(
                "Pulls of a cross-entropy over several classes are not rescaled: use "
                "scaled=False, or two classes and a BinaryLoss."
            )
        own = jax.nn.one_hot(label, output.shape[-1], dtype=output.dtype)
        return (own - jax.nn.softmax(output, axis=-1)) / label.size

    def log_divisor(self, output: Array, label: Array, *, scaled: bool) -> Array:
        """Nothing: these pulls are never scaled."""
        return jnp.zeros((), output.dtype)
