"""Symmetries of data, as plain records; forms turn them into quotients."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PermutedGroups:
    """Permutations of `groups` copies of a few kinds of tokens.

    Tokens are ordered by kind, then by group. Head h carries the tables of the first
    one with each kind's sign `head_signs[h]`.
    """

    groups: int
    head_signs: tuple[tuple[float, ...], ...]
