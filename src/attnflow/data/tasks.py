"""Tasks: distributions of sequences, and their symmetries as plain records.

Forms turn a symmetry into a quotient.
"""

from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Array

from attnflow.data.token_sequences import Sequences


@dataclass(frozen=True)
class PermutedGroups:
    """Permutations of `groups` copies of a few kinds of tokens.

    Tokens are ordered by kind, then by group. Head h carries the tables of the first
    one with each kind's sign `head_signs[h]`.
    """

    groups: int
    head_signs: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PrivateTokens:
    """Samples of a few kinds that share some tokens and hold others for themselves.

    Kind k has `counts[k]` samples, and each of them `private[k]` tokens that occur
    nowhere else. Whatever permutes the samples of a kind, or the private tokens of a
    sample, is a symmetry. Counts enter quotients as numbers alone: they may be huge,
    and need not be whole.

    The vocabulary is a window: the `shared` tokens; the private tokens of the first
    `copies` samples of each kind, ordered by kind, sample and slot; and last, a token
    that occurs in no sample.
    """

    shared: int
    counts: tuple[float, ...]
    private: tuple[int, ...]
    copies: int = 1

    def place(self, kind: int, sample: int, slot: int) -> int:
        """The index in the window of a private token."""
        before = sum(self.private[:kind]) * self.copies
        return self.shared + before + sample * self.private[kind] + slot

    @property
    def unseen(self) -> int:
        """The index of the token that occurs in no sample."""
        return self.shared + sum(self.private) * self.copies

    def places(self) -> list[tuple[int, int, int]]:
        """Kind, sample and slot of every private token of the window."""
        return [
            (kind, sample, slot)
            for kind, private in enumerate(self.private)
            for sample in range(self.copies)
            for slot in range(private)
        ]


Symmetry = PermutedGroups | PrivateTokens


class Task(Protocol):
    """A distribution of data, as a frozen dataclass.

    One that inherits from it needs `sequences` alone: its data are the same for every
    seed, without symmetry and without test samples, unless it says otherwise.
    """

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return False

    @property
    def symmetry(self) -> Symmetry | None:
        """The symmetry of which the data hold one representative per orbit."""
        return None

    def sequences(self, *, key: Array | None = None) -> Sequences:
        """The samples."""
        ...

    def test_sequences(self, *, key: Array | None = None) -> Sequences | None:
        """Samples to test on, over the same vocabulary; `None` where there are none."""
        return None
