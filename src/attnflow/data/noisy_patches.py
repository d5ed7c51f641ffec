"""Patches of an image: one carries the label, one is strong noise, the others weak.

A sample with label ±1 holds the signal `mu+` or `mu-`, a token of strong noise and
tokens of weak noise, and is read by the mean over its tokens.

With `draw='sampled'` the noise is known by its Gram matrix alone, in a basis of its own
span. The Gram matrix of standard normal vectors in n dimensions is Wishart, and its
Cholesky factor has independent entries: standard normal ones below the diagonal, and
`L[i, i]² ~ χ²(n − i)` (Bartlett's decomposition). The rows of L stand for the vectors,
so that n costs nothing. A row depends on the rows before it by their number alone:
training tokens come first and know nothing of the test, and fewer tokens are the first
of more. Two columns in front hold the coordinates along the signals, which are not part
of the Wishart matrix.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.signal_noise import Classes, check_counts
from attnflow.data.token_sequences import Sequences, Task, on_device, sequences
from attnflow.schema.identity import Same
from attnflow.schema.settings import as_record, canonical_json, digest, look_up

SIGNALS = 2
Streams = Sequence[np.random.Generator]
"""Of the coordinates along the signals, the normal and the χ² entries."""


class OneClassWarning(UserWarning):
    """All training samples have one label, so that nothing tells signal from bias."""


class StrongNoiseWarning(UserWarning):
    """The noise that is called strong is weaker than the one that is called weak."""


@dataclass(frozen=True)
class NoisyPatchesTask(Task):
    """Training sets of signal, strong noise and weak noise.

    Row 1 of a sample is `mu±`, two orthogonal vectors of norm `signal`; row 2 is normal
    noise with entries of deviation `strong`, rows 3 to M the same with `weak`. Tokens
    are named `mu+`, `mu-`, and `noise3.2` for row 2 of the third sample. `strong` may
    be below `weak`, which is warned about.

    **Arguments:**

    - `samples`: N; `length`: M tokens each; `embed`: d coordinates.
    - `projected`: noise is orthogonal to both signals; otherwise it is isotropic.
    - `classes`: labels `drawn` one by one, or `equal` numbers of them, in turns.
    - `test_samples`: fresh samples with drawn labels.
    - `draw`: `explicit` vectors, or `sampled`: tokens are drawn by the law of their
      Gram matrix, in an orthonormal basis of their own span, so that any d costs the
      same. It needs more coordinates than tokens, those of the test included.
    - `cells`: `pooled` settings share their random numbers: of one key, another
      `signal` rescales the first two tokens, and fewer samples are the first of more.
      `independent` ones share none. (Sampled test tokens share their products with
      training tokens, but not those among themselves, over different N.)
    - `room`: number of samples drawn, of which the first `samples` have all the
      probability. Settings with the same room have the same shapes and vectors, and a
      sweep over `samples` compiles few programs. None: no more than `samples`.
    - `shown`: tables on `all` tokens, or on the signals and the `first` sample's noise.
    """

    samples: int = 20
    length: int = 16
    embed: int = 1024
    signal: float = 64.0
    weak: float = 0.2
    strong: float = 4.0
    projected: bool = True
    classes: Classes = "drawn"
    test_samples: int = 100
    draw: Literal["explicit", "sampled"] = "explicit"
    cells: Literal["pooled", "independent"] = "pooled"
    shown: Literal["all", "first"] = "all"
    room: int | None = None

    def __post_init__(self) -> None:
        check_counts(self.samples, self.test_samples, self.classes)
        choices = {
            "draw": ("explicit", "sampled"),
            "cells": ("pooled", "independent"),
            "shown": ("all", "first"),
        }
        for name, allowed in choices.items():
            look_up(name, getattr(self, name), dict.fromkeys(allowed))
        if self.length < 2:
            raise ValueError(
                f"length is {self.length}; a sample holds a signal and at least one "
                "noise token. Use length=2 or more."
            )
        for name in ("signal", "weak", "strong"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be positive and finite, "
                    f"as in {name}=1.0."
                )
        if self.room is not None and self.room < self.samples:
            raise ValueError(
                f"room is {self.room}, less than samples={self.samples}. Use "
                f"room={self.samples} or more, or none."
            )
        self._check_embed()

    def _check_embed(self) -> None:
        noise = (self._size + self.test_samples) * (self.length - 1)
        least = SIGNALS + (noise if self.draw == "sampled" else 1)
        if self.embed >= least:
            return
        if self.draw == "explicit":
            raise ValueError(
                f"embed is {self.embed}; two signals and noise beside them need "
                f"{least} coordinates at least. Use embed={least} or more."
            )
        raise ValueError(
            f"embed is {self.embed}, which leaves {self.embed - SIGNALS} degrees of "
            f"freedom for {noise} noise tokens of training and test: their Gram matrix "
            f"would be singular. Use embed={least} or more, fewer test_samples, or "
            "draw='explicit'."
        )

    @property
    def random(self) -> bool:
        """The noise depends on the seed."""
        return True

    @property
    def _size(self) -> int:
        """Samples that are there, those without probability included."""
        return self.samples if self.room is None else self.room

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """A training set; a warning where its labels are all the same."""
        label = self._labels(_streams(*self._numbers(key))[0])
        if len(set(label[: self.samples])) == 1:
            warnings.warn(
                f"All {self.samples} labels are {label[0]:+.0f}: the training set has "
                "one class. Use classes='equal', more samples or another seed.",
                OneClassWarning,
                stacklevel=2,
            )
        if self.strong < self.weak:
            warnings.warn(
                f"The strong noise has deviation {self.strong:g}, below the weak "
                f"noise's {self.weak:g}: the second token of a sample is only called "
                "the strong one.",
                StrongNoiseWarning,
                stacklevel=2,
            )
        chance = np.zeros(len(label))
        chance[: self.samples] = 1 / self.samples
        return self.samples_of(self._vectors(key), label, chance)

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples with drawn labels, over the signals and noise of their own."""
        if not self.test_samples:
            return None
        # Explicit test vectors do not depend on the training samples.
        free = self.draw == "explicit" and self.cells == "pooled"
        task = replace(self, samples=2, room=None) if free else self
        return _test_of(task, self._numbers(key), Same(self._vectors(key, test=True)))

    def _numbers(self, key: Key | None) -> tuple[int, ...]:
        """The key as numbers, those of `independent` cells apart from each other."""
        assert key is not None
        if self.cells == "independent":
            address = digest(canonical_json(as_record(self)))
            key = random.fold_in(key, int(address[:8], 16))
        return tuple(random.as_key(key).tolist())

    def _vectors(self, key: Key | None, *, test: bool = False) -> Array:
        """Unit signals, and noise before it is scaled; the same array for one draw."""
        make = _test_vectors if test else _training_vectors
        # Double precision is on within runs, and off where a caller left it so.
        kind = jnp.zeros(()).dtype.name  # pyright: ignore[reportUnknownMemberType] # JAX leaves types of devices open
        sizes = {
            "freedom": self.embed - SIGNALS,
            "training": self._size * (self.length - 1),
            "test": self.test_samples * (self.length - 1),
        }
        if self.draw == "explicit":
            # Training and test vectors are independent, so neither is redrawn when the
            # other changes.
            sizes["training" if test else "test"] = 0
        return make(self.draw, self.projected, self._numbers(key), kind, **sizes)

    def _labels(self, draw: np.random.Generator) -> np.ndarray:
        if self.classes == "equal":
            return np.resize([1.0, -1.0], self._size)
        return _draw_labels(self._size, draw)

    def samples_of(
        self, vectors: Array, label: np.ndarray, chance: np.ndarray | None = None
    ) -> Sequences:
        """Samples with these labels over vectors that `scale` turns into tokens."""
        count, noises = len(label), self.length - 1
        noise = SIGNALS + np.arange(count * noises).reshape(count, noises)
        key = np.column_stack([np.where(label > 0, 0, 1), noise])
        deviations = [self.strong, *[self.weak] * (self.length - 2)]
        return sequences(
            vectors,
            key,
            label,
            query_weight=np.full(key.shape, 1 / self.length),
            probability=chance,
            names=_names(count, self.length),
            shown=range(SIGNALS + noises) if self.shown == "first" else None,
            scale=np.concatenate([np.full(SIGNALS, self.signal), deviations * count]),
        )


