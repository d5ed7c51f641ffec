"""Variants of a task: noisy labels, positions, a trained prompt, a causal mask.

A variant changes the samples of another task, which draws what it would draw by itself:
runs with and without the change compare sample by sample.
"""

import abc
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Array

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.symmetries import Symmetry
from attnflow.data.token_sequences import Sequences, Task, on_device

# What a variant draws must be independent of what the task draws with the same key.
VARIANT_STREAM = 101
PER_SAMPLE = ("key", "mass", "query", "query_weight", "label", "group", "payload")
PROMPT = "prompt"


class AbstractVariant(Task):
    """A task around another one, which is its field `task`.

    It has no symmetry unless it says so: most changes refuse orbits of the other task.
    """

    task: Task

    @abc.abstractmethod
    def change(self, data: Sequences, *, key: Key | None) -> Sequences:
        """Samples of the other task after the change; `key` is for what it draws."""

    @abc.abstractmethod
    def change_test(self, data: Sequences, *, key: Key | None) -> Sequences:
        """Test samples of the other task after the change."""

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return self.task.random

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """The samples."""
        return self.change(self.task.sequences(key=key), key=_variant_key(key))

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Samples to test on, where the other task has some."""
        data = self.task.test_sequences(key=key)
        return None if data is None else self.change_test(data, key=_variant_key(key))


@dataclass(frozen=True)
class NoisyLabels(AbstractVariant):
    """Label noise: samples of another task, with labels that are flipped or perturbed.

    **Arguments:**

    - `task`: the other task. Its test samples keep their labels.
    - `flip`: the probability with which a label has the other sign.
    - `deviation`: the standard deviation of what is added to labels.

    In a drawn training set labels are drawn once. In a population every sample is
    there with each of its labels, by their probabilities: a flip makes two of it, and
    so does an addition, of `±deviation`. Under the squared loss that is the population
    for additions of every law with this deviation. Noise that is drawn afresh at each
    step of a descent is `Batches(…, flip=…)`.
    """

    task: Task
    flip: float = 0.0
    deviation: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.flip <= 1:
            raise ValueError(
                f"flip is {self.flip}: a probability lies in [0, 1]. Use flip=0.1."
            )
        if not 0 <= self.deviation < float("inf"):
            raise ValueError(
                f"deviation is {self.deviation}: a standard deviation is finite and "
                "not negative. Use deviation=0.1."
            )

    @property
    def symmetry(self) -> Symmetry | None:
        """That of the other task: labels of one orbit are wrong alike."""
        return self.task.symmetry

    def change(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The samples with noisy labels: drawn once, or each label by its chance."""
        if self.task.random:
            assert key is not None
            return replace(data, label=self._draw(data.label, key))
        label = np.asarray(data.label)
        if self.flip:
            data = _double(data, self.flip, (label, -label))
            label = np.concatenate([label, -label])
        if self.deviation:
            shifts = label + self.deviation, label - self.deviation
            data = _double(data, 0.5, shifts)
        return data

    def change_test(self, data: Sequences, *, key: Key | None) -> Sequences:
        """Test samples as they are."""
        return data

    def _draw(self, label: Array, key: Key) -> Array:
        keys = random.split(key)
        wrong = random.bernoulli(keys[0], self.flip, label.shape)
        added = self.deviation * random.normal(keys[1], label.shape)
        return on_device(np.where(wrong, -np.asarray(label), label) + added)


