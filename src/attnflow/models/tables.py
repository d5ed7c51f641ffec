"""The two tables of a shallow transformer over its tokens, and what samples see."""

from typing import NamedTuple

from jaxtyping import Array, Float


class Pairs(NamedTuple):
    """What a problem sees: pair scores and values at the keys of every sample.

    - `scores`: `(samples, heads, queries, keys)`.
    - `values`: `(samples, heads, keys)`.
    """

    scores: Float[Array, "samples heads queries keys"]
    values: Float[Array, "samples heads keys"]


class Forward(NamedTuple):
    """What the forward pass of a form gives: pairs, and the attention that they get."""

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