# A sweep goes through sizes of the signal for one number of samples after the other.
@lru_cache(maxsize=32)
def _test_of(
    task: NoisyPatchesTask, key: tuple[int, ...], vectors: Same[Array]
) -> Sequences:
    label = _draw_labels(task.test_samples, _streams(*key)[0])
    return task.samples_of(vectors.array, label)


@lru_cache(maxsize=8)
def _names(count: int, length: int) -> list[str]:
    noise = [f"noise{n + 1}.{i}" for n in range(count) for i in range(2, length + 1)]
    return ["mu+", "mu-", *noise]


def _streams(*key: int) -> list[np.random.Generator]:
    """Streams of labels and of the parts of the noise, apart from each other."""
    return np.random.default_rng(key).spawn(4)


# A sweep goes through its sizes seed by seed, and needs the same vectors at each.
@lru_cache(maxsize=12)
def _training_vectors(
    draw: str, projected: bool, key: tuple[int, ...], kind: str, **sizes: int
) -> Array:
    streams = _streams(*key)[1:]
    if draw == "sampled":
        return _with_signals(_training_rows(streams, **sizes), projected)
    shape = sizes["training"], sizes["freedom"] + SIGNALS
    return _with_signals(streams[0].standard_normal(shape), projected)


@lru_cache(maxsize=2)
def _test_vectors(
    draw: str, projected: bool, key: tuple[int, ...], kind: str, **sizes: int
) -> Array:
    streams = _streams(*key)[1:]
    if draw == "sampled":
        return _with_signals(_test_rows(streams, **sizes), projected)
    shape = sizes["test"], sizes["freedom"] + SIGNALS
    return _with_signals(streams[0].standard_normal(shape), projected)


