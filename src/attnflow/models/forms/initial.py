"""Initial weights: their law, width and scale, drawn or given by a user."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jax.typing import ArrayLike

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.models.forms.base import DrawnWeights
from attnflow.models.forms.initial_values import (
    AbstractValues,
    Draw,
    Law,
    Vector,
    check_scales,
    draw_entries,
)

# Up to this many weights they are drawn themselves, so that every form of one seed
# starts from the same ones; beyond, only their Gram factor is.
DRAWN_WEIGHTS = 2**16
# Sizes of axes, with names for the widths that may differ.
OpenShape = tuple[int | str, ...]


@dataclass(frozen=True)
class Initial:
    """Weights of a given width, and how a token gets its value.

    **Arguments:**

    - `width`: rows of `W_K` and `W_Q`, or `infinite`.
    - `omega`: entries of `W_K`, `W_Q` have variance `omega² / width`, by `law`; entries
      of a merged matrix have variance `omega²`.
    - `values`: a `Vector`, a `Chain`, `Neurons` or `ClassMeans`.
    - `draw`: `weights` themselves, their Gram factor by `bartlett` (any width at the
      cost of the tokens' rank alone), or `auto`: weights while they are few. Two more
      leave out noise: `expected` takes the Gram matrices at their expectation and
      initial values of zero, so that every symmetry of the data is kept; `limit` takes
      the same Gram matrices and normal initial values of the variance that they keep
      at large width. At infinite width keys and queries are `expected` in any case,
      and `draw` is about the values.
    - `merged`: one matrix `W_KQ`, `(heads, embed, embed)`, in the place of `W_K` and
      `W_Q`: the score of key x and query y is `xᵀ W_KQ y`, and `width` is not used.
      It is normal in the `limit` and zero as `expected`.
    - `query_omega`: the scale of `W_Q` where it is not that of `W_K`; 0 for a prompt
      that begins at zero. Attention starts to move unless both are 0.
    """

    width: int | Literal["infinite"] = 128
    omega: float = 0.1
    values: AbstractValues = Vector()  # noqa: RUF009 (frozen)
    draw: Literal["auto", "weights", "bartlett", "limit", "expected"] = "auto"
    law: Law = "normal"
    merged: bool = False
    query_omega: float | None = None

    def __post_init__(self) -> None:
        if self.query_omega is not None:
            check_scales(query_omega=self.query_omega)
            if self.merged:
                raise ValueError(
                    "query_omega is the scale of W_Q, and one merged matrix has none: "
                    "leave it out, or use merged=False."
                )
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
        wide = self.width == "infinite" and not self.merged
        if self.draw == "weights" and wide:
            raise ValueError(
                "draw is 'weights' but width is infinite, where there are none. Use "
                "draw='bartlett', 'limit' or 'expected', or a finite width."
            )

    @property
    def query_share(self) -> float:
        """The scale of `W_Q` in units of that of `W_K`."""
        return 1.0 if self.query_omega is None else self.query_omega / self.omega

    def drawn_as(self, rank: int, embed: int) -> Literal["weights"] | Draw:
        """How the initial state is drawn: `weights`, or what reduced forms need."""
        if self.draw == "auto":
            return self._auto(rank, embed)
        if self.draw == "bartlett" and self._is_narrow(rank):
            raise ValueError(
                f"draw is 'bartlett' but width {self.width} is below twice the rank "
                f"{rank} of the tokens, where the Gram matrix is singular. Use "
                "draw='weights'."
            )
        return self.draw

    @property
    def drawn_without_weights(self) -> Draw:
        """The draw of what reduced forms need, where weights are not drawn."""
        return self.draw if self.draw in ("limit", "expected") else "bartlett"

    def _auto(self, rank: int, embed: int) -> Literal["weights", "bartlett"]:
        rows = embed if self.merged else self.width
        if rows == "infinite":
            return "bartlett"
        if self.law != "normal" or self.values.law != "normal":
            return "weights"
        few = rows * embed <= DRAWN_WEIGHTS or self._is_narrow(rank)
        small = few and self.values.is_small(embed, DRAWN_WEIGHTS)
        return "weights" if small else "bartlett"

    def _is_narrow(self, rank: int) -> bool:
        """Whether the Gram matrix of keys and queries is singular."""
        if self.merged or self.width == "infinite":
            return False
        return self.width < 2 * rank


def draw_weights(initial: Initial, heads: int, embed: int, *, key: Key) -> DrawnWeights:
    """`W_K`, `W_Q`: `(heads, width, embed)`, and the weights of the values.

    Or `W_KQ`: `(heads, embed, embed)`, where keys and queries are merged.
    """
    key_k, key_q, key_v = random.split(key, 3)
    values = initial.values.draw(heads, embed, key=key_v)
    if initial.merged:
        shape, scale = (heads, embed, embed), initial.omega
        return {"W_KQ": draw_entries(initial.law, scale, shape, key=key_k), **values}
    if not isinstance(initial.width, int):
        raise ValueError("There are no weights at infinite width: give a finite one.")
    shape = (heads, initial.width, embed)
    scale = initial.omega / np.sqrt(initial.width)
    return {
        "W_K": draw_entries(initial.law, scale, shape, key=key_k),
        "W_Q": draw_entries(initial.law, initial.query_share * scale, shape, key=key_q),
        **values,
    }


def check_weights(
    weights: Mapping[str, ArrayLike], initial: Initial, *, heads: int, embed: int
) -> DrawnWeights:
    """A user's initial weights as arrays; raises where they do not fit.

    `W_K`, `W_Q`: `(heads, width, embed)`, rows are hidden units, or `W_KQ`: `(heads,
    embed, embed)`, rows are for keys, where they are merged; those of the values as
    the record `initial.values` says: `w`: `(heads, embed)` for a vector. Widths are
    taken from the arrays and must fit each other.
    """
    shapes = open_shapes(initial, heads, embed)
    if set(weights) != set(shapes):
        listed = ", ".join(f"{n} {_written(s)}" for n, s in shapes.items())
        raise ValueError(
            f"The given weights are {sorted(weights)}; needed are {listed}."
        )
    arrays = {name: np.array(weights[name], float) for name in shapes}
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        _check_shape(name, array, shapes[name], sizes)
        if not np.isfinite(array).all():
            bad = int((~np.isfinite(array)).sum())
            raise ValueError(
                f"{name} has {bad} entries that are not finite: mend them first."
            )
    return arrays


def axes_of(initial: Initial) -> dict[str, tuple[str, ...]]:
    """The axes of every weight by name, after that of the heads."""
    rows = {"W_KQ": "key_embed"} if initial.merged else {"W_K": "width", "W_Q": "width"}
    scores = {name: (axis, "embed") for name, axis in rows.items()}
    return {**scores, **initial.values.axes}


def open_shapes(initial: Initial, heads: int, embed: int) -> dict[str, OpenShape]:
    """Shapes of all weights, with names for the widths that may differ."""
    known = {"embed": embed, "key_embed": embed, "class": 2}
    return {
        name: (heads, *(known.get(axis, axis) for axis in axes))
        for name, axes in axes_of(initial).items()
    }


def _check_shape(
    name: str, array: np.ndarray, shape: OpenShape, sizes: dict[str, int]
) -> None:
    fits = len(shape) == array.ndim
    if fits:
        for axis, size in zip(shape, array.shape, strict=True):
            known = sizes.setdefault(axis, size) if isinstance(axis, str) else axis
            fits = fits and known == size
    if not fits:
        known = ", ".join(f"{n} = {s}" for n, s in sizes.items())
        raise ValueError(
            f"{name} has shape {array.shape}; it must have {_written(shape)}"
            f"{f' with {known}' if known else ''}."
            f"{_orientation_hint(array.shape, shape)}"
        )


def _written(shape: OpenShape) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _orientation_hint(actual: tuple[int, ...], shape: OpenShape) -> str:
    if len(actual) == 3 and actual[1] == shape[-1] != actual[2]:
        return " It looks transposed: rows must be hidden units, columns the embedding."
    if len(actual) == len(shape) - 1:
        return " The first axis must be the head."
    return ""
