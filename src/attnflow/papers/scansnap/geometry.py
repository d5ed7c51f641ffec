"""Classes, tokens and correlations at the setting of a run (NumPy only).

With uniform attention f_n is P(·|n) over its norm, and E = FᵀF − I.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from attnflow.papers.scansnap._types import Setting

if TYPE_CHECKING:
    from jaxtyping import Float


@dataclass(frozen=True)
class Geometry:
    """The table of P(l|n), up to factors of its rows, that a run of J or Q has.

    `query` is the number of each class's query, `vocabulary` is M.
    """

    table: Float[np.ndarray, "K tokens"]
    query: tuple[int, ...]
    vocabulary: int

    @property
    def classes(self) -> int:
        """Number of classes K."""
        return len(self.table)

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(set(self.query))

    @property
    def is_common(self) -> np.ndarray:
        """Which tokens occur in several classes."""
        return (self.table > 0).sum(axis=0) > 1

    @property
    def common(self) -> int:
        """Number of common tokens."""
        return int(self.is_common.sum())

    @cached_property
    def features(self) -> Float[np.ndarray, "K tokens"]:
        """The unit vectors f_n at uniform attention."""
        return self.table / np.linalg.norm(self.table, axis=1, keepdims=True)

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest |λ_i(E)|."""
        return eigenvalue_sizes(self.features @ self.features.T)

    @property
    def distinct(self) -> int:
        """The number of distinct tokens of the class that has most of them."""
        return int((self.table[:, ~self.is_common] > 0).sum(axis=1).max(initial=0))

    @property
    def runner_up(self) -> float:
        """The largest share of a class's first distinct token that its second has."""
        own = np.sort(np.where(self.is_common, 0.0, self.table), axis=1)
        with np.errstate(invalid="ignore"):
            return float(np.max(own[:, -2] / own[:, -1]))

    @property
    def is_alike(self) -> bool:
        """Whether all classes have the same distinct probabilities."""
        own = np.sort(np.where(self.is_common, 0.0, self._probability), axis=1)
        return bool(np.allclose(own, own[0]))

    @property
    def is_shared(self) -> bool:
        """Whether each common token is as likely in all classes."""
        common = self._probability[:, self.is_common]
        return bool(np.allclose(common, common[:1]))

    @property
    def common_square(self) -> float:
        """The largest f² of a common token."""
        return float(np.square(self.features[:, self.is_common]).max(initial=0.0))

    @property
    def _probability(self) -> Float[np.ndarray, "K tokens"]:
        return self.table / self.table.sum(axis=1, keepdims=True)


def eigenvalue_sizes(gram: Float[np.ndarray, "*runs K K"]) -> tuple[float, float]:
    """The smallest and the largest |λ_i(FᵀF − I)| of all; NaN where one is."""
    if not np.isfinite(gram).all():
        return np.nan, np.nan
    sizes = np.abs(np.linalg.eigvalsh(gram - np.eye(gram.shape[-1])))
    return float(sizes.min()), float(sizes.max())


def geometry(setting: Setting) -> Geometry | None:
    """Geometry of a run of J or Q; `None` for other settings."""
    if "probability" in setting:
        K = setting["classes"]
        table = np.reshape(setting["probability"], (K, -1))
        query = tuple(setting["query"]) or (0,) * K
        return Geometry(table, query, setting["vocabulary"])
    if "classes_per_query" in setting:
        weights = np.linspace(0.1, 1.0, setting["distinct"])
        groups = (setting["queries"], setting["classes_per_query"])
        shared = (setting["common"], setting["common_per_query"])
        return _alike(groups, shared, weights)
    if "own_queries" in setting:
        K = setting["classes"]
        groups = (K, 1) if setting["own_queries"] else (1, K)
        weights = np.array(setting["distinct"])
        shared = (setting["common"], 0)
        return _alike(groups, shared, weights, vocabulary=setting["vocabulary"])
    return None


def _alike(
    groups: tuple[int, int],
    shared: tuple[int, int],
    weights: np.ndarray,
    *,
    vocabulary: int | None = None,
) -> Geometry:
    """Identical classes: number of queries and of classes of each, and their tokens.

    `shared` is the number of tokens of weight 1 common to all classes, and to those of
    one query. Without a `vocabulary`, M is the number of tokens.
    """
    queries, per_query = groups
    K = queries * per_query
    query = np.repeat(np.arange(queries), per_query)
    local = np.kron(np.eye(queries)[query], np.ones(shared[1]))
    table = np.hstack([np.ones((K, shared[0])), local, np.kron(np.eye(K), weights)])
    M = table.shape[1] + queries + K if vocabulary is None else vocabulary
    return Geometry(table, tuple(query.tolist()), M)
