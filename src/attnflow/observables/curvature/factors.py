"""Factors: few rows with the Gram matrix of many."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

Factor = Float[Array, "blocks rows columns"]

# What a Gram matrix may hold beyond its `rows` largest eigenvalues, relative to the
# largest: far above the rounding of a long run, far below one more true row.
EXCESS = 1e-6


def factor_of_gram(gram: Float[Array, "blocks columns columns"], rows: int) -> Factor:
    """A factor F of `rows` rows with `FᵀF = P`, which may be singular.

    Columns are brought to unit length first, so that a long one (β of many neurons)
    does not drown the others in its rounding; eigenvalues within rounding of zero give
    rows of zeros, since their roots would be noise of size 1e-8.
    """
    lengths = jnp.sqrt(jnp.diagonal(gram, axis1=-2, axis2=-1))
    unit = jnp.where(lengths > 0, lengths, 1.0)
    sizes, vectors = jnp.linalg.eigh(gram / (unit[:, :, None] * unit[:, None, :]))
    columns = sizes.shape[-1]
    beyond = jnp.abs(sizes[:, : columns - rows]).max(initial=0.0)
    sizes = eqx.error_if(
        sizes,
        beyond > EXCESS * jnp.abs(sizes).max(),
        "The Gram matrix has a higher rank than the width allows. Give the width with "
        "which the state was drawn.",
    )
    cut = columns * jnp.finfo(sizes.dtype).eps * sizes[:, -1:]
    roots = jnp.sqrt(jnp.where(sizes > cut, sizes, 0.0))[:, columns - rows :]
    kept = vectors[:, :, columns - rows :].swapaxes(-1, -2)
    return roots[..., None] * kept * unit[:, None, :]


def factor_at_infinite_width(
    scores: Float[Array, "blocks basis basis"], omega: Float[Array, ""]
) -> Factor:
    """A factor of P where `(J P)² = ω⁴ I`, from the singular values of the scores.

    With `S = U s Vᵀ` and `h = (ω⁴ + s²)^½`, P has the eigenvectors `(u, ±v) / √2` with
    eigenvalues `h ± s`; the smaller one is `ω⁴ / (h + s)`, which does not cancel.
    """
    left, sizes, right = jnp.linalg.svd(scores)
    large = jnp.sqrt((jnp.hypot(omega**2, sizes) + sizes) / 2)[..., None]
    small = omega**2 / (2 * large)
    keys = left.swapaxes(-1, -2)
    top = jnp.concatenate([large * keys, large * right], axis=-1)
    bottom = jnp.concatenate([small * keys, -small * right], axis=-1)
    return jnp.concatenate([top, bottom], axis=-2)
