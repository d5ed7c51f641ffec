"""Word co-occurrence: whether two target tokens are both present.

A sample of L tokens holds the common token `mu3` once, the targets `mu1` and `mu2` as
its type says, and fillers in every other slot. Its label is +1 where both targets are
there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import jax
import numpy as np
from jaxtyping import Array

from attnflow.data.sequences import Sequences, sequences

TYPES = ("both", "first", "second", "neither")
TARGETS = {"both": (0, 1), "first": (0,), "second": (1,), "neither": ()}
SHARES = (1 / 2, 1 / 6, 1 / 6, 1 / 6)
COMMON = 2
NAMED = 3


@dataclass(frozen=True)
class CooccurrenceTask:
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
        if self.length < 3:
            raise ValueError(
                f"length is {self.length}; a sample with both targets and the common "
                "token has at least 3 tokens. Use length=5."
            )
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
    def symmetry(self) -> None:
        """A drawn training set has no symmetry."""
        return None

    @property
    def random(self) -> bool:
        """The fillers depend on the seed."""
        return True

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """A training set."""
        assert key is not None
        key_types, key_fillers = jax.random.split(key)
        types = self._types(key_types)
        slots = sum(self.length - 1 - len(TARGETS[TYPES[t]]) for t in types)
        if self.fillers == "distinct":
            self._check_distinct(slots)
            order = jax.random.permutation(key_fillers, self.embed - NAMED)[:slots]
        else:
            order = jax.random.randint(key_fillers, (slots,), 0, self.embed - NAMED)
        made = _assemble(types, NAMED + np.asarray(order), self.length, self.embed)
        if self.shown == "named":
            return replace(made, shown=tuple(range(NAMED)))
        return made

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Fresh samples of the law itself: types by their shares, fillers uniform."""
        if not self.test_samples:
            return None
        assert key is not None
        law = replace(
            self, samples=self.test_samples, shares="drawn", fillers="repeated"
        )
        return law.sequences(key=key)

    def _types(self, key: Array) -> np.ndarray:
        if self.shares == "exact":
            return np.repeat(np.arange(4), _exact_counts(self.samples))
        drawn = jax.random.choice(key, 4, (self.samples,), p=np.array(SHARES))
        return np.asarray(drawn)


def _exact_counts(samples: int) -> list[int]:
    return [samples // 2, samples // 6, samples // 6, samples // 6]


def _assemble(
    types: Sequence[int] | np.ndarray, fillers: np.ndarray, length: int, embed: int
) -> Sequences:
    rows, used = [], 0
    for kind in types:
        named = [*TARGETS[TYPES[kind]], COMMON]
        free = length - len(named)
        rows.append([*named, *fillers[used : used + free]])
        used += free
    label = np.where(np.asarray(types) == 0, 1.0, -1.0)
    names = [f"mu{i + 1}" for i in range(embed)]
    return sequences(
        np.eye(embed),
        np.array(rows),
        label,
        group=np.asarray(types),
        names=names,
        group_names=TYPES,
    )