def _with_signals(noise: np.ndarray, projected: bool) -> Array:
    if projected:
        noise[:, :SIGNALS] = 0.0
    return on_device(np.concatenate([np.eye(SIGNALS, noise.shape[1]), noise]))


def _draw_labels(count: int, draw: np.random.Generator) -> np.ndarray:
    """Labels one by one, so that fewer are the first of more."""
    return np.where(draw.random(count) < 0.5, 1.0, -1.0)


def _training_rows(
    streams: Streams, *, freedom: int, training: int, test: int
) -> Float[np.ndarray, "training columns"]:
    """Rows of the training tokens, with zeros in the columns that tests add."""
    along, normal, chi = streams
    rows = np.zeros((training, SIGNALS + training + test))
    rows[:, :SIGNALS] = along.standard_normal((training, SIGNALS))
    rows[:, SIGNALS : SIGNALS + training] = _triangle(normal, chi, training, freedom)
    return rows


def _test_rows(
    streams: Streams, *, freedom: int, training: int, test: int
) -> Float[np.ndarray, "test columns"]:
    """Rows of the test tokens: below those of training in the same factor."""
    along, normal, chi = streams
    cross, below = normal.spawn(2)
    return np.concatenate(
        [
            along.standard_normal((test, SIGNALS)),
            # Drawn column by column, so that fewer training tokens do not change the
            # other columns.
            cross.standard_normal((training, test)).T,
            _triangle(below, chi, test, freedom - training),
        ],
        axis=1,
    )


def _triangle(
    normal: np.random.Generator, chi: np.random.Generator, count: int, freedom: int
) -> Float[np.ndarray, "count count"]:
    """The Cholesky factor of a Wishart matrix, drawn row by row."""
    factor = np.zeros((count, count))
    below = np.tril_indices(count, -1)
    factor[below] = normal.standard_normal(count * (count - 1) // 2)
    # In float64 10^18 − i is rounded, which makes no difference for so many degrees of
    # freedom.
    left = float(freedom) - np.arange(count)
    np.fill_diagonal(factor, np.sqrt(chi.chisquare(left)))
    return factor
