"""Symmetries of distributions of sequences, as plain records.

Forms turn a symmetry into a quotient.
"""

from dataclasses import dataclass


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
    """Symmetry of samples that share some tokens and have private ones.

    Kind k has `counts[k]` samples, and each of them `private[k]` tokens that occur
    nowhere else. Whatever permutes the samples of a kind, or the private tokens of a
    sample, is a symmetry. Counts enter quotients as numbers alone: they may be huge,
    and need not be whole.

    The vocabulary is a window: the `shared` tokens; the private tokens of the first
    `copies` samples of each kind, ordered by kind, sample and slot; and last, a token
    that occurs in no sample. With `listed` it has so many private tokens of a sample,
    whatever their number, which may then be huge too.
    """

    shared: int
    counts: tuple[float, ...]
    private: tuple[int, ...]
    copies: int = 1
    listed: int | None = None

    @property
    def slots(self) -> tuple[int, ...]:
        """Number of private tokens of a sample that the window has, by kind."""
        if self.listed is None:
            return self.private
        return (self.listed,) * len(self.private)

    def place(self, kind: int, sample: int, slot: int) -> int:
        """The index in the window of a private token."""
        before = sum(self.slots[:kind]) * self.copies
        return self.shared + before + sample * self.slots[kind] + slot

    @property
    def unseen(self) -> int:
        """The index of the token that occurs in no sample."""
        return self.shared + sum(self.slots) * self.copies

    def places(self) -> list[tuple[int, int, int]]:
        """Kind, sample and slot of every private token of the window."""
        return [
            (kind, sample, slot)
            for kind, slots in enumerate(self.slots)
            for sample in range(self.copies)
            for slot in range(slots)
        ]


Symmetry = PermutedGroups | PrivateTokens
