"""Word co-occurrence with as many samples as one likes: one sample for each type.

Where no filler occurs twice, training sets of exact shares differ only in the names of
their fillers: four representatives and the numbers of samples say everything.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array

from attnflow.data.cooccurrence import COMMON, NAMED, SHARES, TARGETS, TYPES
from attnflow.data.sequences import Sequences, sequences
from attnflow.data.symmetry import PrivateTokens


@dataclass(frozen=True)
class CooccurrenceOrbits:
    """One representative for each of the four types of samples.

    **Arguments:**

    - `samples`: n, a real number; types have n/2, n/6, n/6, n/6 samples.
    - `length`: L tokens in a sample.
    - `unseen`: fillers that occur in no training sample, which test samples may hold.
    - `test_samples`: test samples to draw; those that look alike to the symmetry are
      kept once, with their share as probability.
    """

    samples: float = 60.0
    length: int = 5
    unseen: float = 20.0
    test_samples: int = 0

    def __post_init__(self) -> None:
        if self.length < 3:
            raise ValueError(
                f"length is {self.length}; a sample with both targets and the common "
                "token has at least 3 tokens. Use length=5."
            )
        if not self.samples >= 6:
            raise ValueError(
                f"samples is {self.samples}; each of the four types needs a sample, "
                "which takes 6 at least. Use samples=60."
            )
        if not self.unseen >= 0:
            raise ValueError(f"unseen is {self.unseen}: give a number >= 0.")

    @property
    def symmetry(self) -> PrivateTokens:
        """Fillers are private to their samples."""
        return PrivateTokens(
            shared=NAMED,
            counts=tuple(self.samples * share for share in SHARES),
            private=tuple(self.length - 1 - len(TARGETS[kind]) for kind in TYPES),
            # A test sample draws its fillers from at most L − 1 training samples.
            copies=self.length - 1,
        )

    @property
    def random(self) -> bool:
        """The representatives do not depend on the seed."""
        return False

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """The four representatives."""
        law = self.symmetry
        rows = [
            [*_named(kind), *(law.place(kind, 0, s) for s in range(law.private[kind]))]
            for kind in range(len(TYPES))
        ]
        return self._sequences(rows, range(len(TYPES)), SHARES)

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Fresh samples of the law, up to the symmetry."""
        if not self.test_samples:
            return None
        assert key is not None
        draw = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        counts: dict[tuple[int, ...], float] = {}
        each = -(-self.test_samples // len(TYPES))
        for kind, share in enumerate(SHARES):
            for row in self._fillers(kind, each, draw):
                sample = (kind, *row)
                counts[sample] = counts.get(sample, 0.0) + share / each
        rows = [[*_named(kind), *fillers] for kind, *fillers in counts]
        weights = np.array(list(counts.values()))
        return self._sequences(rows, [s[0] for s in counts], weights / weights.sum())

    def _fillers(
        self, kind: int, draws: int, draw: np.random.Generator
    ) -> list[tuple[int, ...]]:
        """Fillers of test samples, each named by what it shares with those before."""
        law = self.symmetry
        slots = law.private[kind]
        numbers = np.array(law.counts) * law.private
        odds = np.append(numbers, self.unseen) / (numbers.sum() + self.unseen)
        kinds = draw.choice(len(odds), (draws, slots), p=odds)
        # The last entries stand for unseen tokens, of which one is as good as another.
        sizes = np.append(law.counts, 1.0)[kinds]
        widths = np.append(law.private, 1)[kinds]
        samples = np.floor(draw.random((draws, slots)) * sizes).astype(int)
        places = np.floor(draw.random((draws, slots)) * widths).astype(int)
        return [
            _renamed(law, *columns)
            for columns in zip(kinds, samples, places, strict=True)
        ]

    def _sequences(self, rows: list, kinds: object, probability: object) -> Sequences:
        law = self.symmetry
        group = np.array(kinds)
        fillers = [f"{TYPES[k]}:{i}.{s}" for k, i, s in law.places()]
        names = [*(f"mu{i + 1}" for i in range(NAMED)), *fillers, "unseen"]
        firsts = [law.place(k, 0, 0) for k, r in enumerate(law.private) if r]
        return sequences(
            np.eye(len(names)),
            np.array(rows),
            np.where(group == 0, 1.0, -1.0),
            probability=np.array(probability),
            group=group,
            names=names,
            group_names=TYPES,
            shown=[*range(NAMED), *firsts],
        )


def _named(kind: int) -> list[int]:
    return [*TARGETS[TYPES[kind]], COMMON]


def _renamed(
    law: PrivateTokens, kinds: np.ndarray, samples: np.ndarray, slots: np.ndarray
) -> tuple[int, ...]:
    """Tokens with samples and slots numbered in the order of their appearance.

    Sorted first, so that samples that the symmetry cannot tell apart get one name.
    """
    order = np.lexsort((slots, samples, kinds))
    found: list[int] = []
    seen: dict[tuple[int, ...], int] = {}
    for kind, sample, slot in zip(
        kinds[order], samples[order], slots[order], strict=True
    ):
        if kind == len(law.counts):
            found.append(law.unseen)
            continue
        number = seen.setdefault((kind, sample), _next(seen, (kind,)))
        place = seen.setdefault((kind, sample, slot), _next(seen, (kind, sample)))
        found.append(law.place(int(kind), number, place))
    return tuple(sorted(found))


def _next(seen: dict[tuple[int, ...], int], prefix: tuple[int, ...]) -> int:
    """How many names with this prefix and one more entry there are."""
    size = len(prefix)
    return sum(len(name) == size + 1 and name[:size] == prefix for name in seen)
