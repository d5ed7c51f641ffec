"""Text as windows of words, each word with the one that follows it as its label."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attnflow.data.labelled import LabelledTokens
from attnflow.data.real import words
from attnflow.data.real.wikitext import Split

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class WordWindows:
    """WikiText-2: trained on its split `valid`, tested on its split `test`.

    The text is cut into `columns` parts that are read side by side, a window of
    `length` words at a time; a batch of so many windows goes on where the last one
    ended. Data do not depend on the seed.

    **Arguments:**

    - `vocabulary`: the words that are most frequent in training, of which one stands
      for all others.
    - `test_samples`: windows at even distances in the test split.
    """

    vocabulary: int = 1000
    length: int = 35
    columns: int = 20
    test_samples: int = 40

    def __post_init__(self) -> None:
        for name, least in (
            ("vocabulary", 2),
            ("length", 2),
            ("columns", 1),
            ("test_samples", 1),
        ):
            if getattr(self, name) < least:
                raise ValueError(
                    f"{name} is {getattr(self, name)}: use {least} or more, as in "
                    f"{name}={getattr(type(self), name)}."
                )

    @property
    def words(self) -> tuple[str, ...]:
        """The word that each number stands for: all others, then by frequency."""
        return known_words(self.vocabulary)

    def training(self, seed: int) -> LabelledTokens:
        """All windows, batch by batch."""
        text = _numbers("valid", self.vocabulary)
        rows = len(text) // self.columns
        parts = text[: rows * self.columns].reshape(self.columns, rows)
        starts = range(0, rows - self.length, self.length)
        if not starts:
            raise ValueError(
                f"columns is {self.columns} and length {self.length}: the text has "
                f"{len(text)} words, too few for one window in each column. Use fewer "
                "columns."
            )
        windows = [_windows(parts, start, self.length) for start in starts]
        return LabelledTokens(*map(np.concatenate, zip(*windows, strict=True)))

    def test(self, seed: int) -> LabelledTokens:
        """Windows of the test split."""
        text = _numbers("test", self.vocabulary)
        last = len(text) - self.length - 1
        starts = np.linspace(0, last, self.test_samples).astype(int).tolist()
        windows = [_windows(text[None], start, self.length) for start in starts]
        return LabelledTokens(*map(np.concatenate, zip(*windows, strict=True)))


def _windows(
    parts: np.ndarray, start: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """Words from `start` on, and the words that follow each of them."""
    return parts[:, start : start + length], parts[:, start + 1 : start + length + 1]


@lru_cache(maxsize=2)
def known_words(vocabulary: int) -> tuple[str, ...]:
    """The most frequent words of the training split, and the one for all others."""
    counted = Counter(words("valid"))
    counted.pop(UNKNOWN, None)
    # Ties by the alphabet, so that the list does not depend on the text's order.
    ranked = sorted(counted, key=lambda word: (-counted[word], word))
    if vocabulary > 1 + len(ranked):
        raise ValueError(
            f"vocabulary is {vocabulary}: the text has {1 + len(ranked)} different "
            "words. Use so many or fewer."
        )
    return (UNKNOWN, *ranked[: vocabulary - 1])


@lru_cache(maxsize=4)
def _numbers(split: Split, vocabulary: int) -> np.ndarray:
    place = {word: number for number, word in enumerate(known_words(vocabulary))}
    return np.array([place.get(word, 0) for word in words(split)])
