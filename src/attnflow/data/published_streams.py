"""The random numbers that published runs were drawn from, replayed.

Such runs seeded Python's `random` with s and PyTorch with s + 2, made two square
layers without bias, and then drew, sample by sample, a class by `random.choice` and
its tokens by `torch.multinomial` with replacement. The latter takes one uniform number
per token to a cumulative sum in single precision, so that all of a run's tokens can be
looked up at once; and the former takes the top bits of words of a generator that NumPy
has too. `tests/data/test_published_streams.py` holds this to their own draws.
"""

import importlib
import random
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from attnflow.data.class_counts import (
    Counts,
    check_length,
    count_type,
    require_single,
    support_of,
)
from attnflow.data.sequence_classes import SequenceClasses
from attnflow.schema.installation import MissingData

Square = Float[np.ndarray, "tokens tokens"]
TORCH_OFFSET = 2
CELLS = 4096
# Samples whose tokens are looked up at once: as many as stay in the caches.
TOGETHER = 256


def torch_module() -> Any:
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
    layers = [_layer(torch, task.vocabulary, generator) for _ in range(2)]
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


def _layer(torch: Any, size: int, generator: Any) -> np.ndarray:
    """The weight of a square layer as PyTorch initialises it, in float64."""
    bound = 1 / np.sqrt(size)
    weight = torch.empty(size, size, dtype=torch.float32)
    weight.uniform_(-bound, bound, generator=generator)
    return weight.numpy().astype(float)


def _labels(classes: int, seed: int, shape: tuple[int, int]) -> np.ndarray:
    """What `random.choice(range(classes))` gives, drawn again and again.

    It takes as many top bits of each word as `classes` has, and the next word where
    they are too large a number.
    """
    words = np.random.MT19937(0)
    key = np.array(random.Random(seed).getstate()[1], np.uint64)
    state: Any = {"key": key[:-1].astype(np.uint32), "pos": int(key[-1])}
    words.state = {"bit_generator": "MT19937", "state": state}
    wanted, found = shape[0] * shape[1], np.zeros(0, np.int64)
    while len(found) < wanted:
        drawn = words.random_raw(2 * wanted) >> (32 - classes.bit_length())
        found = np.concatenate([found, drawn[drawn < classes].astype(np.int64)])
    return found[:wanted].reshape(shape)


def _cumulative(torch: Any, probability: np.ndarray) -> np.ndarray:
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
    look_up = _CellLookUp.of(table) or _Search(table)
    for start in range(0, len(label), TOGETHER):
        part = slice(start, start + TOGETHER)
        found = look_up(rows[part], uniform[part])
        counts[part] = _histograms(found, widest)
    return counts


class _Search(NamedTuple):
    """The first entry of a row that is not below each number, by binary search."""

    table: np.ndarray

    def __call__(self, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        found = [
            np.searchsorted(self.table[row], numbers)
            for row, numbers in zip(rows, uniform, strict=True)
        ]
        return np.array(found)


class _CellLookUp(NamedTuple):
    """The same where cells of equal width have at most one entry between their ends.

    One comparison then tells, in a third of a binary search's time.
    """

    table: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> "_CellLookUp | None":
        """The look-up of a table; none where a cell has several entries."""
        ends = np.arange(CELLS + 1) / CELLS
        first = np.array([np.searchsorted(row, ends) for row in table])
        if np.diff(first, axis=1).max() > 1:
            return None
        return cls(table, first[:, :-1])

    def __call__(self, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        cell = (uniform * CELLS).astype(np.intp)
        if len(self.table) > 1:
            cell += rows[:, None] * CELLS
        found = self.first.ravel().take(cell)
        entry = (
            found
            if len(self.table) == 1
            else found + rows[:, None] * self.table.shape[1]
        )
        found += self.table.ravel().take(entry) < uniform
        return found


def _histograms(found: np.ndarray, kinds: int) -> np.ndarray:
    """How often each number occurs in each row."""
    rows = np.arange(len(found))[:, None] * kinds
    whole = np.bincount((rows + found).ravel(), minlength=len(found) * kinds)
    return whole.reshape(len(found), kinds)
