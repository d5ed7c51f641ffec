"""Classes of sequences: what is asked last decides, with the context, what comes next.

A class n of sequences ends with the query token `psi(n)` and is followed by one next
token. Its other tokens, the context, are drawn independently from `P(. | n)`; their
order means nothing, so that a sequence is the counts of its tokens. A token is
*distinct* where one class alone has it and *common* where several have.
`AlikeClasses` is a layout of classes that all look alike.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

# Sums of a few hundred rounded probabilities are off by this much at the most.
ROUNDING = 1e-9


@dataclass(frozen=True)
class SequenceClasses:
    """Sequence classes with equal shares, over a vocabulary of kinds of tokens.

    A kind stands for as many tokens that are alike as its multiplicity says; a plain
    vocabulary has kinds of one token each.

    **Arguments:**

    - `probability`: `P(l | n)` of each single token, classes by kinds; with the
      multiplicities the rows sum to one.
    - `query`, `next_token`: the kinds `psi(n)` and n of each class, of one token each.
    - `multiplicity`: how many tokens each kind has; all ones where left out.
    - `queries`: the kinds that are meant as queries, each of which must have a class;
      those of the classes where left out.
    - `names`: of the kinds.
    """

    probability: tuple[tuple[float, ...], ...]
    query: tuple[int, ...]
    next_token: tuple[int, ...]
    multiplicity: tuple[int, ...] = ()
    queries: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_shapes(self)
        _check_probabilities(self)
        _check_tokens(self)

    @property
    def classes(self) -> int:
        """K, the number of classes."""
        return len(self.probability)

    @property
    def kinds(self) -> int:
        """The number of kinds of tokens."""
        return len(self.probability[0])

    @cached_property
    def counts(self) -> Int[np.ndarray, " kinds"]:
        """How many tokens each kind has."""
        return np.array(self.multiplicity or (1,) * self.kinds, np.int64)

    @property
    def vocabulary(self) -> int:
        """M, the number of tokens."""
        return int(self.counts.sum())

    @cached_property
    def table(self) -> Float[np.ndarray, "classes kinds"]:
        """`P(l | n)` as an array."""
        return np.array(self.probability, float)

    @cached_property
    def common(self) -> Bool[np.ndarray, " kinds"]:
        """Which kinds are tokens of several classes."""
        return (self.table > 0).sum(axis=0) > 1

    @cached_property
    def distinct(self) -> Bool[np.ndarray, "classes kinds"]:
        """Which kinds are tokens of this class alone."""
        return (self.table > 0) & ((self.table > 0).sum(axis=0) == 1)

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the kinds, their numbers where none were given."""
        return self.names or tuple(str(i) for i in range(self.kinds))

    def sequence_classes(self) -> "SequenceClasses":
        """Itself; `AlikeClasses` has a method of this name."""
        return self


def _check_shapes(task: SequenceClasses) -> None:
    rows = task.probability
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ValueError(
            f"The classes' probabilities have the lengths {[len(r) for r in rows]}: "
            "give one class or more, and for each a probability per kind of token."
        )
    for name in ("query", "next_token"):
        if len(getattr(task, name)) != len(rows):
            raise ValueError(
                f"{name} has {len(getattr(task, name))} entries for {len(rows)} "
                "classes: give one kind of token for each class."
            )
    for name in ("multiplicity", "names"):
        entries = getattr(task, name)
        if entries and len(entries) != len(rows[0]):
            raise ValueError(
                f"{name} has {len(entries)} entries for {len(rows[0])} kinds of "
                "tokens: give one for each kind."
            )
    if any(count < 1 for count in task.multiplicity):
        raise ValueError(
            f"The multiplicities are {task.multiplicity}: a kind has one token or more."
        )


def _check_probabilities(task: SequenceClasses) -> None:
    for n, row in enumerate(task.table):
        if not np.isfinite(row).all() or (row < 0).any():
            raise ValueError(
                f"Class {n} has the probability {float(row.min())}: probabilities are "
                "finite and not negative."
            )
        if not row.any():
            raise ValueError(
                f"Class {n} has no support: all of its probabilities are 0. Give it at "
                "least one token, or leave the class out."
            )
        total = float(row @ task.counts)
        if abs(total - 1) > ROUNDING:
            raise ValueError(
                f"The probabilities of class {n} sum to {total:.12g} over its tokens: "
                "they must sum to 1. Divide them by their sum."
            )


def _check_tokens(task: SequenceClasses) -> None:
    kinds = len(task.probability[0])
    declared = (*task.query, *task.next_token, *task.queries)
    outside = sorted({kind for kind in declared if not 0 <= kind < kinds})
    if outside:
        raise ValueError(
            f"The kinds {outside} are named as query or next token, and there are the "
            f"kinds 0 to {kinds - 1}: name one of them."
        )
    many = sorted({k for k in declared if task.counts[k] > 1})
    if many:
        raise ValueError(
            f"The kinds {many} are queries or next tokens and have several tokens: "
            "give each query and each next token a kind of its own."
        )
    idle = [kind for kind in task.queries if kind not in task.query]
    if idle:
        raise ValueError(
            f"The queries {idle} belong to no class: end some class with them, or "
            "leave them out of queries."
        )
    for n, kind in enumerate(task.query):
        if task.table[n, kind] > 0:
            raise ValueError(
                f"The query of class {n}, kind {kind}, is in the support of its own "
                f"class (probability {task.table[n, kind]:.4g}): attention to the "
                "query itself is masked. Give it another query, or the probability 0."
            )


