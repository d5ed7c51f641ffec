"""Initial states: given weights, drawn weights, drawn Gram factors, infinite width."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# Up to this many weights they are drawn themselves, so that every form of one seed
# starts from the same ones; beyond, only their Gram factor is.
DRAWN_WEIGHTS = 2**16

Weights = dict[str, Array]


@dataclass(frozen=True)
class Initial:
    """Gaussian weights of a given width.

    **Arguments:**

    - `width`: rows of `W_K` and `W_Q`, or `infinite`.
    - `omega`: entries of `W_K`, `W_Q` are normal with variance `omega² / width`.
    - `value_scale`: standard deviation of the entries of `w`.
    - `draw`: `weights` themselves, their Gram factor by `bartlett` (any width at the
      cost of the tokens' rank alone), or `auto`: weights while they are few.
    """

    width: int | Literal["infinite"] = 128
    omega: float = 0.1
    value_scale: float = 0.0
    draw: Literal["auto", "weights", "bartlett"] = "auto"

    def __post_init__(self) -> None:
        if self.width != "infinite" and self.width < 1:
            raise ValueError(
                f"width is {self.width}; it must be a positive integer or 'infinite'. "
                "Use width=128."
            )
        if not (self.omega > 0 and np.isfinite(self.omega)):
            raise ValueError(
                f"omega is {self.omega}; the initial scale must be positive: at 0 the "
                "attention never starts to move. Use omega=0.1."
            )
        if not self.value_scale >= 0:
            raise ValueError(
                f"value_scale is {self.value_scale}; a standard deviation must not be "
                "negative. Use value_scale=0."
            )

    def drawn_as(self, rank: int, embed: int) -> str:
        """How keys and queries are drawn: `weights`, `bartlett` or `infinite`."""
        if self.width == "infinite":
            return "infinite"
        if self.draw == "bartlett" and self.width < 2 * rank:
            raise ValueError(
                f"draw is 'bartlett' but width {self.width} is below twice the rank "
                f"{rank} of the tokens, where the Gram matrix is singular. Use "
                "draw='weights'."
            )
        if self.draw != "auto":
            return self.draw
        small = self.width * embed <= DRAWN_WEIGHTS or self.width < 2 * rank
        return "weights" if small else "bartlett"


def draw_weights(
    initial: Initial, heads: int, embed: int, *, key: Array
) -> dict[str, Array]:
    """`W_K`, `W_Q`: `(heads, width, embed)`, and `w`: `(heads, embed)`."""
    assert isinstance(initial.width, int)
    key_k, key_q, key_w = jax.random.split(key, 3)
    shape = (heads, initial.width, embed)
    scale = initial.omega / np.sqrt(initial.width)
    return {
        "W_K": scale * jax.random.normal(key_k, shape, jnp.float64),
        "W_Q": scale * jax.random.normal(key_q, shape, jnp.float64),
        "w": draw_values(initial, heads, embed, key=key_w),
    }


def draw_values(initial: Initial, heads: int, embed: int, *, key: Array) -> Array:
    """`w`: `(heads, embed)`."""
    return initial.value_scale * jax.random.normal(key, (heads, embed), jnp.float64)


def factor_of(
    weights: Mapping[str, Array], basis: Float[Array, "basis embed"]
) -> Float[Array, "heads rows columns"]:
    """A factor F with `FᵀF` the Gram matrix of `[W_K E, W_Q E]`, at most 2r rows."""
    both = jnp.concatenate([weights["W_K"] @ basis.T, weights["W_Q"] @ basis.T], -1)
    if both.shape[1] <= both.shape[2]:
        return both
    return jnp.linalg.qr(both, mode="r")


def bartlett_factor(
    initial: Initial, heads: int, rank: int, *, key: Array
) -> Float[Array, "heads rows columns"]:
    """A factor of a Wishart matrix with `width` degrees of freedom, in O(r²) draws.

    `F` is upper triangular with `F[i, i]² ~ χ²(width − i)` and standard normal entries
    above, times `omega / sqrt(width)`: then `FᵀF` has the law of the Gram matrix of
    `[W_K E, W_Q E]` (Bartlett's decomposition).
    """
    assert isinstance(initial.width, int)
    size = 2 * rank
    key_chi, key_normal = jax.random.split(key)
    freedom = initial.width - jnp.arange(size, dtype=jnp.float64)
    chi = jnp.sqrt(
        jax.random.chisquare(key_chi, freedom, (heads, size), dtype=jnp.float64)
    )
    above = jax.random.normal(key_normal, (heads, size, size), jnp.float64)
    factor = jnp.triu(above, 1) + jnp.eye(size) * chi[:, :, None]
    return factor * (initial.omega / np.sqrt(initial.width))


def check_weights(
    given: Mapping[str, Any], *, heads: int, embed: int
) -> dict[str, Array]:
    """Given initial weights, checked.

    `W_K`, `W_Q`: `(heads, width, embed)`, rows are hidden units; `w`: `(heads, embed)`.
    """
    wanted = {
        "W_K": (heads, "width", embed),
        "W_Q": (heads, "width", embed),
        "w": (heads, embed),
    }
    extra, missing = sorted(set(given) - set(wanted)), sorted(set(wanted) - set(given))
    if extra or missing:
        raise ValueError(
            f"The given weights are {sorted(given)}; they must be W_K and W_Q with "
            f"shape (heads, width, embed) and w with shape (heads, embed)."
        )
    arrays = {name: np.asarray(given[name], float) for name in wanted}
    for name, array in arrays.items():
        shape = wanted[name]
        same = len(shape) == array.ndim and all(
            s == "width" or s == n for s, n in zip(shape, array.shape, strict=True)
        )
        if not same:
            hint = _orientation_hint(array.shape, shape)
            raise ValueError(
                f"{name} has shape {array.shape}; it must have {shape}.{hint}"
            )
        if not np.isfinite(array).all():
            bad = int((~np.isfinite(array)).sum())
            raise ValueError(
                f"{name} has {bad} entries that are not finite: mend them first."
            )
    if arrays["W_K"].shape != arrays["W_Q"].shape:
        raise ValueError(
            f"W_K and W_Q have shapes {arrays['W_K'].shape} and {arrays['W_Q'].shape}; "
            "they must have the same width."
        )
    return {name: jnp.asarray(array) for name, array in arrays.items()}


def _orientation_hint(given: tuple[int, ...], wanted: tuple[Any, ...]) -> str:
    if len(given) == 3 and given[1] == wanted[-1]:
        return " It looks transposed: rows must be hidden units, columns the embedding."
    if len(given) == len(wanted) - 1:
        return " The first axis must be the head."
    return ""
