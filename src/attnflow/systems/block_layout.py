"""How batches of sequence classes are cut into blocks."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from attnflow.data.class_counts import Counts
from attnflow.forms.token_classes import TokenFrame
from attnflow.systems.block_batches import BlockBatches, Blocks, Samples

# With more classes to a block products are larger, with fewer more places are empty.
CLASSES_PER_BLOCK = 4
WIDTH_STEP = 4


def block_of(classes: int) -> Int[np.ndarray, " classes"]:
    """The block of each class: equal ones of about four, where K has such a divisor."""
    most = max(classes // CLASSES_PER_BLOCK, 1)
    count = max(d for d in range(1, most + 1) if classes % d == 0)
    return np.arange(classes) * count // classes


def block_width(drawn: Counts, classes: int) -> int:
    """How many places a block needs for its samples in every batch."""
    blocks = block_of(classes)[drawn.label]
    most = max(int((blocks == b).sum(axis=1).max()) for b in range(blocks.max() + 1))
    return -(-most // WIDTH_STEP) * WIDTH_STEP


class Parts(NamedTuple):
    """What a system of blocks is made of, beside its frame."""

    blocks: Blocks
    samples: Samples


def block_parts(frame: TokenFrame, drawn: Counts, *, width: int) -> Parts:
    """Batches cut into blocks that are `width` places wide."""
    kept = _Kept(
        support=np.asarray(frame.support),
        present=np.asarray(frame.mass) > 0,
        query=np.asarray(frame.query),
        label=np.asarray(frame.label),
    )
    owners = np.bincount(kept.support[kept.present], minlength=len(frame.weight))
    blocks, lone_of = _blocks(kept, owners, frame.queries)
    place = _places(drawn.label, block_of(frame.classes), width)
    return Parts(blocks, _samples(kept, drawn, place, (blocks, lone_of), width))


def block_batches(frame: TokenFrame, drawn: Counts, *, width: int) -> BlockBatches:
    """The system of batches, cut into blocks that are `width` places wide."""
    parts = block_parts(frame, drawn, width=width)
    return BlockBatches(frame, *parts, drawn.label.shape[1])


class _Kept(NamedTuple):
    """The frame's numbers on the host, where loops over classes cost little."""

    support: np.ndarray
    present: np.ndarray
    query: np.ndarray
    label: np.ndarray


def _blocks(kept: _Kept, owners: np.ndarray, queries: int) -> tuple[Blocks, np.ndarray]:
    """The blocks, and for each row its place among the lone ones of its block."""
    support, present = kept.support, kept.present
    block = block_of(len(support))
    shared = np.flatnonzero(owners > 1)
    each = [
        [(row, n) for n in np.flatnonzero(block == b) for row in support[n][present[n]]]
        for b in range(block.max() + 1)
    ]
    alone = [[(row, n) for row, n in rows if owners[row] == 1] for rows in each]
    most = max(map(len, alone))
    lone, asker = np.zeros((2, len(alone), most), np.int64)
    there = np.zeros((len(alone), most), np.int64)
    lone_of = np.full(len(owners), -1)
    for b, rows in enumerate(alone):
        for i, (row, n) in enumerate(rows):
            lone[b, i], there[b, i], lone_of[row] = row, 1, i
            asker[b, i] = kept.query[n]
    made = Blocks(
        *(jnp.asarray(x) for x in (shared, lone, asker)),
        source=_source(
            (queries, len(owners)), shared, lone=lone, asker=asker, there=there
        ),
        order=_order(shared, lone, there, len(owners)),
    )
    return made, lone_of


def _source(
    shape: tuple[int, int],
    shared: np.ndarray,
    *,
    lone: np.ndarray,
    asker: np.ndarray,
    there: np.ndarray,
) -> jnp.ndarray:
    """Where each entry of Z stands among the pushes."""
    queries, first = shape[0], shape[0] * len(shared)
    source = np.full(shape, first + lone.size)
    source[:, shared] = np.arange(first).reshape(queries, -1)
    kept = there > 0
    source[asker[kept], lone[kept]] = first + np.flatnonzero(kept.ravel())
    return jnp.asarray(source)


def _order(
    shared: np.ndarray, lone: np.ndarray, there: np.ndarray, rows: int
) -> jnp.ndarray | None:
    """Where each row stands; none where rows are in order already.

    Rows of no class stand behind all others, where there is nothing.
    """
    whole = np.concatenate([shared, np.where(there > 0, lone, -1).ravel()])
    if np.array_equal(whole, np.arange(rows)):
        return None
    order = np.full(rows, len(whole))
    order[whole[whole >= 0]] = np.flatnonzero(whole >= 0)
    return jnp.asarray(order)


def _places(label: np.ndarray, block: np.ndarray, width: int) -> np.ndarray:
    """A place for each sample: block · width + its number within the block."""
    mine = block[label]
    place = np.zeros_like(label)
    for b in range(block.max() + 1):
        number = np.cumsum(mine == b, axis=1) - 1
        place = np.where(mine == b, b * width + number, place)
    return place


def _samples(
    kept: _Kept,
    drawn: Counts,
    place: np.ndarray,
    made: tuple[Blocks, np.ndarray],
    width: int,
) -> Samples:
    blocks, lone_of = made
    steps, (count, most) = len(drawn.label), blocks.lone.shape
    slots, kind = count * width, drawn.counts.dtype
    shared = np.zeros((steps, slots, len(blocks.shared)), kind)
    lone = np.zeros((steps, slots, most), kind)
    label, query = np.zeros((2, steps, slots), np.int32)
    support, present = kept.support, kept.present
    columns = np.searchsorted(np.asarray(blocks.shared), support)
    for n in range(len(support)):
        step, sample = np.nonzero(drawn.label == n)
        at = place[step, sample]
        mine = drawn.counts[step, sample]
        alone = present[n] & (lone_of[support[n]] >= 0)
        several = present[n] & ~alone
        lone[step[:, None], at[:, None], lone_of[support[n][alone]]] = mine[:, alone]
        shared[step[:, None], at[:, None], columns[n][several]] = mine[:, several]
        label[step, at] = kept.label[n]
        query[step, at] = kept.query[n]
    shaped = [x.reshape(steps, count, width, *x.shape[2:]) for x in (shared, lone)]
    placed = [x.reshape(steps, count, width) for x in (label, query)]
    return Samples(*(jnp.asarray(x) for x in (*shaped, *placed)))
