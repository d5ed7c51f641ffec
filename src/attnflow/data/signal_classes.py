"""Several classes: one token of a sample is the signal of its class, others noise."""

from dataclasses import dataclass

import numpy as np

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import Sequences, Task, sequences


@dataclass(frozen=True)
class SignalClassesTask(Task):
    """Samples of one signal token and normal noise; labels are numbers from 0.

    The signal of class c is `signal` times the c-th unit vector; noise tokens are
    normal of expected squared length `noise²`. Every position is a query of equal
    weight. For the readout `Classes`.

    **Arguments:**

    - `samples`: in turn of each class; `class_count`: C; `embed`: d ≥ C coordinates.
    - `length`: tokens of a sample, the signal first.
    - `test_samples`: fresh samples beside them.
    """

    samples: int = 24
    class_count: int = 3
    embed: int = 50
    length: int = 3
    signal: float = 2.0
    noise: float = 1.0
    test_samples: int = 100

    def __post_init__(self) -> None:
        if not 2 <= self.class_count <= self.embed:
            raise ValueError(
                f"class_count is {self.class_count} at embed={self.embed}: use 2 or "
                "more classes, and at least as many coordinates."
            )
        if self.samples < 1 or self.length < 2:
            raise ValueError(
                f"samples is {self.samples} and length {self.length}: give at least "
                "one sample, of a signal and a noise token."
            )

    @property
    def random(self) -> bool:
        """True: the noise depends on the seed."""
        return True

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """A training set."""
        return self._draw(self.samples, key)

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples of the same law."""
        return self._draw(self.test_samples, key) if self.test_samples else None

    def _draw(self, count: int, key: Key | None) -> Sequences:
        assert key is not None
        label = np.arange(count) % self.class_count
        noises = self.length - 1
        signals = self.signal * np.eye(self.class_count, self.embed)
        scale = self.noise / np.sqrt(self.embed)
        drawn = scale * np.asarray(random.normal(key, (count * noises, self.embed)))
        own = self.class_count + np.arange(count * noises).reshape(count, noises)
        positions = np.concatenate([label[:, None], own], axis=1)
        names = [f"signal {c}" for c in range(self.class_count)]
        names += [f"noise {k}" for k in range(count * noises)]
        return sequences(
            np.concatenate([signals, drawn]),
            positions,
            label,
            query_weight=np.full(positions.shape, 1 / self.length),
            names=names,
            shown=range(self.class_count),
        )
