"""Readouts: from the heads' outputs to the output of the model."""

import abc

import equinox as eqx
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
