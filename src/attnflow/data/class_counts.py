"""Sequences of finite length as counts of their tokens, drawn batch by batch."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Integer

from attnflow.data.sequence_classes import SequenceClasses


class Counts(NamedTuple):
    """Batches of sequences: the class of each, and the counts of its tokens.

    `counts` has a column for each kind of the class's own support, in the order of
    `support_of`; columns beyond a smaller support are 0.
    """

    label: Int[np.ndarray, "steps batch"]
    counts: Integer[np.ndarray, "steps batch support"]


def support_of(task: SequenceClasses) -> list[np.ndarray]:
    """The kinds that each class has, in their order."""
    return [np.flatnonzero(row) for row in task.table]


def check_length(length: int) -> None:
    """Refuse sequences without a context."""
    if length < 2:
        raise ValueError(
            f"length is {length}: a sequence ends with its query, so that it needs a "
            "length of at least 2 to have any context. Use length=128, or none for "
            "the limit of long sequences."
        )


def require_single(task: SequenceClasses) -> None:
    """Refuse kinds of several tokens, whose counts would have to be told apart."""
    if (task.counts[task.table.any(axis=0)] > 1).any():
        raise ValueError(
            "Some kinds of the context stand for several tokens, and in sequences of "
            "finite length each of them has a count of its own: give every token a "
            "kind of its own, or use long sequences (length=None)."
        )


def draw_counts(
    task: SequenceClasses,
    *,
    steps: int,
    batch: int,
    length: int,
    generator: np.random.Generator,
) -> Counts:
    """`steps` batches of sequences of `length` tokens, the query among them."""
    check_length(length)
    require_single(task)
    label = generator.integers(task.classes, size=(steps, batch))
    supports = support_of(task)
    widest = max(map(len, supports))
    counts = np.zeros((steps, batch, widest), count_type(length))
    for n, kinds in enumerate(supports):
        chosen = label == n
        drawn = generator.multinomial(
            length - 1, task.table[n, kinds], size=int(chosen.sum())
        )
        counts[chosen, : len(kinds)] = drawn
    return Counts(label, counts)


def count_type(length: int) -> type:
    """The smallest integers that hold all counts of a sequence."""
    return np.uint8 if length - 1 <= 255 else np.int32
