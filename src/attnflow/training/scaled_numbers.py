"""Numbers as mantissa and logarithmic scale, which cannot underflow."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array


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
