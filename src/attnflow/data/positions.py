"""Tokens that are pairs of a word and a position."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import Array

from attnflow.data.changed import AbstractChanged, refuse_columns, refuse_orbits
from attnflow.data.sequences import Sequences

# The position of queries that are no keys: they stand nowhere.
NOWHERE = -1


@dataclass(frozen=True)
class Positions(AbstractChanged):
    """Samples of another task, whose tokens also know where they stand.

    The word x at position i is the token

    - `sum`: `x` and `length` times a unit vector of the position, along coordinates of
      their own. Words and positions alone are in the vocabulary too, named `v1` and
      `at 1`, and tables are shown on them: a score of two tokens is the sum of four.
    - `product`: `x ⊗ e_i`, so that one word at two positions is two unrelated tokens.

    Tokens are named `v1@1`. The span of sums has as many dimensions as there are words
    and positions together, and so much is what a run costs.

    **Arguments:**

    - `order`: positions as the other task `gives` its keys, or `shuffled` in each
      sample. Many tasks give their tokens in an order that tells them apart.

    Queries that are not the keys themselves, such as a prompt, stand at no position.
    """

    task: Any
    how: Literal["sum", "product"] = "sum"
    length: float = 1.0
    order: Literal["gives", "shuffled"] = "gives"

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(f"length is {self.length}: it must be positive. Use 1.")
        if self.how not in ("sum", "product"):
            raise ValueError(f"how is {self.how!r}: use 'sum' or 'product'.")
        if self.order not in ("gives", "shuffled"):
            raise ValueError(f"order is {self.order!r}: use 'gives' or 'shuffled'.")
        refuse_orbits(self.task, "a position")

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return self.task.random or self.order == "shuffled"

    def changed(self, data: Sequences, *, key: Array | None) -> Sequences:
        """The samples over pairs of words and positions."""
        refuse_columns(data, "a position")
        if self.order == "shuffled":
            assert key is not None
            data = _shuffled(data, key)
        length = data.key.shape[1]
        vectors, names = self._vocabulary(data, length)
        words, own = len(data.names), np.arange(length)
        pair = _places(words, length, first=self._first(words, length))
        queries_are_keys = _queries_are_keys(data)
        if self.how == "product" and not queries_are_keys:
            raise ValueError(
                "Some queries are no keys and stand at no position, and products of "
                "words and positions need one. Use how='sum'."
            )
        where = own if queries_are_keys else NOWHERE
        return replace(
            data,
            vectors=jax.device_put(vectors),
            scale=None,
            key=jax.device_put(pair(np.asarray(data.key), own)),
            query=jax.device_put(pair(np.asarray(data.query), where)),
            names=names,
            shown=self._shown(data, length),
        )

    def changed_test(self, data: Sequences, *, key: Array | None) -> Sequences:
        """Test samples likewise."""
        return self.changed(data, key=key)

    def _first(self, words: int, length: int) -> int:
        """The index of the first pair: words and positions stand before sums."""
        return words + length if self.how == "sum" else 0

    def _shown(self, data: Sequences, length: int) -> tuple[int, ...]:
        words = len(data.names)
        if self.how == "sum":
            return (*data.shown, *range(words, words + length))
        return tuple(i * words + t for i in range(length) for t in data.shown)

    def _vocabulary(
        self, data: Sequences, length: int
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Vectors and names: pairs by position, then by word."""
        tokens, places = np.asarray(data.tokens), np.eye(length)
        pairs = [f"{name}@{i + 1}" for i in range(length) for name in data.names]
        if self.how == "product":
            return np.kron(places, tokens), tuple(pairs)
        words = np.pad(tokens, ((0, 0), (0, length)))
        stands = np.pad(self.length * places, ((0, 0), (tokens.shape[1], 0)))
        sums = (stands[:, None, :] + words[None, :, :]).reshape(-1, words.shape[1])
        names = (*data.names, *(f"at {i + 1}" for i in range(length)), *pairs)
        return np.concatenate([words, stands, sums]), names


def _places(words: int, length: int, *, first: int) -> Any:
    """From words and positions to indices of pairs; a word itself at no position."""

    def pair(word: np.ndarray, position: Any) -> np.ndarray:
        found = np.where(position == NOWHERE, word, first + position * words + word)
        return found.astype(np.int32)

    return pair


def _queries_are_keys(data: Sequences) -> bool:
    return np.array_equal(np.asarray(data.key), np.asarray(data.query))


def _shuffled(data: Sequences, key: Array) -> Sequences:
    """The same samples, each in an order of its own."""
    shape = data.key.shape
    order = np.argsort(np.asarray(jax.random.uniform(key, shape)), axis=1)
    names = ["key", "mass", "payload"]
    if _queries_are_keys(data):
        names += ["query", "query_weight"]
    arrays = {n: a for n in names if (a := getattr(data, n)) is not None}
    moved = {n: np.take_along_axis(np.asarray(a), order, 1) for n, a in arrays.items()}
    return replace(data, **{n: jax.device_put(a) for n, a in moved.items()})
