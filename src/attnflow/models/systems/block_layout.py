"""How batches of sequence classes are cut into blocks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from attnflow.data.class_counts import Counts
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.systems.block_batches import BlockBatches, Blocks, Samples

# With more classes to a block products are larger, with fewer more places are empty.
CLASSES_PER_BLOCK = 2
WIDTH_STEP = 2
# Fullest blocks are as full as these numbers of deviations beyond the mean in six and
# in nineteen of twenty batches or so; the few fuller ones have a width of their own.
DEVIATIONS = (1.25, 2.25)
# The last width has room for blocks that one draw of millions exceeds.
LONGEST = 5.0
# Below so many logits the empty places cost less than a program for each width.
FEWEST_LOGITS = 10_000


def block_of(query: Sequence[int] | np.ndarray) -> Int[np.ndarray, " classes"]:
    """The block of each class: about two classes, which have the same query."""
    query = np.asarray(query)
    block, count = np.zeros(len(query), np.int64), 0
    for token in np.unique(query):
        mine = np.flatnonzero(query == token)
        parts = np.array_split(mine, -(-len(mine) // CLASSES_PER_BLOCK))
        for number, part in enumerate(parts):
            block[part] = count + number
        count += len(parts)
    return block


def block_widths(
    labels: Sequence[Int[np.ndarray, "steps batch"]], block: np.ndarray, columns: int
) -> tuple[int, ...]:
    """Widths that blocks can have; the last holds all samples of every seed's batches.

    They depend on how samples fall on average, so that other seeds need no other
    program, unless a block is fuller than all but one in millions.
    """
    batch = labels[0].shape[1]
    share = np.bincount(block).max() / len(block)
    mean, spread = batch * share, np.sqrt(batch * share * (1 - share))
    most = max(int(_fullest(label, block).max()) for label in labels)
    usual = mean + np.array(DEVIATIONS) * spread
    widths = [*usual, most] if batch * columns >= FEWEST_LOGITS else [most]
    even = -(-np.ceil(widths).astype(int) // WIDTH_STEP) * WIDTH_STEP
    room = max(most, math.ceil(mean + LONGEST * spread))
    last = min(-(-room // (2 * WIDTH_STEP)) * 2 * WIDTH_STEP, batch)
    return (*sorted({int(width) for width in even[:-1] if width < last}), last)


def block_batches(
    frame: TokenFrame, drawn: Counts, *, widths: tuple[int, ...]
) -> BlockBatches:
    """The system of batches, cut into blocks of these widths."""
    kept = _Kept(
        support=np.asarray(frame.support),
        present=np.asarray(frame.mass) > 0,
        query=np.asarray(frame.query),
        label=np.asarray(frame.label),
        block=block_of(np.asarray(frame.query)),
    )
    layout = _rows(kept, len(frame.weight))
    return BlockBatches(
        frame=frame,
        blocks=_blocks(kept, layout, (frame.queries, len(frame.weight))),
        samples=_samples(kept, layout, drawn, widths),
        batch=drawn.label.shape[1],
        widths=widths,
        single=bool((np.asarray(frame.column_weight) == 1).all()),
    )


class _Kept(NamedTuple):
    """The frame's numbers on the host, where loops over classes cost little."""

    support: np.ndarray
    present: np.ndarray
    query: np.ndarray
    label: np.ndarray
    block: np.ndarray

    def rows(self, block: int) -> np.ndarray:
        """The rows that a block's classes have."""
        mine = self.block == block
        return np.unique(self.support[mine][self.present[mine]])


class _Rows(NamedTuple):
    """Shared rows, those of each block alone, and each row's index in its part."""

    shared: np.ndarray
    lone: list[np.ndarray]
    is_lone: np.ndarray
    index_of: np.ndarray


def _fullest(label: np.ndarray, block: np.ndarray) -> Int[np.ndarray, " steps"]:
    """How many samples the fullest block of each batch has."""
    mine = block[label]
    sizes = [np.count_nonzero(mine == b, axis=1) for b in range(block.max() + 1)]
    return np.max(sizes, axis=0)


def _rows(kept: _Kept, rows: int) -> _Rows:
    of_block = [kept.rows(b) for b in range(int(kept.block.max()) + 1)]
    owners = np.bincount(np.concatenate(of_block), minlength=rows)
    shared = np.flatnonzero(owners > 1)
    lone = [mine[owners[mine] == 1] for mine in of_block]
    index = np.zeros(rows, np.int64)
    for part in (shared, *lone):
        index[part] = np.arange(len(part))
    return _Rows(shared, lone, owners == 1, index)


def _blocks(kept: _Kept, layout: _Rows, shape: tuple[int, int]) -> Blocks:
    shared, lone = layout.shared, layout.lone
    most = max(map(len, lone))
    filled = np.zeros((len(lone), most), np.int64)
    there = np.arange(most) < np.array([len(mine) for mine in lone])[:, None]
    filled[there] = np.concatenate(lone)
    first = np.unique(kept.block, return_index=True)[1]
    query = kept.query[first]
    rest = np.setdiff1d(np.arange(shape[1]), [*shared, *filled[there]])
    order = np.zeros(shape[1], np.int64)
    order[shared] = np.arange(len(shared))
    order[filled[there]] = len(shared) + np.flatnonzero(there)
    order[rest] = len(shared) + filled.size + np.arange(len(rest))
    behind = shape[0] * len(shared)
    source = np.full(shape, behind + filled.size)
    source[:, shared] = np.arange(behind).reshape(shape[0], -1)
    asker = np.broadcast_to(query[:, None], filled.shape)[there]
    source[asker, filled[there]] = behind + np.flatnonzero(there)
    arrays = (shared, filled, rest, query, source, order)
    return Blocks(*map(on_device, arrays))


def _samples(
    kept: _Kept, layout: _Rows, drawn: Counts, widths: tuple[int, ...]
) -> Samples:
    steps, width = len(drawn.label), widths[-1]
    count, kind = kept.block.max() + 1, drawn.counts.dtype
    slots, most = count * width, max(map(len, layout.lone))
    shared = np.zeros((steps * slots, len(layout.shared)), kind)
    lone = np.zeros((steps * slots, most), kind)
    label = np.zeros(steps * slots, np.int32)
    at = _slots(drawn.label, kept.block, width)
    for n in range(len(kept.support)):
        of_class = drawn.label.ravel() == n
        counts, rows = drawn.counts.reshape(-1, drawn.counts.shape[-1]), kept.support[n]
        mine = counts[of_class]
        alone = layout.is_lone[rows]
        for part, here in ((lone, alone), (shared, ~alone)):
            here = here & kept.present[n]
            part[at[of_class][:, None], layout.index_of[rows[here]]] = mine[:, here]
        label[at[of_class]] = kept.label[n]
    fits = np.searchsorted(widths, _fullest(drawn.label, kept.block))
    shape = (steps, count, width)
    return Samples(
        shared=on_device(shared.reshape(*shape, shared.shape[1])),
        lone=on_device(lone.reshape(*shape, lone.shape[1])),
        label=on_device(label.reshape(shape)),
        fits=on_device(fits.astype(np.int32)),
    )


def _slots(label: np.ndarray, block: np.ndarray, width: int) -> np.ndarray:
    """A slot for each sample of all batches: after those of its block before it."""
    mine, count = block[label], block.max() + 1
    number = np.zeros_like(label)
    for b in range(count):
        number = np.where(mine == b, np.cumsum(mine == b, axis=1) - 1, number)
    step = np.arange(len(label))[:, None]
    return ((step * count + mine) * width + number).ravel()
