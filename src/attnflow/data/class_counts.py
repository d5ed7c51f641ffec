"""Sequences of finite length as counts of their tokens, drawn batch by batch.

`draw_counts` draws them from a generator. `published_draws` replays the random numbers
of the published runs. These seeded Python's `random` with s and PyTorch with s + 2,
created two square layers without bias, and then drew, sample by sample, a class by
`random.choice` and its tokens by `torch.multinomial` with replacement. The latter takes
one uniform number per token to a cumulative sum in single precision, so that all of a
run's tokens can be looked up at once; and the former takes the top bits of words of a
generator that NumPy has too. `tests/data/test_published_streams.py` holds this to their
own draws.
"""

import importlib
import random
from types import ModuleType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Integer

from attnflow.data.sequence_classes import SequenceClasses
from attnflow.schema.installation import MissingData

Square = Float[np.ndarray, "tokens tokens"]
TORCH_OFFSET = 2
CELLS = 4096
# Samples whose tokens are looked up at once: as many as stay in the caches.
TOGETHER = 256


class Counts(NamedTuple):
    """Batches of sequences: the class of each, and the counts of its tokens.

    `counts` has a column for each kind of the class's own support, in the order of
    `support_of`; columns beyond a smaller support are 0.
    """

    label: Int[np.ndarray, "steps batch"]
    counts: Integer[np.ndarray, "steps batch support"]


def support_of(task: SequenceClasses) -> list[np.ndarray]:
    """The kinds of tokens in each class's context, in their order."""
    return [np.flatnonzero(row) for row in task.table]


def check_length(length: int) -> None:
    """Raise where sequences are too short to have a context."""
    if length < 2:
        raise ValueError(
            f"length is {length}: a sequence ends with its query, so that it needs a "
            "length of at least 2 to have any context. Use length=128, or none for "
            "the limit of long sequences."
        )


def require_single(task: SequenceClasses) -> None:
    """Raise where a kind has several tokens, each of which would have a count."""
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
        of_class = label == n
        counts[of_class, : len(kinds)] = generator.multinomial(
            length - 1, task.table[n, kinds], size=int(of_class.sum())
        )
    return Counts(label, counts)


def count_type(length: int) -> type[np.uint8 | np.int32]:
    """The smallest integers that hold all counts of a sequence."""
    return np.uint8 if length - 1 <= 255 else np.int32


def torch_module() -> ModuleType:
    """PyTorch, or an error that says what it is needed for."""
    try:
        # By name: PyTorch is an extra, and nothing here needs it otherwise.
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingData(
            "The published runs drew their random numbers from PyTorch, which is not "
            "installed: pip install 'attnflow[torch]', or use stream='own'."
        ) from error


def published_draws(
    task: SequenceClasses, seed: int, *, steps: int, batch: int, length: int
) -> tuple[dict[str, Square], Counts]:
    """Initial tables and batches of a published run.

    **Returns:** `values` Y and `scores` Z over all tokens, as PyTorch's layers begin
    (uniform on ±1/√M), and the batches, in the order in which they were drawn.
    """
    check_length(length)
    require_single(task)
    torch = torch_module()
    generator = torch.Generator().manual_seed(seed + TORCH_OFFSET)
    # A square layer as PyTorch initialises it.
    bound, shape = 1 / np.sqrt(task.vocabulary), (task.vocabulary, task.vocabulary)
    layers: list[np.ndarray] = []
    for _ in range(2):
        weight = torch.empty(*shape, dtype=torch.float32)
        weight.uniform_(-bound, bound, generator=generator)
        layers.append(weight.numpy().astype(float))
    tables = {"values": layers[0].T, "scores": layers[1]}
    label = _labels(task.classes, seed, (steps, batch))
    size = (steps * batch, length - 1)
    uniform = torch.rand(size, dtype=torch.float64, generator=generator).numpy()
    sums = [
        _cumulative(torch, task.table[n, k]) for n, k in enumerate(support_of(task))
    ]
    counts = _count(sums, label.ravel(), uniform)
    return tables, Counts(
        label, counts.reshape(steps, batch, -1).astype(count_type(length))
    )


def _labels(classes: int, seed: int, shape: tuple[int, int]) -> np.ndarray:
    """What `random.choice(range(classes))` gives, drawn again and again.

    It takes as many top bits of each word as `classes` has, and the next word where
    they are too large a number.
    """
    words = np.random.MT19937(0)
    key = np.array(random.Random(seed).getstate()[1], np.uint64)
    words.state = {
        "bit_generator": "MT19937",
        "state": {"key": key[:-1].astype(np.uint32), "pos": int(key[-1])},
    }
    count, labels = shape[0] * shape[1], np.zeros(0, np.int64)
    while len(labels) < count:
        bits = words.random_raw(2 * count) >> (32 - classes.bit_length())
        labels = np.concatenate([labels, bits[bits < classes].astype(np.int64)])
    return labels[:count].reshape(shape)


def _cumulative(torch: ModuleType, probability: np.ndarray) -> np.ndarray:
    """The cumulative sum that tokens are looked up in, summed in single precision."""
    weight = torch.tensor(probability, dtype=torch.float32).numpy()
    total = np.cumsum(weight, dtype=np.float32)
    total /= total[-1]
    total[-1] = 1
    return total.astype(float)


def _count(
    sums: list[np.ndarray], label: np.ndarray, uniform: np.ndarray
) -> Int[np.ndarray, "samples support"]:
    """How often each sample's numbers fall between which sums of its class."""
    widest = max(map(len, sums))
    # Nothing falls behind the last sum, which is 1.
    filled = np.array([np.append(s, np.ones(widest - len(s))) for s in sums])
    table, which = np.unique(filled, axis=0, return_inverse=True)
    rows, counts = which.ravel()[label], np.zeros((len(label), widest), np.int64)
    entries = _Cells.of(table) or _Search(table)
    for start in range(0, len(label), TOGETHER):
        part = slice(start, start + TOGETHER)
        counts[part] = _histograms(entries(rows[part], uniform[part]), widest)
    return counts


class _Search(NamedTuple):
    """The first entry of a row that is not below each number, by binary search."""

    table: np.ndarray

    def __call__(self, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        pairs = zip(rows, uniform, strict=True)
        places: list[np.intp] = [np.searchsorted(self.table[r], u) for r, u in pairs]
        return np.array(places)


class _Cells(NamedTuple):
    """The same where cells of equal width have at most one entry between their ends.

    One comparison then finds it, in a third of a binary search's time.
    """

    table: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> "_Cells | None":
        """The cells of a table; none where a cell has several entries."""
        ends = np.arange(CELLS + 1) / CELLS
        first = np.array([np.searchsorted(row, ends) for row in table])
        if np.diff(first, axis=1).max() > 1:
            return None
        return cls(table, first[:, :-1])

    def __call__(self, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        cell = (uniform * CELLS).astype(np.intp)
        if len(self.table) > 1:
            cell += rows[:, None] * CELLS
        entry = self.first.ravel().take(cell)
        several = len(self.table) > 1
        flat = entry + rows[:, None] * self.table.shape[1] if several else entry
        entry += self.table.ravel().take(flat) < uniform
        return entry


def _histograms(entry: np.ndarray, kinds: int) -> np.ndarray:
    """How often each number occurs in each row."""
    rows = np.arange(len(entry))[:, None] * kinds
    whole = np.bincount((rows + entry).ravel(), minlength=len(entry) * kinds)
    return whole.reshape(len(entry), kinds)
