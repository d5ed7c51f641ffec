"""Readouts and losses: from the heads' outputs to one number, and its loss.

Both tell their slopes, losses in the log domain, where no pull underflows.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Heads = Float[Array, "samples heads"]
Samples = Float[Array, " samples"]


class AbstractReadout(eqx.Module):
    """The model's output as a function of its heads' outputs, with its slope."""

    @property
    @abc.abstractmethod
    def head_names(self) -> tuple[str, ...]:
        """A name per head."""

    @abc.abstractmethod
    def __call__(self, heads: Heads) -> Samples:
        """The output of each sample."""

    @abc.abstractmethod
    def slope(self, heads: Heads) -> Heads:
        """The derivative of each output by each head's output."""


class Linear(AbstractReadout):
    """`f = Σ_h H_h`."""

    heads: int = 1

    @property
    def head_names(self) -> tuple[str, ...]:
        """A number per head."""
        return tuple(str(h) for h in range(self.heads))

    def __call__(self, heads: Heads) -> Samples:
        """The output of each sample."""
        return heads.sum(axis=1)

    def slope(self, heads: Heads) -> Heads:
        """One everywhere."""
        return jnp.ones_like(heads)


class ReluPair(AbstractReadout):
    """`f = max(H_+ + b, 0) − max(H_− + b, 0)`, with a fixed bias shared by the heads.

    At a kink the slope is 0, as in PyTorch.
    """

    bias: float = 0.5

    @property
    def head_names(self) -> tuple[str, ...]:
        """The head that adds, and the head that subtracts."""
        return ("+", "-")

    def __call__(self, heads: Heads) -> Samples:
        """The output of each sample."""
        active = jnp.maximum(heads + self.bias, 0.0)
        return active[:, 0] - active[:, 1]

    def slope(self, heads: Heads) -> Heads:
        """The derivative of each output by each head's output."""
        return jnp.where(heads + self.bias > 0, jnp.array([1.0, -1.0]), 0.0)


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