@dataclass(frozen=True)
class AlikeClasses:
    """Sequence classes with shared common tokens and equally many distinct ones each.

    Kinds of tokens stand in the order: common to all; common to the classes of one
    query, query by query; distinct, class by class; queries; next tokens; and all that
    never occur, as one kind. A class's probabilities are its weights over their sum.

    **Arguments:**

    - `queries`, `classes_per_query`: class n ends with query `n // classes_per_query`.
    - `common`, `common_per_query`, `distinct`: weights of a class's kinds of tokens.
    - `common_tokens`, `distinct_tokens`: how many tokens each of these kinds has; one
      each where left out.
    - `vocabulary`: M; where left out, as many as the classes have.
    """

    queries: int
    classes_per_query: int
    common: tuple[float, ...]
    distinct: tuple[float, ...]
    common_per_query: tuple[float, ...] = ()
    common_tokens: tuple[int, ...] = ()
    distinct_tokens: tuple[int, ...] = ()
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        if self.queries < 1 or self.classes_per_query < 1:
            raise ValueError(
                f"There are {self.queries} queries with {self.classes_per_query} "
                "classes each: give at least one of both."
            )
        weights = (*self.common, *self.common_per_query, *self.distinct)
        if any(not 0 < w < np.inf for w in weights):
            raise ValueError(
                f"The weights are {weights}: each must be positive and finite. Leave "
                "out tokens that do not occur."
            )
        if not weights:
            raise ValueError(
                "The classes have no support: give weights of common or distinct "
                "tokens."
            )
        for kind in ("common", "distinct"):
            counts, needed = getattr(self, f"{kind}_tokens"), len(getattr(self, kind))
            if counts and len(counts) != needed:
                raise ValueError(
                    f"{kind}_tokens has {len(counts)} entries for {needed} weights: "
                    "give one number of tokens for each."
                )
        if self.unseen < 0:
            raise ValueError(
                f"vocabulary is {self.vocabulary}, and the classes have "
                f"{self._occurring} tokens with queries and next tokens: give at "
                "least as many."
            )

    @property
    def classes(self) -> int:
        """K, the number of classes."""
        return self.queries * self.classes_per_query

    @property
    def _token_counts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens of the kinds that are common to all and that are distinct."""
        return (
            self.common_tokens or (1,) * len(self.common),
            self.distinct_tokens or (1,) * len(self.distinct),
        )

    @property
    def _occurring(self) -> int:
        common, distinct = self._token_counts
        per_query = self.queries * (len(self.common_per_query) + 1)
        return sum(common) + self.classes * (sum(distinct) + 1) + per_query

    @property
    def unseen(self) -> int:
        """How many tokens of the vocabulary never occur."""
        return 0 if self.vocabulary is None else self.vocabulary - self._occurring

    @property
    def size(self) -> int:
        """M, the number of tokens."""
        return self._occurring + self.unseen

    @cached_property
    def total(self) -> float:
        """The sum of a class's weights over its tokens."""
        common, distinct = self._token_counts
        parts = (
            np.dot(self.common, common),
            sum(self.common_per_query),
            np.dot(self.distinct, distinct),
        )
        return float(sum(parts))

    def sequence_classes(self) -> SequenceClasses:
        """The classes, with kinds in the order of the class's description."""
        common, distinct = len(self.common), len(self.distinct)
        per_query = len(self.common_per_query)
        local = common + per_query * self.queries
        first_query = local + distinct * self.classes
        first_next = first_query + self.queries
        kinds = first_next + self.classes + (self.unseen > 0)
        table = np.zeros((self.classes, kinds))
        for n in range(self.classes):
            m = n // self.classes_per_query
            start = common + m * per_query
            table[n, :common] = self.common
            table[n, start : start + per_query] = self.common_per_query
            table[n, local + n * distinct : local + (n + 1) * distinct] = self.distinct
        of_common, of_distinct = self._token_counts
        counts = of_common + (1,) * (local - common) + of_distinct * self.classes
        counts += (1,) * (self.queries + self.classes)
        query = first_query + np.arange(self.classes) // self.classes_per_query
        return SequenceClasses(
            probability=tuple(map(tuple, (table / self.total).tolist())),
            query=tuple(query.tolist()),
            next_token=tuple(range(first_next, first_next + self.classes)),
            multiplicity=counts + ((self.unseen,) if self.unseen else ()),
            queries=tuple(range(first_query, first_next)),
            names=self._names(),
        )

    def _names(self) -> tuple[str, ...]:
        queries, classes = range(self.queries), range(self.classes)
        per_query = range(len(self.common_per_query))
        return (
            *(f"common{i}" for i in range(len(self.common))),
            *(f"common{i}@{m}" for m in queries for i in per_query),
            *(f"distinct{i}@{n}" for n in classes for i in range(len(self.distinct))),
            *(f"query{m}" for m in queries),
            *(f"next{n}" for n in classes),
            *(("unseen",) if self.unseen else ()),
        )


Classes = SequenceClasses | AlikeClasses
"""Classes to train on, one by one or as a layout of alike ones."""
