"""Domain types named once; the dimension names are those of `_dims`."""

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float


class Pairs(NamedTuple):
    """What a problem sees: pair scores and values at the keys of every sample.

    - `scores`: `(samples, heads, queries, keys)`.
    - `values`: `(samples, heads, keys)`.
    """

    scores: Float[Array, "samples heads queries keys"]
    values: Float[Array, "samples heads keys"]


class Sight(NamedTuple):
    """What samples see of a state: pairs, and the attention that comes of them."""

    pairs: Pairs
    attention: Float[Array, "samples heads queries keys"]


class Tables(NamedTuple):
    """The two tables over a basis of the tokens' span.

    - `scores`: `(blocks, basis, basis)`, row = key, column = query.
    - `values`: `(blocks, basis)`.

    A block is a head, or an irreducible part of one in a quotient.
    """

    scores: Float[Array, "blocks basis basis"]
    values: Float[Array, "blocks basis"]


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


def as_record(value: Any) -> Any:
    """A nested dataclass as JSON-able data; each record names its type."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: as_record(getattr(value, f.name)) for f in dataclasses.fields(value)
        }
        return {"type": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {str(k): as_record(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [as_record(v) for v in value]
    return value
