"""Initial weights: their law, width and scale, drawn or given by a user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    draw_entries,
)

# Up to this many weights they are drawn themselves, so that every form of one seed
# starts from the same ones; beyond, only their Gram factor is.
DRAWN_WEIGHTS = 2**16
# Sizes of axes, with names for the widths that may differ.
OpenShape = tuple[int | str, ...]
Nested = tuple[tuple[tuple[float, ...], ...], ...]
"""Entries of a weight by head, row and column, in a form that records can hold."""


@dataclass(frozen=True)
class Scores:
    """Initial scales of keys and queries, where they differ.

    **Arguments:**

    - `keys`, `queries`: ω of `W_K` and of `W_Q`, in the place of that of `Initial`; 0
      begins at zero. With a trained prompt (`PromptQuery`), `W_Q` is the prompt:
      `Scores(keys=1.0, queries=0.0)` has random keys and the prompt 0.
    - `W_K`, `W_Q`: given weights, `(heads, width, embed)`, the same for all seeds; what
      `Scores.given` makes of arrays.
    """

    keys: float | None = None
    queries: float | None = None
    W_K: Nested | None = None
    W_Q: Nested | None = None

    def __post_init__(self) -> None:
        for name in ("keys", "queries"):
            scale = getattr(self, name)
            if scale is not None and not (scale >= 0 and np.isfinite(scale)):
                raise ValueError(
                    f"{name} is {scale}: a scale is not negative. Use {name}=0.1, or 0."
                )

    @classmethod
    def given(cls, **weights: ArrayLike) -> "Scores":
        """The record of given arrays, `W_K` or `W_Q` or both."""
        arrays: dict[str, Any] = {n: _nested(np.asarray(x)) for n, x in weights.items()}
        return cls(**arrays)

    def of(self, name: str) -> np.ndarray | None:
        """A given weight, if it is given."""
        weight = getattr(self, name)
        return None if weight is None else np.array(weight, float)


def _nested(array: np.ndarray) -> Nested:
    rows = array.tolist()
    return tuple(tuple(tuple(row) for row in head) for head in rows)


@dataclass(frozen=True)
class Initial:
    """Initial weights: width and scale of keys and queries, and the law of the values.

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
    - `scores`: where keys and queries begin otherwise than alike.
    - `shared`: one head of keys and queries, through which all heads read: `W_K` and
      `W_Q` are `(1, width, embed)`.
    """

    width: int | Literal["infinite"] = 128
    omega: float = 0.1
    values: AbstractValues = Vector()  # noqa: RUF009 (frozen)
    draw: Literal["auto", "weights", "bartlett", "limit", "expected"] = "auto"
    law: Law = "normal"
    merged: bool = False
    scores: Scores | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        if self.width != "infinite" and self.width < 1:
            raise ValueError(
                f"width is {self.width}; it must be a positive integer or 'infinite'. "
                "Use width=128."
            )
        if not (self.omega >= 0 and np.isfinite(self.omega)):
            raise ValueError(
                f"omega is {self.omega}; a scale is not negative. Use omega=0.1."
            )
        if self.merged and self.scores is not None:
            raise ValueError(
                "scores are of keys and queries, and one merged matrix has neither: "
                "leave out scores, or use merged=False."
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

    def score_heads(self, heads: int) -> int:
        """How many heads of keys and queries there are for so many of values."""
        return 1 if self.shared else heads

    @property
    def scales(self) -> tuple[float, float]:
        """ω of keys and of queries."""
        own = self.scores or Scores()
        return tuple(  # pyright: ignore[reportReturnType] # two of them
            self.omega if scale is None else scale for scale in (own.keys, own.queries)
        )

    def scale_by_column(self, rank: int) -> float | np.ndarray:
        """ω of keys and then of queries for so many columns each; one where alike."""
        return self.omega if self.scores is None else np.repeat(self.scales, rank)

    @property
    def is_alike(self) -> bool:
        """Whether keys and queries begin alike."""
        return self.scores is None or (
            not self.is_given and self.scales[0] == self.scales[1]
        )

    @property
    def is_given(self) -> bool:
        """Whether some initial weights are part of the record."""
        own = self.scores
        return own is not None and (own.W_K is not None or own.W_Q is not None)

    def stuck(self, trained: Sequence[str]) -> bool:
        """Whether attention can never start to move, if these parts are trained.

        The force on keys goes through queries, and that on queries through keys.
        """
        if self.merged:
            return False
        own = self.scores or Scores()
        weights = (own.of("W_K"), own.of("W_Q"))
        keys, queries = (
            scale == 0 if weight is None else not weight.any()
            for scale, weight in zip(self.scales, weights, strict=True)
        )
        moves = [name for name in trained if name in ("scores", "keys", "queries")]
        reached = {"keys": not queries, "queries": not keys}
        reached["scores"] = reached["keys"] or reached["queries"]
        return bool(moves) and not any(reached[name] for name in moves)

    def drawn_as(self, rank: int, embed: int) -> Literal["weights"] | Draw:
        """How the initial state is drawn: `weights`, or what reduced forms need."""
        if self.is_given:
            return "weights"
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
    heads = initial.score_heads(heads)
    if initial.merged:
        shape, scale = (heads, embed, embed), initial.omega
        return {"W_KQ": draw_entries(initial.law, scale, shape, key=key_k), **values}
    if not isinstance(initial.width, int):
        raise ValueError("There are no weights at infinite width: give a finite one.")
    shape = (heads, initial.width, embed)
    drawn: DrawnWeights = {}
    common = initial.omega / np.sqrt(initial.width)
    for name, omega, mine in zip(
        ("W_K", "W_Q"), initial.scales, (key_k, key_q), strict=True
    ):
        # One number where there is one, which a page's set-up recognises as such.
        alike = initial.scores is None
        scale = common if alike else omega / np.sqrt(initial.width)
        given = None if initial.scores is None else initial.scores.of(name)
        if given is not None and given.shape != shape:
            raise ValueError(
                f"{name} has shape {given.shape}; it must have {shape}, the heads, "
                "the width and the coordinates of tokens."
            )
        drawn[name] = (
            draw_entries(initial.law, scale, shape, key=mine)
            if given is None
            else given
        )
    return {**drawn, **values}


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
    of_values = initial.values.axes
    return {
        name: (
            heads if name in of_values else initial.score_heads(heads),
            *(known.get(axis, axis) for axis in axes),
        )
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