@dataclass(frozen=True)
class Positions(AbstractVariant):
    """Positional encodings, added to another task's tokens or multiplied with them.

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

    task: Task
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
        _refuse_orbits(self.task, "a position")

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return self.task.random or self.order == "shuffled"

    def change(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The samples over pairs of words and positions."""
        _refuse_columns(data, "a position")
        if self.order == "shuffled":
            assert key is not None
            data = _shuffle(data, key)
        queries_are_keys = _queries_are_keys(data)
        if self.how == "product" and not queries_are_keys:
            raise ValueError(
                "Some queries are not keys and have no position, and products of "
                "words and positions need one. Use how='sum'."
            )
        length, words = data.key.shape[1], len(data.names)
        # Words and positions stand before sums.
        first = words + length if self.how == "sum" else 0
        offset = first + words * np.arange(length)
        query = np.asarray(data.query) + (offset if queries_are_keys else 0)
        vectors, names = self._vocabulary(data, length)
        return replace(
            data,
            vectors=on_device(vectors),
            scale=None,
            key=on_device((np.asarray(data.key) + offset).astype(np.int32)),
            query=on_device(query.astype(np.int32)),
            names=names,
            shown=self._shown(data, length),
        )

    def change_test(self, data: Sequences, *, key: Key | None) -> Sequences:
        """Test samples over the same pairs."""
        return self.change(data, key=key)

    def _shown(self, data: Sequences, length: int) -> tuple[int, ...]:
        words = len(data.names)
        if self.how == "sum":
            return (*data.shown, *range(words, words + length))
        return tuple(i * words + t for i in range(length) for t in data.shown)

    def _vocabulary(
        self, data: Sequences, length: int
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Vectors and names: pairs by position, then by word."""
        tokens, positions = data.host_tokens, np.eye(length)
        pairs = [f"{name}@{i + 1}" for i in range(length) for name in data.names]
        if self.how == "product":
            return np.kron(positions, tokens), tuple(pairs)
        words = np.pad(tokens, ((0, 0), (0, length)))
        stands = np.pad(self.length * positions, ((0, 0), (tokens.shape[1], 0)))
        sums = (stands[:, None, :] + words[None, :, :]).reshape(-1, words.shape[1])
        names = (*data.names, *(f"at {i + 1}" for i in range(length)), *pairs)
        return np.concatenate([words, stands, sums]), names


@dataclass(frozen=True)
class PromptQuery(AbstractVariant):
    """Trained prompt: samples of another task, each read by one query that is trained.

    The prompt is a token p along a coordinate of its own, which is never a key. So
    `W_Q p` is a column that no other token sees: a free vector q, trained with the
    weights. The score of a key x is `⟨W_K x, q⟩`, or `⟨x, q⟩` for one merged matrix,
    where `q = W_KQ p` and keys have no weights at all. Every form follows it exactly.

    **Arguments:**

    - `task`: the other task, whose own queries are left out.
    - `length`: of p. The trained vector is `length` times a column that starts as the
      others do and follows the same rule, so that q learns `length²` times as fast.
    """

    task: Task
    length: float = 1.0

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(
                f"length is {self.length}: a prompt of no length asks nothing. Use 1."
            )
        _refuse_orbits(self.task, "a prompt")

    def change(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The samples with the prompt as their only query."""
        _refuse_columns(data, "a prompt")
        if PROMPT in data.names:
            raise ValueError(
                f"There is a token {PROMPT!r} already: wrap the task in one "
                "PromptQuery."
            )
        count, embed = data.vectors.shape
        vectors = np.zeros((count + 1, embed + 1))
        vectors[:count, :embed] = data.host_tokens
        vectors[count, embed] = self.length
        samples = len(data.label)
        return replace(
            data,
            vectors=on_device(vectors),
            scale=None,
            query=on_device(np.full((samples, 1), count, np.int32)),
            query_weight=on_device(np.ones((samples, 1))),
            mask=None,
            names=(*data.names, PROMPT),
            shown=(*data.shown, count),
        )

    def change_test(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The test samples with the same prompt."""
        return self.change(data, key=key)


@dataclass(frozen=True)
class Causal(AbstractVariant):
    """Causal mask: queries of another task see the keys up to their own position.

    Every position is a query. Absent keys (of mass 0) stay absent, and a sample must
    not begin with one.
    """

    task: Task

    def __post_init__(self) -> None:
        _refuse_orbits(self.task, "a mask")

    def change(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The samples with the mask."""
        length = data.key.shape[1]
        if not _queries_are_keys(data):
            raise ValueError(
                "A causal mask is for queries that are the keys themselves, and here "
                "are others. Leave the mask out, or give data a mask of their own."
            )
        if not (np.asarray(data.mass)[:, 0] > 0).all():
            raise ValueError(
                "A sample begins with an absent key, and its first query would see "
                "none. Put absent keys last."
            )
        return replace(data, mask=on_device(np.tri(length)))

    def change_test(self, data: Sequences, *, key: Key | None) -> Sequences:
        """The test samples with the mask."""
        return self.change(data, key=key)


def _variant_key(key: Key | None) -> Key | None:
    return None if key is None else random.fold_in(key, VARIANT_STREAM)


def _refuse_orbits(task: Task, what: str) -> None:
    if task.symmetry is not None:
        raise ValueError(
            f"{type(task).__name__} gives one sample per orbit of a symmetry, of which "
            f"{what} knows nothing. Use all samples, as by population='exact'."
        )


def _refuse_columns(data: Sequences, what: str) -> None:
    if data.columns is not None:
        raise ValueError(
            f"These data hold what a sign step adds to each token, not the tokens' "
            f"coordinates, to which {what} would add some. Use explicit vectors."
        )


def _double(
    data: Sequences, chance: float, labels: tuple[np.ndarray, np.ndarray]
) -> Sequences:
    """Every sample twice, with either label; `chance` is that of the second."""
    arrays = {name: getattr(data, name) for name in PER_SAMPLE}
    twice = {n: np.concatenate([a, a]) for n, a in arrays.items() if a is not None}
    weight = np.asarray(data.probability)
    twice["label"] = np.concatenate(labels)
    twice["probability"] = np.concatenate([(1 - chance) * weight, chance * weight])
    return replace(data, **{n: on_device(a) for n, a in twice.items()})


def _queries_are_keys(data: Sequences) -> bool:
    return np.array_equal(np.asarray(data.key), np.asarray(data.query))


def _shuffle(data: Sequences, key: Key) -> Sequences:
    """The same samples, each in an order of its own."""
    order = np.argsort(random.uniform(key, data.key.shape), axis=1)
    names = ["key", "mass", "payload"]
    if _queries_are_keys(data):
        names += ["query", "query_weight"]
    arrays = {n: a for n in names if (a := getattr(data, n)) is not None}
    moved = {n: np.take_along_axis(np.asarray(a), order, 1) for n, a in arrays.items()}
    return replace(data, **{n: on_device(a) for n, a in moved.items()})
