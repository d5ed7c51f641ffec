"""Initial states: given weights, drawn weights, drawn Gram factors, infinite width."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.forms.initial_values import AbstractValues, Draw
from attnflow.forms.initial_vector import Vector
from attnflow.forms.laws import Law, bartlett_factor, draw_entries, shortened

# Up to this many weights they are drawn themselves, so that every form of one seed
# starts from the same ones; beyond, only their Gram factor is.
DRAWN_WEIGHTS = 2**16


@dataclass(frozen=True)
class Initial:
    """Weights of a given width, and how a token gets its value.

    **Arguments:**

    - `width`: rows of `W_K` and `W_Q`, or `infinite`.
    - `omega`: entries of `W_K`, `W_Q` have variance `omega² / width`, by `law`.
    - `values`: a `Vector`, a `Chain` or `Neurons`.
    - `draw`: `weights` themselves, their Gram factor by `bartlett` (any width at the
      cost of the tokens' rank alone), or `auto`: weights while they are few. Two more
      leave out noise: `expected` takes the Gram matrices at their expectation and
      initial values of zero, so that every symmetry of the data is kept; `limit` takes
      the same Gram matrices and normal initial values of the variance that they keep
      at large width. At infinite width keys and queries are `expected` in any case,
      and `draw` is about the values.
    """

    width: int | Literal["infinite"] = 128
    omega: float = 0.1
    values: AbstractValues = Vector()  # noqa: RUF009 (frozen)
    draw: Literal["auto", "weights", "bartlett", "limit", "expected"] = "auto"
    law: Law = "normal"

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
        if self.draw == "bartlett" and self.law != "normal":
            raise ValueError(
                f"draw is 'bartlett' but law is {self.law!r}: only normal weights have "
                "a Wishart Gram matrix. Use draw='weights', or draw='limit', which "
                "holds for every law."
            )
        if self.draw == "weights" and self.width == "infinite":
            raise ValueError(
                "draw is 'weights' but width is infinite, where there are none. Use "
                "draw='bartlett', 'limit' or 'expected', or a finite width."
            )

    def drawn_as(self, rank: int, embed: int) -> Literal["weights"] | Draw:
        """How the initial state is drawn: `weights`, or what reduced forms need."""
        if self.draw == "auto":
            return self._auto(rank, embed)
        narrow = self.width != "infinite" and self.width < 2 * rank
        if self.draw == "bartlett" and narrow:
            raise ValueError(
                f"draw is 'bartlett' but width {self.width} is below twice the rank "
                f"{rank} of the tokens, where the Gram matrix is singular. Use "
                "draw='weights'."
            )
        return self.draw

    def _auto(self, rank: int, embed: int) -> Literal["weights", "bartlett"]:
        if self.width == "infinite":
            return "bartlett"
        if self.law != "normal" or self.values.law != "normal":
            return "weights"
        few = self.width * embed <= DRAWN_WEIGHTS or self.width < 2 * rank
        small = few and self.values.is_small(embed, DRAWN_WEIGHTS)
        return "weights" if small else "bartlett"


def draw_weights(
    initial: Initial, heads: int, embed: int, *, key: Array
) -> dict[str, Array]:
    """`W_K`, `W_Q`: `(heads, width, embed)`, and the weights of the values."""
    if not isinstance(initial.width, int):
        raise ValueError("There are no weights at infinite width: give a finite one.")
    key_k, key_q, key_v = jax.random.split(key, 3)
    shape = (heads, initial.width, embed)
    scale = initial.omega / np.sqrt(initial.width)
    return {
        "W_K": draw_entries(initial.law, scale, shape, key=key_k),
        "W_Q": draw_entries(initial.law, scale, shape, key=key_q),
        **initial.values.draw(heads, embed, key=key_v),
    }


def factor_of(
    weights: Mapping[str, Array], basis: Float[Array, "basis embed"]
) -> Float[Array, "heads rows columns"]:
    """A factor F with `FᵀF` the Gram matrix of `[W_K E, W_Q E]`, at most 2r rows."""
    both = jnp.concatenate([weights["W_K"] @ basis.T, weights["W_Q"] @ basis.T], -1)
    return shortened(both)


def score_factor(
    initial: Initial, heads: int, rank: int, *, key: Array, draw: Draw = "bartlett"
) -> Float[Array, "heads rows columns"]:
    """A drawn factor of the Gram matrix of keys and queries, or the expected one, ω I.

    At infinite width every draw is as expected.
    """
    if initial.width == "infinite" or draw != "bartlett":
        eye = jnp.eye(2 * rank)
        return initial.omega * jnp.broadcast_to(eye, (heads, *eye.shape))
    factor = bartlett_factor(initial.width, 2 * rank, heads, key=key)
    return factor * (initial.omega / np.sqrt(initial.width))


def check_weights(
    given: Mapping[str, Any], initial: Initial, *, heads: int, embed: int
) -> dict[str, Array]:
    """Given initial weights, checked.

    `W_K`, `W_Q`: `(heads, width, embed)`, rows are hidden units; those of the values as
    the record `initial.values` says: `w`: `(heads, embed)` for a vector. Widths are
    taken from the arrays and must fit each other.
    """
    wanted: dict[str, tuple[Any, ...]] = {
        "W_K": (heads, "width", embed),
        "W_Q": (heads, "width", embed),
        **_open_shapes(initial.values, heads, embed),
    }
    if set(given) != set(wanted):
        listed = ", ".join(f"{n} {_written(s)}" for n, s in wanted.items())
        raise ValueError(f"The given weights are {sorted(given)}; needed are {listed}.")
    arrays = {name: np.asarray(given[name], float) for name in wanted}
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        _check_shape(name, array, wanted[name], sizes)
        if not np.isfinite(array).all():
            bad = int((~np.isfinite(array)).sum())
            raise ValueError(
                f"{name} has {bad} entries that are not finite: mend them first."
            )
    return {name: jnp.asarray(array) for name, array in arrays.items()}


def _open_shapes(
    values: AbstractValues, heads: int, embed: int
) -> dict[str, tuple[Any, ...]]:
    """Shapes of the values' weights, with names for the widths that may differ."""
    known = {"embed": embed}
    return {
        name: (heads, *(known.get(axis, axis) for axis in axes))
        for name, axes in values.axes.items()
    }


def _check_shape(
    name: str, array: np.ndarray, wanted: tuple[Any, ...], sizes: dict[str, int]
) -> None:
    fits = len(wanted) == array.ndim
    if fits:
        for want, size in zip(wanted, array.shape, strict=True):
            known = sizes.setdefault(want, size) if isinstance(want, str) else want
            fits = fits and known == size
    if not fits:
        known = ", ".join(f"{n} = {s}" for n, s in sizes.items())
        raise ValueError(
            f"{name} has shape {array.shape}; it must have {_written(wanted)}"
            f"{f' with {known}' if known else ''}."
            f"{_orientation_hint(array.shape, wanted)}"
        )


def _written(shape: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _orientation_hint(given: tuple[int, ...], wanted: tuple[Any, ...]) -> str:
    if len(given) == 3 and given[1] == wanted[-1] != given[2]:
        return " It looks transposed: rows must be hidden units, columns the embedding."
    if len(given) == len(wanted) - 1:
        return " The first axis must be the head."
    return ""
