"""Initial factors of a value chain: F with `FᵀF` the Gram matrix of `[W_V β]`."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.chains import ChainGram, ChainTransport
from attnflow.models.forms.initial_values import BasisVectors, Built, Draw
from attnflow.models.forms.laws import bartlett_factor, gram_of, shortened

Factor = Float[Array, "heads rows columns"]


def given_factor(
    first: Float[Array, "heads width embed"],
    seen: Float[Array, "heads width"],
    basis: BasisVectors,
) -> Factor:
    """The factor for given `W_V` and β, at most as many rows as columns."""
    return shortened(jnp.concatenate([first @ basis.T, seen[..., None]], axis=-1))


def part_of_factor(factor: Factor, gain: Array, *, gram: bool) -> Built:
    """The part that moves the chain, and its state."""
    if gram:
        return ChainGram(gain), gram_of(factor)
    return ChainTransport(gain), factor


def drawn_factor(
    width: int,
    rank: int,
    *,
    scale: float,
    seen_scales: Float[Array, " heads"],
    key: Array,
    draw: Draw,
) -> Factor:
    """The factor in law, without weights.

    Rows are independent; entries of `W_V` have standard deviation `scale`, those of β
    the head's `seen_scales`. So the expected Gram matrix is diagonal, with
    `α² = width · scale²` for each basis vector and `b = width · seen_scale²` last.
    At large width the values `G = W_Vᵀ β` are normal with variance `b · scale²`; then

        F = [[α I, G / α], [0, sqrt(b − |G|² / α²)]]

    has them and the expected Gram matrices otherwise.
    """
    heads = len(seen_scales)
    scales = jnp.full((heads, rank), scale)
    scales = jnp.concatenate([scales, seen_scales[:, None]], axis=1)[:, None, :]
    if draw == "bartlett":
        _require_rank(width, rank)
        return bartlett_factor(width, rank + 1, heads, key=key) * scales
    unit = jnp.broadcast_to(jnp.eye(rank + 1), (heads, rank + 1, rank + 1))
    if draw == "limit":
        # In units of the scales G / α is ξ / sqrt(width), which needs no scale > 0.
        noise = jax.random.normal(key, (heads, rank), jnp.float64) / jnp.sqrt(width)
        left = 1 - (noise**2).sum(axis=1)
        _require_room(left, width, rank)
        unit = unit.at[:, :rank, rank].set(noise)
        unit = unit.at[:, rank, rank].set(jnp.sqrt(left))
    return unit * scales * jnp.sqrt(float(width))


def _require_rank(width: int, rank: int) -> None:
    if width < rank + 1:
        raise ValueError(
            f"The value width {width} is below the tokens' rank {rank} plus one, "
            "where the Gram matrix is singular. Use draw='weights'."
        )


def _require_room(left: Array, width: int, rank: int) -> None:
    if bool((left < 0).any()):
        raise ValueError(
            f"draw is 'limit' but the value width {width} is not large against the "
            f"tokens' rank {rank}: no weights have initial values of that size beside "
            "the expected Gram matrices. Use a larger width, or draw='bartlett' or "
            "'weights'."
        )
