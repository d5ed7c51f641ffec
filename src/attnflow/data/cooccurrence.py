"""Word co-occurrence: whether two target tokens are both present.

A sample of L tokens holds the common token `mu3` once, the targets `mu1` and `mu2` as
its type says, and fillers in every other slot. Its label is +1 where both targets are
there.

Where no filler occurs twice, training sets of exact shares differ only in the names of
their fillers: `CooccurrenceOrbits` has four representatives and the numbers of samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.symmetries import PrivateTokens
from attnflow.data.token_sequences import Sequences, Task, on_device, sequences

TYPES = ("both", "first", "second", "neither")
TARGETS = {"both": (0, 1), "first": (0,), "second": (1,), "neither": ()}
SHARES = (1 / 2, 1 / 6, 1 / 6, 1 / 6)
COMMON = 2
NAMED = 3


@dataclass(frozen=True)
class CooccurrenceTask(Task):
    """Training sets of the word co-occurrence task.

    **Arguments:**

    - `samples`, `length`: n samples of L tokens; `embed`: d orthonormal tokens, of
      which three are named and the others fillers.
    - `fillers`: `repeated` (each slot uniform on the fillers) or `distinct` (no filler
      occurs twice in the training set).
    - `shares`: `exact` (n/2, n/6, n/6, n/6 samples of the four types) or `drawn`.
    - `test_samples`: fresh samples beside them, drawn from the law itself.
    - `shown`: tables on `all` tokens, or on the three `named` ones.
    """

    samples: int = 60
    length: int = 5
    embed: int = 64
    fillers: Literal["repeated", "distinct"] = "repeated"
    shares: Literal["exact", "drawn"] = "exact"
    test_samples: int = 0
    shown: Literal["all", "named"] = "all"

    def __post_init__(self) -> None:
        _check_length(self.length)
        if self.samples < 1 or (self.shares == "exact" and self.samples % 6):
            raise ValueError(
                f"samples is {self.samples}; exact shares need a positive multiple of "
                "6. Use samples=60, or shares='drawn'."
            )
        if self.embed <= NAMED:
            raise ValueError(
                f"embed is {self.embed}; three tokens are named and fillers need at "
                "least one more. Use embed=64."
            )
        if self.fillers == "distinct" and self.shares == "exact":
            self._check_distinct(self.slots)

    def _check_distinct(self, slots: int) -> None:
        if slots > self.embed - NAMED:
            raise ValueError(
                f"embed is {self.embed}, which leaves {self.embed - NAMED} fillers for "
                f"{slots} slots: distinct fillers need embed={slots + NAMED} at least."
            )

    @property
    def slots(self) -> int:
        """Filler slots of a training set with exact shares."""
        counts = _exact_counts(self.samples)
        return sum(
            n * (self.length - 1 - len(TARGETS[kind]))
            for n, kind in zip(counts, TYPES, strict=True)
        )

    @property
    def random(self) -> bool:
        """The fillers depend on the seed."""
        return True

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """A training set."""
        assert key is not None
        key_types, key_fillers = random.split(key)
        types = self._types(key_types)
        slots = sum(self.length - 1 - len(TARGETS[TYPES[t]]) for t in types)
        if self.fillers == "distinct":
            self._check_distinct(slots)
            order = random.permutation(key_fillers, self.embed - NAMED)[:slots]
        else:
            order = random.randint(key_fillers, (slots,), 0, self.embed - NAMED)
        data = _assemble(types, NAMED + order, self.length, self.embed)
        if self.shown == "named":
            return replace(data, shown=tuple(range(NAMED)))
        return data

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples of the law itself: types by their shares, fillers uniform."""
        if not self.test_samples:
            return None
        assert key is not None
        law = replace(
            self, samples=self.test_samples, shares="drawn", fillers="repeated"
        )
        return law.sequences(key=key)

    def _types(self, key: Key) -> np.ndarray:
        if self.shares == "exact":
            return np.repeat(np.arange(4), _exact_counts(self.samples))
        return random.choice(key, 4, (self.samples,), SHARES)


def _check_length(length: int) -> None:
    if length < 3:
        raise ValueError(
            f"length is {length}; a sample with both targets and the common token has "
            "at least 3 tokens. Use length=5."
        )


