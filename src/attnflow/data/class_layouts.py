"""Layouts of sequence classes that look alike: common tokens and distinct ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnflow.data.sequence_classes import SequenceClasses


@dataclass(frozen=True)
class AlikeClasses:
    """Classes with the same tokens in common and as many of their own.

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
            given, needed = getattr(self, f"{kind}_tokens"), len(getattr(self, kind))
            if given and len(given) != needed:
                raise ValueError(
                    f"{kind}_tokens has {len(given)} entries for {needed} weights: "
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
    def _own(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokens of the kinds that are common to all and that are distinct."""
        return (
            self.common_tokens or (1,) * len(self.common),
            self.distinct_tokens or (1,) * len(self.distinct),
        )

    @property
    def _occurring(self) -> int:
        common, distinct = self._own
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
        common, distinct = self._own
        parts = (
            np.dot(self.common, common),
            sum(self.common_per_query),
            np.dot(self.distinct, distinct),
        )
        return float(sum(parts))

    def sequence_classes(self) -> SequenceClasses:
        """The classes, with kinds in the order that is told above."""
        common, distinct = len(self.common), len(self.distinct)
        local = common + len(self.common_per_query) * self.queries
        first_query = local + distinct * self.classes
        first_next = first_query + self.queries
        kinds = first_next + self.classes + (self.unseen > 0)
        table = np.zeros((self.classes, kinds))
        for n in range(self.classes):
            m = n // self.classes_per_query
            start = common + m * len(self.common_per_query)
            table[n, :common] = self.common
            table[n, start : start + len(self.common_per_query)] = self.common_per_query
            table[n, local + n * distinct : local + (n + 1) * distinct] = self.distinct
        counts = self._own[0] + (1,) * (local - common) + self._own[1] * self.classes
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
        return (
            *(f"common{i}" for i in range(len(self.common))),
            *(f"common{i}@{m}" for m in queries for i in range(self._per_query)),
            *(f"distinct{i}@{n}" for n in classes for i in range(len(self.distinct))),
            *(f"query{m}" for m in queries),
            *(f"next{n}" for n in classes),
            *(("unseen",) if self.unseen else ()),
        )

    @property
    def _per_query(self) -> int:
        return len(self.common_per_query)


Classes = SequenceClasses | AlikeClasses
"""What can be trained on: classes one by one, or a layout of alike ones."""
