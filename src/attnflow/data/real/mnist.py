"""MNIST: images of digits, in the files' own format."""

from typing import Literal, NamedTuple

import numpy as np

from attnflow.data.real.files import read

Split = Literal["train", "test"]
_STEMS = {"train": "train", "test": "t10k"}
_HEADER = 4
"""Bytes of a number in an idx header, and of its magic number."""


class Digits(NamedTuple):
    """Images `(images, 28, 28)` of bytes, and which digit each of them is."""

    image: np.ndarray
    digit: np.ndarray


def digits(split: Split) -> Digits:
    """The 60,000 digits to train on, or the 10,000 to test on."""
    stem = _STEMS[split]
    return Digits(
        _array(read("mnist", f"{stem}-images-idx3-ubyte.gz")),
        _array(read("mnist", f"{stem}-labels-idx1-ubyte.gz")),
    )


def _array(content: bytes) -> np.ndarray:
    """An idx file of bytes: a magic number that tells its rank, its shape, its data."""
    rank = content[_HEADER - 1]
    shape = np.frombuffer(content, ">i4", count=rank, offset=_HEADER)
    data = np.frombuffer(content, np.uint8, offset=_HEADER * (1 + rank))
    return data.reshape(shape)
