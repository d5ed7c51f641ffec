"""Softmax attention over keys with masses."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def attention(
    scores: Float[Array, "samples heads queries keys"],
    mass: Float[Array, "samples keys"],
) -> Float[Array, "samples heads queries keys"]:
    """`p(key | query) = mass · exp(score) / Σ mass · exp(score)`.

    The maximum is taken over keys of positive mass alone: a masked key with a large
    score would otherwise push all others to underflow.
    """
    weight = mass[:, None, None, :]
    masked = jnp.where(weight > 0, scores, -jnp.inf)
    top = masked.max(axis=-1, keepdims=True)
    terms = weight * jnp.exp(masked - top)
    return terms / terms.sum(axis=-1, keepdims=True)


def log_attention(
    scores: Float[Array, "samples heads queries keys"],
    mass: Float[Array, "samples keys"],
) -> Float[Array, "samples heads queries keys"]:
    """Logarithms of the attention, which do not underflow; −inf at masked keys."""
    masked = scores + jnp.log(mass)[:, None, None, :]
    return jax.nn.log_softmax(masked, axis=-1)


def pooled(
    probability: Float[Array, "samples heads queries keys"],
    values: Float[Array, "samples heads keys"],
    query_weight: Float[Array, "samples queries"],
) -> tuple[
    Float[Array, "samples heads"],
    Float[Array, "samples heads queries"],
]:
    """Each head's output `Σ_q weight_q Σ_k p(k|q) value_k`, and the inner sums."""
    attended = (probability * values[:, :, None, :]).sum(axis=-1)
    return (attended * query_weight[:, None, :]).sum(axis=-1), attended
