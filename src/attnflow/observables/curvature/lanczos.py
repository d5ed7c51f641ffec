"""The top eigenvalue of a symmetric operator that is known by its products alone.

Small operators are written out. Of others, Lanczos' method grows an orthonormal basis
by products, every vector made orthogonal to all before it, and begins anew from the
`KEPT` largest Ritz vectors once the basis is full (thick restart, K. Wu and H. Simon,
SIAM J. Matrix Anal. Appl. 22, 2000).

**Tolerance.** It ends where the residual `|A y − θ y|` of the top Ritz pair is below
`eps^0.6` (4e-10 in float64) times the largest Ritz value: an eigenvalue lies within
that of θ, and within the square of it over the gap where the top one is apart. What has
not come that far after `CYCLES` restarts is not a number, and neither is the top
eigenvalue of what is not finite.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

Vector = Float[Array, " size"]
Product = Callable[[Vector], Vector]
# Up to this size, writing the operator out takes no more products than the method.
DENSE_SIZE = 128
BASIS, KEPT, CYCLES = 32, 8, 200


def top_curvature(
    loss: Callable[[Any], Float[Array, ""]], weights: PyTree, dense: int = DENSE_SIZE
) -> Float[Array, ""]:
    """The largest eigenvalue of the Hessian of a loss, at these weights."""
    start, unravel = ravel_pytree(weights)

    def slope(point: Vector) -> Vector:
        return jax.grad(lambda x: loss(unravel(x)))(point)

    def product(vector: Vector) -> Vector:
        return jax.jvp(slope, (start,), (vector,))[1]

    return top_eigenvalue(product, start, dense)


def top_eigenvalue(
    product: Product, like: Vector, dense: int = DENSE_SIZE
) -> Float[Array, ""]:
    """The largest eigenvalue of a symmetric operator on vectors `like` this one."""
    if like.size <= dense:
        matrix = jax.vmap(product)(jnp.eye(like.size, dtype=like.dtype))
        return jnp.linalg.eigvalsh((matrix + matrix.T) / 2)[-1]
    return _restarted(product, like.size, like.dtype)


def _restarted(product: Product, size: int, kind: jnp.dtype) -> Float[Array, ""]:
    count, kept = min(BASIS, size), min(KEPT, size - 1)
    tolerance = jnp.finfo(kind).eps ** 0.6
    # By NumPy: drawn inside a program, it would take longer to compile than all else.
    start = jnp.asarray(np.random.default_rng(0).standard_normal(size), kind)
    basis = jnp.zeros((count + 1, size), kind).at[0].set(start / _length(start))

    def grow(number: Array, pair: tuple[Array, Array]) -> tuple[Array, Array]:
        basis, images = pair
        image = product(basis[number])
        # Twice is enough; rows that are not there yet are zeros.
        rest = image - basis.T @ (basis @ image)
        rest = rest - basis.T @ (basis @ rest)
        # If nothing is left, the basis spans everything that can be reached from the
        # start.
        ended = _length(rest) <= 10 * jnp.finfo(kind).eps * _length(image)
        rest = jnp.where(ended, 0.0, rest / jnp.where(ended, 1.0, _length(rest)))
        return basis.at[number + 1].set(rest), images.at[number].set(image)

    def cycle(state: tuple[Array, ...]) -> tuple[Array, ...]:
        basis, images, number, *_ = state
        first = jnp.where(number == 0, 0, kept)
        basis, images = jax.lax.fori_loop(first, count, grow, (basis, images))
        inner = basis[:count] @ images.T
        inner = (inner + inner.T) / 2
        # A row of zeros is no vector: it must not be taken for an eigenvalue 0.
        absent = jnp.all(basis[:count] == 0, axis=1)
        lowest = -2 * jnp.linalg.norm(inner) - 1
        values, turn = jnp.linalg.eigh(inner + jnp.diag(jnp.where(absent, lowest, 0.0)))
        turn = turn[:, ::-1][:, :kept].T
        best, seen = turn @ basis[:count], turn @ images
        residual = _length(seen[0] - values[-1] * best[0])
        scale = jnp.abs(jnp.where(values > lowest / 2, values, 0.0)).max()
        ahead = jnp.zeros_like(basis).at[:kept].set(best).at[kept].set(basis[count])
        images = jnp.zeros_like(images).at[:kept].set(seen)
        return ahead, images, number + 1, values[-1], residual / scale

    def unfinished(state: tuple[Array, ...]) -> Array:
        return (state[2] < CYCLES) & (state[4] > tolerance)

    images = jnp.zeros((count, size), kind)
    far = jnp.asarray(jnp.inf, kind)
    begin = (basis, images, jnp.asarray(0), jnp.asarray(0.0, kind), far)
    *_, top, residual = jax.lax.while_loop(unfinished, cycle, begin)
    # An operator that is zero has no residual, over a scale of zero.
    return jnp.where((residual <= tolerance) | (top == 0), top, jnp.nan)


def _length(vector: Vector) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(vector**2))
