"""Signal and noise with disjoint supports, known by the norms of the noise alone.

Where no coordinate belongs to two tokens, a sign step moves the product of a neuron
with a noise token by the rate times the token's l1 norm, and initial products are
normal with the token's l2 norm. These two norms per sample are the whole data, so that
any support and any number of coordinates cost the same.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array

from attnflow.data import label_gauge
from attnflow.data.sequences import Sequences

# Up to here norms are sums over drawn coordinates: 10 ms for each token at the top.
LARGEST_DRAWN = 10**6


@dataclass(frozen=True)
class DisjointNoiseTask(label_gauge.DrawnNoise):
    """Training sets of signal and noise tokens with disjoint supports.

    The token of a sample is `l2·e_i` with a unit vector of its own, and `columns` hold
    its l1 norm.

    **Arguments:**

    - `samples`: n, one noise token each.
    - `support`: coordinates of a noise token; `noise`: their standard deviation,
      `2/sqrt(support)` unless said.
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
    classes: label_gauge.Classes = "equal"
    test_samples: int = 0

    def __post_init__(self) -> None:
        label_gauge.check_counts(self.samples, self.test_samples, self.classes)
        if not self.support >= 1:
            raise ValueError(
                f"support is {self.support}; a noise token has at least 1 coordinate. "
                f"Use support={LARGEST_DRAWN}."
            )
        label_gauge.check_noise(self.noise)

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """A training set: `mu` and every `y·noise` first, then their opposites."""
        draw = label_gauge.generator(key)
        label = label_gauge.draw_labels(self.samples, self.classes, draw)
        l1, l2 = self._norms(draw)
        room = np.zeros((self.samples + 1, self.test_samples))
        return label_gauge.in_label_gauge(
            np.concatenate([np.diag([1.0, *l2]), room], axis=1),
            label,
            signals=1,
            every_opposite=self.classes == "drawn",
            columns=np.diag([1.0, *l1]),
        )

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Fresh samples, whose noise has coordinates after those of the training set.

        Their l2 norms have the exact law at any support; no l1 norm is needed.
        """
        if not self.test_samples:
            return None
        draw = label_gauge.generator(key)
        label = label_gauge.draw_labels(self.test_samples, "drawn", draw)
        l2 = self.deviation * np.sqrt(draw.chisquare(self.support, self.test_samples))
        trained = self.samples + 1
        tokens = np.zeros((self.test_samples + 2, trained + self.test_samples))
        tokens[:2, 0] = 1, -1
        np.fill_diagonal(tokens[2:, trained:], l2)
        return label_gauge.fresh(tokens, label, signals=1, columns=tokens[:, :trained])

    def _norms(self, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The l1 and l2 norms of every noise token."""
        if self.support <= LARGEST_DRAWN:
            sums = np.array([_sums(self.support, draw) for _ in range(self.samples)])
        else:
            sums = _limit_sums(self.support, self.samples, draw)
        return self.deviation * sums[:, 0], self.deviation * np.sqrt(sums[:, 1])


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
