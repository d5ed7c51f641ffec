"""Digits with noise on their border, cut into patches.

An image is scaled by a factor, and normal noise times another is added to the pixels of
its border. Patches that lie on the border altogether hold noise and no more than the
faint strokes that reach there.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from attnflow.data.labelled import LabelledTokens
from attnflow.data.real import digits
from attnflow.data.real.mnist import Split
from attnflow.schema.names import look_up

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
    - `test_samples`: the first so many test images of these digits; none for all.
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
        chosen = order.permutation(len(image))[: self.samples]
        return self._samples(image[chosen], digit[chosen], noise)

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
        place = np.zeros(10, int)
        place[list(self.digits)] = np.arange(len(self.digits))
        return place[digit] if len(self.digits) > 2 else 1.0 - 2.0 * place[digit]


# A sweep asks for the same digits in every cell; unpacking takes half a second.
@lru_cache(maxsize=4)
def _pool(split: Split, wanted: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    found = digits(split)
    kept = np.isin(found.digit, wanted)
    return found.image[kept], found.digit[kept]


def _streams(seed: int) -> list[np.random.Generator]:
    """Streams of the images' order and of either set's noise."""
    return np.random.default_rng(seed).spawn(3)
