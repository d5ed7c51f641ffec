"""Samples of deep networks as plain arrays: spelled-out tasks, digits, windows of text.

Digits have noise on their border and are cut into patches: an image is scaled by a
factor, and normal noise times another is added to the pixels of its border. Patches
that lie on the border altogether hold noise and no more than the faint strokes that
reach there. Text is cut into windows of words, each with the next word as its label.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.real import DigitSplit, TextSplit, digits, words
from attnflow.data.token_sequences import Sequences, Task
from attnflow.schema.settings import look_up

UNKNOWN = "<unk>"
SIDE = 28
Pixels = Literal["unit", "standard", "bytes"]
PIXELS: dict[str, tuple[float, float]] = {
    "unit": (0.0, 255.0),
    "standard": (0.1307 * 255.0, 0.3081 * 255.0),
    "bytes": (0.0, 1.0),
}
"""What is taken off a pixel's byte, and what it is divided by.

`standard` has the mean and the deviation of all training pixels of MNIST, as tutorials
print them.
"""


class LabelledTokens(NamedTuple):
    """Samples: `tokens` (samples, length, …) and `label`."""

    tokens: np.ndarray
    label: np.ndarray


@dataclass(frozen=True)
class SequenceTokens:
    """A task of sequences, its samples spelled out token by token.

    First layers are recorded on its shown tokens.
    """

    task: Task

    def training(self, seed: int) -> LabelledTokens:
        """The samples to train on."""
        return _spell(self._draw(seed))

    def test(self, seed: int) -> LabelledTokens:
        """The samples to test on."""
        data = self.task.test_sequences(key=_key(seed, 2))
        if data is None:
            raise ValueError(
                "The task has no test samples: give it some, as in test_samples=100."
            )
        return _spell(data)

    def shown(self, seed: int) -> np.ndarray:
        """Shown tokens (tokens, embed)."""
        data = self._draw(seed)
        return data.host_tokens[list(data.shown)]

    @property
    def shown_names(self) -> tuple[str, ...]:
        """The names of shown tokens, which are the same for every seed."""
        return tuple(self._draw(0).shown_names)

    def _draw(self, seed: int) -> Sequences:
        return self.task.sequences(key=_key(seed, 0))


def _spell(data: Sequences) -> LabelledTokens:
    tokens = data.host_tokens[np.asarray(data.key)]
    return LabelledTokens(tokens, np.asarray(data.label))


def _key(seed: int, stream: int) -> Key:
    # Streams are numbered as in shallow experiments, so that samples are the same.
    return random.fold_in(random.key(seed), stream)


def mixed(share: float) -> tuple[float, float]:
    """Factors of image and noise that add up to one: `share` and `1 − share`."""
    if not 0 < share <= 1:
        raise ValueError(
            f"The image's share is {share}: it must lie in (0, 1], where 1 is an image "
            "without noise."
        )
    return share, 1 - share


def at_ratio(ratio: float) -> tuple[float, float]:
    """Factors that add up to one, of which the first is `ratio` times the second."""
    if not ratio > 0:
        raise ValueError(
            f"The ratio of image to noise is {ratio}: it must be positive."
        )
    return mixed(ratio / (1 + ratio))


def border(width: int) -> np.ndarray:
    """Which pixels of an image are at most `width` pixels from its edge."""
    inside = np.zeros((SIDE, SIDE), bool)
    inside[width : SIDE - width, width : SIDE - width] = True
    return ~inside


def patches(images: np.ndarray, side: int) -> np.ndarray:
    """Images `(…, 28, 28)` as patches `(…, patches, side²)`, row by row."""
    count = SIDE // side
    cut = images.reshape(*images.shape[:-2], count, side, count, side)
    return cut.swapaxes(-3, -2).reshape(*images.shape[:-2], count**2, side**2)


@dataclass(frozen=True)
class NoisyDigits:
    """Training and test sets of digits under border noise, as patches.

    **Arguments:**

    - `samples`: how many images to train on, drawn without replacement.
    - `digits`: which of them, each a class. Of two, the first has the label +1 and the
      second −1; of more, labels are their places in this list.
    - `factors`: of the image and of the noise, as `mixed` or `at_ratio` give them.
    - `border`: the width of the noise's frame, in pixels; `patch`: a patch's side.
    - `test_samples`: how many test images of these digits, the first ones; none: all.
    - `test_noise`: whether test images get noise of their own.
    - `pixels`: the scale of images before all that, see `PIXELS`.

    Settings of one seed share images and normal numbers: another factor rescales them,
    and fewer samples are the first of more.
    """

    samples: int = 2000
    digits: tuple[int, ...] = (3, 7)
    factors: tuple[float, float] = (0.5, 0.5)
    border: int = 7
    patch: int = 7
    test_samples: int | None = None
    test_noise: bool = True
    pixels: Pixels = "unit"

    def __post_init__(self) -> None:
        look_up("scale of pixels", self.pixels, PIXELS)
        if self.patch < 1 or SIDE % self.patch:
            raise ValueError(
                f"patch is {self.patch}: an image has {SIDE} pixels a side, so that "
                "patches have 1, 2, 4, 7, 14 or 28."
            )
        if not 0 <= self.border <= SIDE // 2:
            raise ValueError(
                f"border is {self.border}: give 0 to {SIDE // 2} pixels, as in "
                "border=7."
            )
        known = set(self.digits) <= set(range(10))
        if not known or len(set(self.digits)) < max(len(self.digits), 2):
            raise ValueError(
                f"digits is {self.digits}: name two or more different ones of 0 to 9, "
                "as in digits=3,7."
            )
        tested = 1 if self.test_samples is None else self.test_samples
        if min(self.samples, tested) < 1:
            raise ValueError(
                f"samples is {self.samples} and test_samples {self.test_samples}: use "
                "at least 1 image, and none for all test images."
            )

    @property
    def length(self) -> int:
        """How many patches an image has."""
        return (SIDE // self.patch) ** 2

    @property
    def embed(self) -> int:
        """How many pixels a patch has."""
        return self.patch**2

    @property
    def noisy(self) -> np.ndarray:
        """Which patches lie on the border altogether."""
        return np.all(patches(border(self.border), self.patch), axis=-1)

    def training(self, seed: int) -> LabelledTokens:
        """The images to train on."""
        image, digit = _pool("train", self.digits)
        if self.samples > len(image):
            raise ValueError(
                f"samples is {self.samples}: there are {len(image)} images of the "
                f"digits {self.digits} to train on. Use fewer."
            )
        order, noise, _ = _streams(seed)
        rows = order.permutation(len(image))[: self.samples]
        return self._samples(image[rows], digit[rows], noise)

    def test(self, seed: int) -> LabelledTokens:
        """The images to test on."""
        image, digit = _pool("test", self.digits)
        kept = slice(self.test_samples)
        noise = _streams(seed)[2] if self.test_noise else None
        return self._samples(image[kept], digit[kept], noise)

    def _samples(
        self, image: np.ndarray, digit: np.ndarray, noise: np.random.Generator | None
    ) -> LabelledTokens:
        faint, strong = self.factors
        dark, span = PIXELS[self.pixels]
        shown = faint * ((image - dark) / span)
        if noise is not None:
            frame = border(self.border)
            shown[:, frame] += strong * noise.standard_normal((len(image), frame.sum()))
        return LabelledTokens(patches(shown, self.patch), self._labels(digit))

    def _labels(self, digit: np.ndarray) -> np.ndarray:
        number = np.zeros(10, int)
        number[list(self.digits)] = np.arange(len(self.digits))
        return number[digit] if len(self.digits) > 2 else 1.0 - 2.0 * number[digit]


# A sweep asks for the same digits in every cell; unpacking takes half a second.
@lru_cache(maxsize=4)
def _pool(split: DigitSplit, kinds: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    image, digit = digits(split)
    kept = np.isin(digit, kinds)
    return image[kept], digit[kept]


def _streams(seed: int) -> list[np.random.Generator]:
    """Streams of the images' order and of either set's noise."""
    return np.random.default_rng(seed).spawn(3)


@dataclass(frozen=True)
class WordWindows:
    """WikiText-2: trained on its split `valid`, tested on its split `test`.

    The text is cut into `columns` parts that are read side by side, a window of
    `length` words at a time; a batch of `columns` windows goes on where the last one
    ended. Data do not depend on the seed.

    **Arguments:**

    - `vocabulary`: the words that are most frequent in training, of which one stands
      for all others.
    - `test_samples`: windows at even distances in the test split.
    - `shown_batch`: the number of the batch of training windows that are shown, or the
      last one of a text that has fewer.
    """

    vocabulary: int = 1000
    length: int = 35
    columns: int = 20
    test_samples: int = 40
    shown_batch: int = 100

    def __post_init__(self) -> None:
        least_values = {"vocabulary": 2, "length": 2, "columns": 1, "test_samples": 1}
        for name, least in least_values.items():
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

    def shown(self, seed: int) -> np.ndarray:
        """Training windows on which attention may be recorded."""
        windows = self.training(seed).tokens
        last = len(windows) // self.columns - 1
        start = min(self.shown_batch, last) * self.columns
        return windows[start : start + self.columns]

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
            f"words. Use {1 + len(ranked)} or fewer."
        )
    return (UNKNOWN, *ranked[: vocabulary - 1])


@lru_cache(maxsize=4)
def _numbers(split: TextSplit, vocabulary: int) -> np.ndarray:
    numbers = {word: number for number, word in enumerate(known_words(vocabulary))}
    return np.array([numbers.get(word, 0) for word in words(split)])
