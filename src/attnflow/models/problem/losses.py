"""Losses of a scalar output against a label, and their slopes in the log domain."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Samples = Float[Array, " samples"]


class AbstractLoss(eqx.Module):
    """A loss `l(f, y)`; its pull on the output is `−∂l/∂f = sign · exp(log)`."""

    @abc.abstractmethod
    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""

    @abc.abstractmethod
    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude, which never underflow."""


class Logistic(AbstractLoss):
    """`l = log(1 + exp(−y f))`, with pull `y / (1 + exp(y f))`."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return jax.nn.softplus(-label * output)

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        return jnp.sign(label), _size(label) - jax.nn.softplus(label * output)


class Exponential(AbstractLoss):
    """`l = exp(−y f)`, with pull `y exp(−y f)`."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return jnp.exp(-label * output)

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        return jnp.sign(label), _size(label) - label * output


class Squared(AbstractLoss):
    """`l = (f − y)² / 2`, with pull `y − f`."""

    def __call__(self, output: Samples, label: Samples) -> Samples:
        """The loss of each sample."""
        return 0.5 * (output - label) ** 2

    def pull(self, output: Samples, label: Samples) -> tuple[Samples, Samples]:
        """`−∂l/∂f` as a sign and a log-magnitude."""
        rest = label - output
        return jnp.sign(rest), jnp.log(jnp.abs(rest))


def _size(label: Samples) -> Samples:
    """`log |y|`, which is 0 for classes and not for labels with additive noise."""
    return jnp.log(jnp.abs(label))
