"""Mixture of linear classification: a group token names the token that votes.

A sample holds one group token `c_k`, the class token `y v_k` with the label's sign,
and `length - 2` distractors `± v_j` from other groups, i.i.d. uniform. Positions do not
matter, so that the whole law is a finite sum over multisets of distractors.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.symmetries import PermutedGroups
from attnflow.data.token_sequences import Sequences, Task, sequences

# Pair scores of a population are held in memory: samples × heads × length² floats.
LARGEST_POPULATION = 300_000

Signed = tuple[int, int]


@dataclass(frozen=True)
class MixtureTask(Task):
    """The data of the K-mixture of linear classification.

    **Arguments:**

    - `groups`: K >= 2. `length`: L >= 2 tokens per sample.
    - `population`: `exact` (every multiset once, with its probability), `orbits` (one
      representative per orbit under permutations of groups and the exchange of
      signs and heads; only for a symmetric initial state), or a number of samples
      to draw.
    - `embed`: dimension of the tokens, `2 * groups` by default.
    """

    groups: int = 2
    length: int = 3
    population: Literal["exact", "orbits"] | int = "exact"
    embed: int | None = None

    def __post_init__(self) -> None:
        if self.groups < 2:
            raise ValueError(
                f"groups (K) is {self.groups}; a mixture needs at least 2 groups, for "
                "the distractors come from the others. Use 2."
            )
        if self.length < 2:
            raise ValueError(
                f"length (L) is {self.length}; a sample holds at least its group token "
                "and its class token. Use 3."
            )
        if self.embed is not None and self.embed < 2 * self.groups:
            raise ValueError(
                f"embed is {self.embed}; {2 * self.groups} orthonormal tokens need at "
                f"least embed={2 * self.groups}."
            )
        if isinstance(self.population, int) and self.population < 1:
            raise ValueError(f"population is {self.population}: draw at least 1.")

    @property
    def symmetry(self) -> PermutedGroups | None:
        """The symmetry of which the data hold one representative per orbit."""
        if self.population != "orbits":
            return None
        # Exchanging y → −y flips every class token and swaps the two heads.
        return PermutedGroups(self.groups, ((1.0, 1.0), (1.0, -1.0)))

    @property
    def random(self) -> bool:
        """Whether the data depend on the seed."""
        return isinstance(self.population, int)

    def sequences(
        self,
        *,
        key: Key | None = None,
        dictionary: Float[np.ndarray, "dictionary embed"] | None = None,
    ) -> Sequences:
        """The samples; `dictionary` rows are `c_1 … c_K, v_1 … v_K`."""
        tokens = self._tokens(dictionary)
        if isinstance(self.population, int):
            assert key is not None
            atoms = list(_draw(key, self.groups, self.length, self.population))
        elif self.population == "orbits":
            atoms = list(orbits(self.groups, self.length))
        else:
            atoms = list(_population(self.groups, self.length))
        return _assemble(self.groups, tokens, atoms)

    def _tokens(self, dictionary: np.ndarray | None) -> np.ndarray:
        count = 2 * self.groups
        if dictionary is None:
            dictionary = np.eye(count, self.embed or count)
        dictionary = np.asarray(dictionary, float)
        if dictionary.ndim != 2 or dictionary.shape[0] != count:
            raise ValueError(
                f"The dictionary has shape {dictionary.shape}; it must have "
                f"{count} rows (c_1 … c_K, v_1 … v_K), one token each."
            )
        excess = np.abs(dictionary @ dictionary.T - np.eye(count)).max()
        # Rounding of a normalised vector of length d leaves about sqrt(d) ulps.
        if not excess <= 1e-12:
            raise ValueError(
                f"The dictionary is not orthonormal: its Gram matrix differs from the "
                f"identity by {excess:.3g}. Orthonormalise its rows "
                "(numpy.linalg.qr of the transpose)."
            )
        return np.concatenate([dictionary, -dictionary[self.groups :]])


@dataclass(frozen=True)
class Atom:
    """One sample: its group, label, distractors (group, sign) and probability."""

    group: int
    label: int
    distractors: tuple[Signed, ...]
    probability: float


def population_size(groups: int, length: int) -> int:
    """Number of atoms, `2K · C(2(K−1) + L − 3, L − 2)`."""
    kinds = 2 * (groups - 1)
    return 2 * groups * math.comb(kinds + length - 3, length - 2)


def _population(groups: int, length: int) -> Iterator[Atom]:
    size = population_size(groups, length)
    if size > LARGEST_POPULATION:
        raise ValueError(
            f"The exact population for groups={groups}, length={length} has {size} "
            f"atoms, more than {LARGEST_POPULATION}. Use population='orbits' (at "
            "infinite width) or a number of samples."
        )
    for group, label in itertools.product(range(groups), (1, -1)):
        others = [j for j in range(groups) if j != group]
        kinds = [(j, sign) for j in others for sign in (1, -1)]
        for multiset in itertools.combinations_with_replacement(kinds, length - 2):
            weight = _multinomial(multiset) / len(kinds) ** (length - 2)
            yield Atom(group, label, multiset, weight / (2 * groups))


def orbits(groups: int, length: int) -> Iterator[Atom]:
    """One atom per orbit, with the probability of the whole orbit.

    The group permutes the K mixtures and exchanges labels (with the sign of every
    class token); a representative has group 1, label +1 and its distractors' counts
    per other group in descending order.
    """
    others = groups - 1
    for counts in _orbit_counts(length - 2, others):
        multiset = tuple(
            signed
            for j, (plus, minus) in enumerate(counts, start=1)
            for signed in [(j, 1)] * plus + [(j, -1)] * minus
        )
        empty = others - len(counts)
        repeats = [*Counter(counts).values(), empty]
        relabelled = math.factorial(others) // math.prod(map(math.factorial, repeats))
        weight = _multinomial(multiset) / (2 * others) ** (length - 2)
        yield Atom(0, 1, multiset, weight * relabelled)


def _orbit_counts(total: int, parts: int) -> Iterator[tuple[Signed, ...]]:
    """Multisets of at most `parts` pairs (plus, minus) ≠ (0, 0) that sum to `total`."""

    def extend(left: int, room: int, top: Signed) -> Iterator[tuple[Signed, ...]]:
        if left == 0:
            yield ()
        if left == 0 or room == 0:
            return
        for size in range(left, 0, -1):
            for plus in range(size, -1, -1):
                pair = (plus, size - plus)
                if (size, plus) <= (sum(top), top[0]):
                    for rest in extend(left - size, room - 1, pair):
                        yield (pair, *rest)

    yield from extend(total, parts, (total, 0))


def _multinomial(multiset: tuple[Signed, ...]) -> int:
    """Number of orders in which a multiset of distractors can be drawn."""
    repeats = Counter(multiset).values()
    return math.factorial(len(multiset)) // math.prod(map(math.factorial, repeats))


def _draw(key: Key, groups: int, length: int, count: int) -> Iterator[Atom]:
    keys, shape = random.split(key, 4), (count, length - 2)
    group = random.randint(keys[0], (count,), 0, groups)
    label = random.rademacher(keys[1], (count,))
    other = random.randint(keys[2], shape, 0, groups - 1)
    sign = random.rademacher(keys[3], shape)
    other = other + (other >= group[:, None])
    for n in range(count):
        pairs = [(int(j), int(s)) for j, s in zip(other[n], sign[n], strict=True)]
        yield Atom(int(group[n]), int(label[n]), tuple(pairs), 1 / count)


def _assemble(groups: int, tokens: np.ndarray, atoms: list[Atom]) -> Sequences:
    def row(atom: Atom) -> list[int]:
        signed = [(atom.group, atom.label), *atom.distractors]
        return [atom.group] + [(groups if s > 0 else 2 * groups) + j for j, s in signed]

    kinds = [_kind(atom) for atom in atoms]
    present = [k for k in ("consistent", "conflicting", "mixed") if k in kinds]
    numbers = range(1, groups + 1)
    names = [f"{sign}{n}" for sign in ("c", "v", "-v") for n in numbers]
    total = math.fsum(atom.probability for atom in atoms)
    return sequences(
        tokens,
        np.array([row(atom) for atom in atoms]),
        np.array([atom.label for atom in atoms]),
        probability=np.array([atom.probability for atom in atoms]) / total,
        group=np.array([present.index(kind) for kind in kinds]),
        names=names,
        group_names=present,
        shown=range(2 * groups),
    )


def _kind(atom: Atom) -> str:
    """Whether all distractors agree with the label, none does, or some do."""
    signs = {sign * atom.label for _, sign in atom.distractors}
    if signs <= {1}:
        return "consistent"
    return "conflicting" if signs == {-1} else "mixed"