def _exact_counts(samples: int) -> list[int]:
    return [samples // 2, samples // 6, samples // 6, samples // 6]


def _assemble(
    types: Sequence[int] | np.ndarray, fillers: np.ndarray, length: int, embed: int
) -> Sequences:
    rows: list[list[int]] = []
    used = 0
    for kind in types:
        named = _named(kind)
        free = length - len(named)
        rows.append([*named, *fillers[used : used + free]])
        used += free
    label = np.where(np.asarray(types) == 0, 1.0, -1.0)
    return sequences(
        np.eye(embed),
        np.array(rows),
        label,
        group=np.asarray(types),
        names=[f"mu{i + 1}" for i in range(embed)],
        group_names=TYPES,
    )


@dataclass(frozen=True)
class CooccurrenceOrbits(Task):
    """One representative for each of the four types of samples.

    **Arguments:**

    - `samples`: n, a real number; types have n/2, n/6, n/6, n/6 samples.
    - `length`: L tokens in a sample.
    - `unseen`: fillers that occur in no training sample, which test samples may hold.
    - `test_samples`: test samples to draw; those that look alike to the symmetry are
      kept once, with their share as probability.

    Fillers of a sample are interchangeable. Without test samples, whose fillers come
    from several samples, one asks for all of them, and two are its keys: itself, and
    one with the mass of all others. So no array grows with L.
    """

    samples: float = 60.0
    length: int = 5
    unseen: float = 20.0
    test_samples: int = 0

    def __post_init__(self) -> None:
        _check_length(self.length)
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
            copies=self.length - 1 if self.test_samples else 1,
            listed=None if self.test_samples else 2,
        )

    def sequences(self, *, key: Key | None = None) -> Sequences:
        """The four representatives."""
        law = self.symmetry
        if law.listed is not None:
            return self._two_fillers()
        rows = [
            [*_named(kind), *(law.place(kind, 0, s) for s in range(law.private[kind]))]
            for kind in range(len(TYPES))
        ]
        return self._sequences(rows, range(len(TYPES)), SHARES)

    def _two_fillers(self) -> Sequences:
        """The representatives with two fillers each, padded by keys without mass."""
        law = self.symmetry
        width = NAMED + 2
        keys, mass, weight = np.zeros((3, len(TYPES), width))
        for kind, fillers in enumerate(law.private):
            named = _named(kind)
            own, other = (law.place(kind, 0, slot) for slot in range(2))
            pad = NAMED - len(named)
            one, rest = min(fillers, 1), max(fillers - 1, 0)
            keys[kind] = [*named, own, other, *[other] * pad]
            mass[kind] = [*[1] * len(named), one, rest, *[0] * pad]
            weight[kind] = [*[1] * len(named), fillers, 0, *[0] * pad]
        # A query without weight is padding.
        rows = keys.astype(int)
        data = self._sequences(rows.tolist(), range(len(TYPES)), SHARES)
        masses = on_device({"mass": mass, "query_weight": weight})
        return replace(data, **masses)

    def test_sequences(self, *, key: Key | None = None) -> Sequences | None:
        """Fresh samples of the law, up to the symmetry."""
        if not self.test_samples:
            return None
        assert key is not None
        draw = np.random.default_rng(random.as_key(key))
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
        # The last entries stand for unseen tokens, which are interchangeable.
        sizes = np.append(law.counts, 1.0)[kinds]
        widths = np.append(law.private, 1)[kinds]
        samples = np.floor(draw.random((draws, slots)) * sizes).astype(int)
        numbers_within = np.floor(draw.random((draws, slots)) * widths).astype(int)
        return [
            _rename(law, *columns)
            for columns in zip(kinds, samples, numbers_within, strict=True)
        ]

    def _sequences(
        self,
        rows: list[list[int]],
        kinds: Sequence[int],
        probability: Sequence[float] | np.ndarray,
    ) -> Sequences:
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


def _rename(
    law: PrivateTokens, kinds: np.ndarray, samples: np.ndarray, slots: np.ndarray
) -> tuple[int, ...]:
    """Tokens with samples and slots numbered in the order of their appearance.

    Sorted first, so that samples that the symmetry cannot tell apart get one name.
    """
    order = np.lexsort((slots, samples, kinds))
    tokens: list[int] = []
    seen: dict[tuple[int, ...], int] = {}
    for kind, sample, slot in zip(
        kinds[order], samples[order], slots[order], strict=True
    ):
        if kind == len(law.counts):
            tokens.append(law.unseen)
            continue
        number = seen.setdefault((kind, sample), _next(seen, (kind,)))
        order_within = seen.setdefault(
            (kind, sample, slot), _next(seen, (kind, sample))
        )
        tokens.append(law.place(int(kind), number, order_within))
    return tuple(sorted(tokens))


def _next(seen: dict[tuple[int, ...], int], prefix: tuple[int, ...]) -> int:
    """How many names with this prefix and one more entry there are."""
    size = len(prefix)
    return sum(len(name) == size + 1 and name[:size] == prefix for name in seen)
