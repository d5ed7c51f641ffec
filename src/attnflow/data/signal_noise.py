"""Signal and noise: one token carries the label, others are draws of their own.

A sample with label y holds tokens `y·mu`, where mu is the first unit vector, and noise
tokens. What the model learns depends on labels only through `y·noise`, so that tables
are shown in this gauge: `mu` and every `y·noise` come first in the vocabulary, then
those opposites that samples with label −1 hold.

Where no coordinate belongs to two tokens, a sign step moves the product of a neuron
with a noise token by the rate times the token's l1 norm, and initial products are
normal with the token's l2 norm. These two norms per sample are then the whole data
(`DisjointNoiseTask`): any support and any number of coordinates cost the same.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import Sequences, Task, sequences

Classes = Literal["equal", "drawn"]
# Up to here norms are sums over drawn coordinates: 10 ms for each token at the top.
LARGEST_DRAWN = 10**6


class AbstractNoiseTask(Task):
    """Training sets of signal and drawn noise, which depend on the seed."""

    support: int
    noise: float | None

    @property
    def deviation(self) -> float:
        """Standard deviation of a noise coordinate: tokens of norm 2 unless given."""
        return 2 / math.sqrt(self.support) if self.noise is None else self.noise

    @property
    def random(self) -> bool:
        """True: the noise depends on the seed."""
        return True


@dataclass(frozen=True)
class SignalNoiseTask(AbstractNoiseTask):
    """Training sets of signal and sparse noise.

    Noise tokens have `support` normal coordinates, and zeros elsewhere.

    **Arguments:**

    - `samples`: n; `embed`: d coordinates.
    - `support`: how many coordinates of a noise token are not zero, drawn without
      replacement; `noise`: their standard deviation, `2/sqrt(support)` by default.
    - `length`: L tokens in a sample, of which `noise_tokens` are noise (half of them
      by default) and the others signal.
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
    classes: Classes = "equal"
    test_samples: int = 500
    disjoint: bool = False

    def __post_init__(self) -> None:
        check_counts(self.samples, self.test_samples, self.classes)
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
        _check_noise(self.noise)

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
        return self.length // 2 if self.noise_tokens is None else self.noise_tokens

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """A training set: `mu` and every `y·noise` first, then their opposites."""
        draw = _generator(key)
        label = _draw_labels(self.samples, self.classes, draw)
        gauge = np.repeat(label, self.noises)[:, None]
        return _in_label_gauge(
            np.concatenate([np.eye(1, self.embed), gauge * self._noise(draw)]),
            label,
            signals=self.length - self.noises,
            every_opposite=self.classes == "drawn",
        )

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples of the law, over `mu`, `-mu` and the noise of their own."""
        if not self.test_samples:
            return None
        draw = _generator(key)
        law = replace(self, samples=self.test_samples, classes="drawn", disjoint=False)
        label = _draw_labels(law.samples, law.classes, draw)
        signal = np.eye(1, self.embed)
        return _fresh(
            np.concatenate([signal, -signal, law._noise(draw)]),
            label,
            signals=self.length - self.noises,
        )

    def _noise(self, draw: np.random.Generator) -> np.ndarray:
        """Noise tokens `(samples · noises, embed)`."""
        count = self.samples * self.noises
        if self.disjoint:
            support = draw.choice(self.room, (count, self.support), replace=False)
        else:
            rows = range(count)
            support = np.array(
                [draw.choice(self.room, self.support, replace=False) for _ in rows]
            )
        entries = draw.normal(0, self.deviation, (count, self.support))
        noise = np.zeros((count, self.embed))
        np.put_along_axis(noise, support + self.embed - self.room, entries, axis=1)
        return noise


@dataclass(frozen=True)
class DisjointNoiseTask(AbstractNoiseTask):
    """Training sets of signal and noise tokens with disjoint supports.

    The token of a sample is `l2·e_i` with a unit vector of its own, and `columns` hold
    its l1 norm.

    **Arguments:**

    - `samples`: n, one noise token each.
    - `support`: coordinates of a noise token; `noise`: their standard deviation,
      `2/sqrt(support)` by default.
    - `classes`: `equal` (n/2 samples of either label, positive ones first), `drawn`.
    - `test_samples`: samples with noise disjoint from everything else, which no sign
      step moves.

    Norms have their exact joint law up to a support of 10^6. Above it (l1, l2²) is
    jointly normal with the right mean and covariance: its distribution function is off
    by about 0.2/sqrt(support), and quantiles within two standard deviations are off by
    about 2/support of themselves.
    """

    samples: int = 20
    support: int = 10**6
    noise: float | None = None
    classes: Classes = "equal"
    test_samples: int = 0

    def __post_init__(self) -> None:
        check_counts(self.samples, self.test_samples, self.classes)
        if not self.support >= 1:
            raise ValueError(
                f"support is {self.support}; a noise token has at least 1 coordinate. "
                f"Use support={LARGEST_DRAWN}."
            )
        _check_noise(self.noise)

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """A training set: `mu` and every `y·noise` first, then their opposites."""
        draw = _generator(key)
        label = _draw_labels(self.samples, self.classes, draw)
        l1, l2 = self._norms(draw)
        room = np.zeros((self.samples + 1, self.test_samples))
        return _in_label_gauge(
            np.concatenate([np.diag(np.asarray([1.0, *l2])), room], axis=1),
            label,
            signals=1,
            every_opposite=self.classes == "drawn",
            columns=np.diag(np.asarray([1.0, *l1])),
        )

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples, whose noise has coordinates after those of the training set.

        Their l2 norms have the exact law at any support; no l1 norm is needed.
        """
        if not self.test_samples:
            return None
        draw = _generator(key)
        label = _draw_labels(self.test_samples, "drawn", draw)
        l2 = self.deviation * np.sqrt(draw.chisquare(self.support, self.test_samples))
        trained = self.samples + 1
        tokens = np.zeros((self.test_samples + 2, trained + self.test_samples))
        tokens[:2, 0] = 1, -1
        np.fill_diagonal(tokens[2:, trained:], l2)
        return _fresh(tokens, label, signals=1, columns=tokens[:, :trained])

    def _norms(self, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The l1 and l2 norms of every noise token."""
        if self.support <= LARGEST_DRAWN:
            sums = np.array([_sums(self.support, draw) for _ in range(self.samples)])
        else:
            sums = _limit_sums(self.support, self.samples, draw)
        return self.deviation * sums[:, 0], self.deviation * np.sqrt(sums[:, 1])


def check_counts(samples: int, test_samples: int, classes: Classes) -> None:
    """Raise where so many samples of these classes cannot be drawn."""
    if classes not in ("equal", "drawn"):
        raise ValueError(f"classes is {classes!r}: use 'equal' or 'drawn'.")
    if classes == "equal" and (samples < 2 or samples % 2):
        raise ValueError(
            f"samples is {samples}; equal classes need an even number, 2 at least. "
            f"Use samples={max(samples + samples % 2, 2)}, or classes='drawn'."
        )
    if samples < 1:
        raise ValueError(f"samples is {samples}: draw at least 1.")
    if test_samples < 0:
        raise ValueError(f"test_samples is {test_samples}: use 0 for none, or more.")


def _check_noise(noise: float | None) -> None:
    if noise is not None and not 0 < noise < math.inf:
        raise ValueError(
            f"noise is {noise}; the standard deviation of a noise coordinate must be "
            "positive and finite, for noise tokens would vanish otherwise. Leave it "
            "out for 2/sqrt(support)."
        )


def _generator(key: Key | None) -> np.random.Generator:
    """A stream of random numbers from a key: no shape of it is compiled."""
    assert key is not None
    return np.random.default_rng(random.as_key(key))


def _draw_labels(
    samples: int, classes: Classes, draw: np.random.Generator
) -> np.ndarray:
    """Labels: one half +1 and then the other −1, or each drawn for itself."""
    if classes == "equal":
        return np.repeat([1.0, -1.0], samples // 2)
    return draw.choice([1.0, -1.0], samples)


def _in_label_gauge(
    gauged: np.ndarray,
    label: np.ndarray,
    *,
    signals: int,
    every_opposite: bool,
    columns: np.ndarray | None = None,
) -> Sequences:
    """Training samples from `gauged`, the rows `mu` and `y·noise` sample by sample.

    `every_opposite` puts opposites that no sample holds into the vocabulary too, so
    that it is the same for all drawn labels. `columns` are those of the gauged rows.
    """
    noises = (len(gauged) - 1) // len(label)
    owners = np.concatenate([[label.min()], np.repeat(label, noises)])
    opposite = np.flatnonzero(every_opposite | (owners < 0))
    opposite_row = np.zeros(len(gauged), int)
    opposite_row[opposite] = len(gauged) + np.arange(len(opposite))
    noise = 1 + np.arange(len(label) * noises).reshape(len(label), noises)
    held = np.concatenate([np.zeros((len(label), signals), int), noise], axis=1)
    names = ["mu", *_noise_names(len(label), noises)]
    if columns is not None:
        columns = np.concatenate([columns, -columns[opposite]])
    return sequences(
        np.concatenate([gauged, -gauged[opposite]]),
        np.where(label[:, None] > 0, held, opposite_row[held]),
        label,
        names=[*names, *(f"-{names[i]}" for i in opposite)],
        shown=range(len(gauged)),
        columns=columns,
    )


def _fresh(
    tokens: np.ndarray,
    label: np.ndarray,
    *,
    signals: int,
    columns: np.ndarray | None = None,
) -> Sequences:
    """Test samples from the rows `mu`, `-mu` and their noise, sample by sample."""
    count = len(label)
    noises = (len(tokens) - 2) // count
    noise = 2 + np.arange(count * noises).reshape(count, noises)
    signal = np.where(label[:, None] > 0, 0, 1).repeat(signals, axis=1)
    return sequences(
        tokens,
        np.concatenate([signal, noise], axis=1),
        label,
        names=["mu", "-mu", *_noise_names(count, noises)],
        shown=(0,),
        columns=columns,
    )


def _noise_names(samples: int, noises: int) -> list[str]:
    """Names of noise tokens, numbered within a sample where it has several."""
    if noises == 1:
        return [f"noise{i + 1}" for i in range(samples)]
    return [f"noise{i + 1}.{j + 1}" for i in range(samples) for j in range(noises)]


def _sums(support: int, draw: np.random.Generator) -> tuple[float, float]:
    """Sums of |x| and of x² over standard normals."""
    entries = draw.standard_normal(support)
    return float(np.abs(entries).sum()), float(entries @ entries)


def _limit_sums(support: int, count: int, draw: np.random.Generator) -> np.ndarray:
    """Normal sums of |x| and of x² with the mean and covariance of the true ones."""
    first = math.sqrt(2 / math.pi)
    covariance = np.array([[1 - first**2, first], [first, 2.0]])
    deviations = draw.standard_normal((count, 2)) @ np.linalg.cholesky(covariance).T
    return support * np.array([first, 1.0]) + math.sqrt(support) * deviations
