"""Laws of initial weights: entries, and Gram factors drawn without the entries.

Where no weights are drawn, a reduced part is drawn alone, in one of three ways:

- `bartlett`: the law of weights of finite width;
- `limit`: Gram matrices at their expectation, and initial values that are normal with
  the variance that they have at large width. Values do not vanish there: a sum of many
  products of two weights is normal, while Gram matrices no longer fluctuate;
- `expected`: Gram matrices at their expectation and initial values zero: no noise.
"""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Law = Literal["normal", "uniform"]
Draw = Literal["bartlett", "limit", "expected"]


def draw_entries(
    law: Law, scale: float | Array, shape: tuple[int, ...], *, key: Array
) -> Array:
    """Independent entries of mean 0 and standard deviation `scale`."""
    if law == "normal":
        return scale * jax.random.normal(key, shape, jnp.float64)
    bound = np.sqrt(3.0)
    return scale * jax.random.uniform(key, shape, jnp.float64, -bound, bound)


def bartlett_factor(
    rows: int, columns: int, blocks: int, *, key: Array
) -> Float[Array, "blocks columns columns"]:
    """A factor F with `FᵀF` Wishart of `rows` degrees of freedom, in few draws.

    F is upper triangular with `F[i, i]² ~ χ²(rows − i)` and standard normal entries
    above: then `FᵀF` has the law of `XᵀX` for X of that many standard normal rows
    (Bartlett's decomposition). Needs `rows >= columns`.
    """
    # One seed must not give nearly the same draw at every width: ladders over the
    # width would look cleaner than they are.
    key_chi, key_normal = jax.random.split(jax.random.fold_in(key, rows % 2**31))
    # In float64: 10^20 rows are no 64-bit integer.
    freedom = float(rows) - jnp.arange(columns, dtype=jnp.float64)
    chi = jnp.sqrt(
        jax.random.chisquare(key_chi, freedom, (blocks, columns), dtype=jnp.float64)
    )
    above = jax.random.normal(key_normal, (blocks, columns, columns), jnp.float64)
    return jnp.triu(above, 1) + jnp.eye(columns) * chi[:, :, None]


def shortened(
    factor: Float[Array, "blocks rows columns"],
) -> Float[Array, "blocks short columns"]:
    """A factor with the same Gram matrix and at most as many rows as columns."""
    if factor.shape[1] <= factor.shape[2]:
        return factor
    return jnp.linalg.qr(factor, mode="r")


def gram_of(factor: Float[Array, "blocks rows columns"]) -> Array:
    """`FᵀF`."""
    return factor.swapaxes(-1, -2) @ factor


def check_scales(**scales: float) -> None:
    """Raise where a standard deviation is negative or not finite."""
    for name, scale in scales.items():
        if not 0 <= scale < float("inf"):
            raise ValueError(
                f"{name} is {scale}; a standard deviation must be finite and not "
                f"negative. Use {name}=0.1."
            )


def check_widths(**widths: int) -> None:
    """Raise where a number of rows is not positive."""
    for name, width in widths.items():
        if width < 1:
            raise ValueError(f"{name} is {width}; use a positive integer.")


def check_draw(law: Law, draw: Draw) -> None:
    """Raise where weights of this law have no Wishart Gram matrix."""
    if draw == "bartlett" and law != "normal":
        raise ValueError(
            f"The law of the values' weights is {law!r}, and only normal weights have "
            "a Wishart Gram matrix. Use draw='weights', or draw='limit', which holds "
            "for every law."
        )
