"""Signal and sparse noise: one token carries the label, another is a draw of its own.

A sample with label y holds tokens `y·mu`, where mu is the first unit vector, and noise
tokens with `support` normal coordinates and zeros elsewhere. What the model learns
depends on labels only through `y·noise`, so that tables are shown in this gauge.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Array

from attnflow.data import label_gauge
from attnflow.data.sequences import Sequences


@dataclass(frozen=True)
class SignalNoiseTask(label_gauge.DrawnNoise):
    """Training sets of signal and sparse noise.

    **Arguments:**

    - `samples`: n; `embed`: d coordinates.
    - `support`: how many coordinates of a noise token are not zero, drawn without
      replacement; `noise`: their standard deviation, `2/sqrt(support)` unless said.
    - `length`: L tokens in a sample, of which `noise_tokens` are noise (half of them
      unless said) and the others signal.
    - `orthogonal`: noise leaves the signal's coordinate alone.
    - `classes`: `equal` (n/2 samples of either label, positive ones first), `drawn`.
    - `test_samples`: fresh samples beside them, drawn from the law itself.
    - `disjoint`: no coordinate belongs to two noise tokens of the training set.
    """

    samples: int = 20
    embed: int = 2000
    support: int = 80
    noise: float | None = None
    length: int = 2
    noise_tokens: int | None = None
    orthogonal: bool = True
    classes: label_gauge.Classes = "equal"
    test_samples: int = 500
    disjoint: bool = False

    def __post_init__(self) -> None:
        label_gauge.check_counts(self.samples, self.test_samples, self.classes)
        if self.length < 2:
            raise ValueError(
                f"length is {self.length}; a sample holds at least one signal and one "
                "noise token. Use length=2."
            )
        if not 1 <= self.noises < self.length:
            raise ValueError(
                f"noise_tokens is {self.noises} at length={self.length}; there must be "
                f"1 to {self.length - 1}, so that a signal token is left. Use "
                f"noise_tokens={self.length // 2}."
            )
        self._check_support()
        label_gauge.check_noise(self.noise)

    def _check_support(self) -> None:
        if not 1 <= self.support <= self.room:
            raise ValueError(
                f"support is {self.support}, and noise has {self.room} coordinates at "
                f"embed={self.embed}: use 1 <= support <= {self.room}, or a larger "
                "embed."
            )
        needed = self.samples * self.noises * self.support
        if self.disjoint and needed > self.room:
            raise ValueError(
                f"Disjoint supports of {self.samples * self.noises} noise tokens with "
                f"support={self.support} take {needed} coordinates, and there are "
                f"{self.room}: use embed={needed + self.embed - self.room} at least, "
                "or disjoint=False."
            )

    @property
    def room(self) -> int:
        """Coordinates among which noise is drawn."""
        return self.embed - 1 if self.orthogonal else self.embed

    @property
    def noises(self) -> int:
        """Noise tokens of one sample."""
        given = self.noise_tokens
        return self.length // 2 if given is None else given

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """A training set: `mu` and every `y·noise` first, then their opposites."""
        draw = label_gauge.generator(key)
        label = label_gauge.draw_labels(self.samples, self.classes, draw)
        gauge = np.repeat(label, self.noises)[:, None]
        return label_gauge.in_label_gauge(
            np.concatenate([self._signal(), gauge * self._noise(draw)]),
            label,
            signals=self.length - self.noises,
            every_opposite=self.classes == "drawn",
        )

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Fresh samples of the law, over `mu`, `-mu` and the noise of their own."""
        if not self.test_samples:
            return None
        draw = label_gauge.generator(key)
        law = replace(self, samples=self.test_samples, classes="drawn", disjoint=False)
        label = label_gauge.draw_labels(law.samples, law.classes, draw)
        signal = self._signal()
        return label_gauge.fresh(
            np.concatenate([signal, -signal, law._noise(draw)]),
            label,
            signals=self.length - self.noises,
        )

    def _signal(self) -> np.ndarray:
        return np.eye(1, self.embed)

    def _noise(self, draw: np.random.Generator) -> np.ndarray:
        """Noise tokens `(samples · noises, embed)`."""
        count = self.samples * self.noises
        if self.disjoint:
            places = draw.choice(self.room, (count, self.support), replace=False)
        else:
            places = np.array(
                [
                    draw.choice(self.room, self.support, replace=False)
                    for _ in range(count)
                ]
            )
        entries = draw.normal(0, self.deviation, (count, self.support))
        made = np.zeros((count, self.embed))
        np.put_along_axis(made, places + self.embed - self.room, entries, axis=1)
        return made
