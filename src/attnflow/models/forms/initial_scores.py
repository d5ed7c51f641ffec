"""The initial part of the scores: which part holds them, and its state."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import AbstractScores
from attnflow.models.forms.gram import Gram, InfiniteWidth
from attnflow.models.forms.initial_values import Draw
from attnflow.models.forms.initialise import Initial, factor_of, score_factor
from attnflow.models.forms.laws import draw_entries, gram_of
from attnflow.models.forms.merged import MergedTable, MergedWeights
from attnflow.models.forms.transport import Transport
from attnflow.models.forms.weights import ScoreWeights

Built = tuple[AbstractScores, Array | dict[str, Array]]
BasisVectors = Float[Array, "basis embed"]


def plain_scores(weights: Mapping[str, Array], basis: BasisVectors) -> Built:
    """The part that holds the weights, and its state."""
    if "W_KQ" in weights:
        return MergedWeights(basis), {"W_KQ": weights["W_KQ"]}
    return ScoreWeights(basis), {name: weights[name] for name in ("W_K", "W_Q")}


def reduced_scores(
    name: str, initial: Initial, weights: Mapping[str, Array], basis: BasisVectors
) -> Built:
    """The part of a reduced form for given weights, and its state."""
    if "W_KQ" in weights:
        return MergedTable(), plain_table(weights, basis)
    return _of_factor(name, initial, factor_of(weights, basis))


def plain_table(
    weights: Mapping[str, Array], basis: BasisVectors
) -> Float[Array, "heads basis basis"]:
    """The scores on the basis."""
    part, state = plain_scores(weights, basis)
    return part.table(state)


def sampled_scores(
    name: str, initial: Initial, heads: int, rank: int, *, key: Array, draw: Draw
) -> Built:
    """The part of a reduced form in law, without drawing weights, and its state.

    A rotation does not change the law of a merged matrix: its scores on the basis are
    drawn themselves.
    """
    if initial.merged:
        scale = 0.0 if draw == "expected" else initial.omega
        shape = (heads, rank, rank)
        return MergedTable(), draw_entries("normal", scale, shape, key=key)
    factor = score_factor(initial, heads, rank, key=key, draw=draw)
    return _of_factor(name, initial, factor)


def _of_factor(
    name: str, initial: Initial, factor: Float[Array, "heads rows columns"]
) -> Built:
    if name == "transport":
        return Transport(), factor
    if name == "gram":
        return Gram(), gram_of(factor)
    rank = factor.shape[-1] // 2
    omega = jnp.asarray(initial.omega, jnp.float64)
    return InfiniteWidth(omega), jnp.zeros((factor.shape[0], rank, rank))


def check_scores(name: str, initial: Initial, given: Any) -> None:
    """Raise where a form does not know initial scores of this kind."""
    if initial.merged:
        if name in ("infinite", "quotient", "tokens"):
            raise ValueError(
                f"form={name!r} is about keys and queries of some width, and one "
                "merged matrix has none. Use form='gram' or 'transport', which both "
                "take its scores on the tokens' span."
            )
        return
    infinite = initial.width == "infinite" and given is None
    if name == "infinite" and not infinite:
        raise ValueError(
            "form='infinite' keeps scores alone, which close only at infinite width "
            f"and without given weights; width is {initial.width}. Set it to infinite."
        )
    if name == "weights" and infinite:
        raise ValueError(
            "There are no weights at infinite width: use form='gram' or 'transport', "
            "or a finite width."
        )
