"""The random numbers that published runs were drawn from, replayed.

Such runs seeded Python's `random` with s and PyTorch with s + 2, made two square
layers without bias, and then drew, sample by sample, a class by `random.choice` and
its tokens by `torch.multinomial` with replacement. The latter takes one uniform number
per token to a cumulative sum in single precision, so that all of a run's tokens can be
looked up at once; `tests/data/test_published_streams.py` holds this to PyTorch's own.
"""

import importlib
import random
from typing import Any

import numpy as np
from jaxtyping import Float

from attnflow._missing import MissingData
from attnflow.data.class_counts import (
    Counts,
    check_length,
    count_type,
    require_single,
    support_of,
)
from attnflow.data.sequence_classes import SequenceClasses

Square = Float[np.ndarray, "tokens tokens"]
TORCH_OFFSET = 2
CELLS = 4096


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
    counts = np.zeros((steps * batch, max(map(len, support_of(task)))), np.int64)
    size = (steps * batch, length - 1)
    uniform = torch.rand(size, dtype=torch.float64, generator=generator).numpy()
    for n, kinds in enumerate(support_of(task)):
        chosen = label.ravel() == n
        found = _look_up(_cumulative(torch, task.table[n, kinds]), uniform[chosen])
        counts[chosen, : len(kinds)] = _histograms(found, len(kinds))
    shaped = counts.reshape(steps, batch, -1).astype(count_type(length))
    return tables, Counts(label, shaped)


def _layer(torch: Any, size: int, generator: Any) -> np.ndarray:
    """The weight of a square layer as PyTorch initialises it, in float64."""
    bound = 1 / np.sqrt(size)
    weight = torch.empty(size, size, dtype=torch.float32)
    weight.uniform_(-bound, bound, generator=generator)
    return weight.numpy().astype(float)


def _labels(classes: int, seed: int, shape: tuple[int, int]) -> np.ndarray:
    stream = random.Random(seed)
    options = range(classes)
    drawn = [stream.choice(options) for _ in range(shape[0] * shape[1])]
    return np.array(drawn).reshape(shape)


def _cumulative(torch: Any, probability: np.ndarray) -> np.ndarray:
    """The cumulative sum that tokens are looked up in, summed in single precision."""
    weight = torch.tensor(probability, dtype=torch.float32).numpy()
    total = np.cumsum(weight, dtype=np.float32)
    total /= total[-1]
    total[-1] = 1
    return total.astype(float)


def _look_up(cumulative: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """The first entry that is not below each number.

    Cells of equal width with at most one entry between their ends tell it by one
    comparison, in a third of a binary search's time.
    """
    first = np.searchsorted(cumulative, np.arange(CELLS) / CELLS)
    if np.diff(np.append(first, len(cumulative))).max() > 1:
        return np.searchsorted(cumulative, uniform.ravel()).reshape(uniform.shape)
    found = first[(uniform * CELLS).astype(np.int32)]
    return found + (cumulative[found] < uniform)


def _histograms(found: np.ndarray, kinds: int) -> np.ndarray:
    """How often each number occurs in each row."""
    rows = np.arange(len(found))[:, None] * kinds
    whole = np.bincount((rows + found).ravel(), minlength=len(found) * kinds)
    return whole.reshape(len(found), kinds)
