"""In-context regression: examples whose answers are payloads, and a question.

A sample has a hidden vector w. It shows `length` examples, each a feature `x_k` out of
K orthonormal ones with its answer `w_k` as payload, and asks for that of a feature q.
Attention from q to the examples then answers with a mean of the payloads.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import Sequences, Task, sequences

# Pair scores of a population are held in memory.
LARGEST_POPULATION = 300_000
GROUPS = ("seen", "unseen")


@dataclass(frozen=True)
class InContextTask(Task):
    """Samples of in-context regression.

    **Arguments:**

    - `features`: K; `length`: examples of a sample.
    - `shares`: the probabilities of the features, in examples and questions; equal ones
      by default.
    - `population`: `exact` or a number of samples to draw, with normal w.

    Examples count by how often a feature occurs: a key stands for all examples of one
    feature. The exact population has, for every multiset of examples and question, w
    along each of the K axes with length `√K`: `E w wᵀ = I`, and the squared loss knows
    nothing else of the law of w. Groups say whether the question's feature is `seen`
    among the examples.
    """

    features: int = 3
    length: int = 4
    shares: tuple[float, ...] | None = None
    population: Literal["exact"] | int = "exact"

    def __post_init__(self) -> None:
        for name in ("features", "length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use 1 or more.")
        if isinstance(self.population, int) and self.population < 1:
            raise ValueError(f"population is {self.population}: draw at least 1.")
        shares = self.shares
        if shares is None:
            return
        fits = len(shares) == self.features and min(shares) > 0
        if not (fits and math.isclose(sum(shares), 1, rel_tol=1e-12)):
            raise ValueError(
                f"shares is {shares}: give {self.features} positive numbers, one for "
                "each feature, that sum to 1."
            )

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return isinstance(self.population, int)

    @property
    def law(self) -> np.ndarray:
        """The probabilities of the features."""
        even = np.full(self.features, 1 / self.features)
        return even if self.shares is None else np.array(self.shares)

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """The samples."""
        if isinstance(self.population, int):
            assert key is not None
            return self._assemble(*_draw(key, self.law, self.length, self.population))
        return self._assemble(*self._population())

    def _population(self) -> tuple[np.ndarray, ...]:
        count = self.features
        size = math.comb(self.length + count - 1, count - 1) * count**2
        if size > LARGEST_POPULATION:
            raise ValueError(
                f"The exact population for features={count}, length={self.length} has "
                f"{size} samples, more than {LARGEST_POPULATION}. Use a number."
            )
        counts, chance = _multisets(self.law, self.length)
        triples = itertools.product(range(len(counts)), range(count), range(count))
        examples, question, axis = (np.array(x) for x in zip(*triples, strict=True))
        hidden = math.sqrt(count) * np.eye(count)[axis]
        weight = chance[examples] * self.law[question] / count
        return counts[examples], hidden, question, weight

    def _assemble(
        self,
        counts: np.ndarray,
        hidden: np.ndarray,
        question: np.ndarray,
        weight: np.ndarray,
    ) -> Sequences:
        rows = np.arange(len(question))
        return sequences(
            np.eye(self.features),
            np.broadcast_to(np.arange(self.features), counts.shape),
            hidden[rows, question],
            mass=counts,
            query=question[:, None],
            payload=hidden,
            probability=weight / math.fsum(weight),
            group=(counts[rows, question] == 0).astype(int),
            names=[f"x{k + 1}" for k in range(self.features)],
            group_names=GROUPS,
        )


def _multisets(law: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of features in every multiset of examples, and its probability."""
    counts: list[list[int]] = []
    chances: list[float] = []
    for multiset in itertools.combinations_with_replacement(range(len(law)), length):
        times = Counter(multiset)
        orders = math.factorial(length)
        for number in times.values():
            orders //= math.factorial(number)
        counts.append([times[k] for k in range(len(law))])
        chances.append(orders * math.prod(law[k] for k in multiset))
    return np.array(counts, float), np.array(chances)


def _draw(
    key: Key, law: np.ndarray, length: int, samples: int
) -> tuple[np.ndarray, ...]:
    keys, size = random.split(key, 3), len(law)
    shown = random.choice(keys[0], size, (samples, length), law)
    question = random.choice(keys[1], size, (samples,), law)
    hidden = random.normal(keys[2], (samples, size))
    counts = (shown[:, :, None] == np.arange(size)).sum(axis=1).astype(float)
    return counts, hidden, question, np.full(samples, 1 / samples)
