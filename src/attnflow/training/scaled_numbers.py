"""Numbers as `mantissa · exp(log)`, which never underflow, and rules on such gradients.

A sign needs the mantissa alone. Adam's update `m̂ / (sqrt(v̂) + ε)` does not change when
gradients are multiplied by a number, but for ε: its memory is kept under the scale of
the largest gradient that it still remembers, and ε is divided by that scale. Other
rules take the numbers as they are.
"""

from collections.abc import Iterable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.training.rules import Adam

Arrays = dict[str, Array]


class Scaled(NamedTuple):
    """Numbers as `mantissa · exp(log)`: neither can underflow where a float would.

    `log` has the axes of `mantissa`, some of them of length one.
    """

    mantissa: Array
    log: Array

    @property
    def plain(self) -> Array:
        """The numbers themselves, which may underflow."""
        return self.mantissa * jnp.exp(self.log)


class AdamMemory(NamedTuple):
    """Moments as mantissas, their log scales, and when ε first outweighed them.

    `swamped` is, by weight, the first step at which `sqrt(v̂) < ε` for more than half
    of the coordinates that have ever been pulled; −1 before.
    """

    step: Array
    first: Arrays
    second: Arrays
    log: Arrays
    swamped: Arrays


def begin_adam(state: Arrays) -> AdamMemory:
    """Adam's memory before the first step, for weights by column."""
    zeros = jax.tree.map(jnp.zeros_like, state)
    return AdamMemory(
        step=jnp.zeros((), int),
        first=zeros,
        second=zeros,
        log=jax.tree.map(
            lambda x: jnp.full((*x.shape[:-1], 1), -jnp.inf, x.dtype), state
        ),
        swamped=jax.tree.map(lambda x: jnp.full((), -1, int), state),
    )


def adam(
    rule: Adam, gradient: dict[str, Scaled], memory: AdamMemory
) -> tuple[Arrays, AdamMemory]:
    """Adam's update per unit of learning rate, up to its sign, and its memory."""
    count = memory.step + 1
    names = list(gradient)
    moved = {
        name: _adam_leaf(
            rule,
            gradient[name],
            (memory.first[name], memory.second[name], memory.log[name]),
            count,
        )
        for name in names
    }
    met = {
        name: jnp.where((memory.swamped[name] < 0) & moved[name][4], count, old)
        for name, old in memory.swamped.items()
    }
    first, second, log = ({n: moved[n][k] for n in names} for k in (1, 2, 3))
    updates = {name: moved[name][0] for name in names}
    return updates, AdamMemory(count, first, second, log, met)


def _adam_leaf(
    rule: Adam, gradient: Scaled, memory: tuple[Array, Array, Array], count: Array
) -> tuple[Array, Array, Array, Array, Array]:
    first, second, before = memory
    # The root of v decays by sqrt(beta2) a step where nothing pulls.
    fading = 0.5 * jnp.log(rule.beta2)
    log = jnp.maximum(gradient.log, before + fading)
    safe = jnp.where(jnp.isfinite(log), log, 0.0)
    kept = jnp.where(jnp.isfinite(before), jnp.exp(before - safe), 0.0)
    pull = gradient.mantissa * jnp.exp(gradient.log - safe)
    first = rule.beta1 * first * kept + (1 - rule.beta1) * pull
    second = rule.beta2 * second * kept**2 + (1 - rule.beta2) * pull**2
    mean = first / (1 - rule.beta1**count)
    root = jnp.sqrt(second / (1 - rule.beta2**count))
    # Beyond e^709 the scale of a gradient has no inverse: ε = 0 stays 0 there.
    epsilon = jnp.zeros_like(safe) if rule.bare else rule.epsilon * jnp.exp(-safe)
    # Where no force has acted yet, 0 / 0 means no move.
    below = jnp.where(root + epsilon > 0, root + epsilon, 1.0)
    pulled = root > 0
    swamped = (pulled & (root < epsilon)).sum() * 2 > pulled.sum()
    return mean / below, first, second, log, swamped


def earliest(steps: Iterable[Array | np.ndarray]) -> np.ndarray:
    """By seed, the first of some steps, of which −1 is none."""
    every = np.stack([np.asarray(step) for step in steps])
    last = np.iinfo(np.int64).max
    first = np.where(every < 0, last, every).min(axis=0)
    return np.where(first == last, -1, first)
