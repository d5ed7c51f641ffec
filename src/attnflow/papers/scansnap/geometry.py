"""Classes, tokens and correlations at the setting of a run, by numpy alone.

With uniform attention f_n is P(·|n) over its norm, and E = FᵀF − I.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Geometry:
    """What Assumption 2 and the theorems after it are written in.

    - `classes` K, `vocabulary` M, `queries`; `common`: tokens of two classes or more.
    - `eigenvalues` of E, each once.
    """

    classes: int
    vocabulary: int
    queries: int
    common: int
    eigenvalues: tuple[float, ...]

    @property
    def extremes(self) -> tuple[float, float]:
        """The largest and the least |λ_i(E)|."""
        sizes = [abs(value) for value in self.eigenvalues]
        return max(sizes), min(sizes)


def geometry(setting: Mapping[str, Any]) -> Geometry | None:
    """The geometry of a run of J or Q; none for all other settings."""
    if "probability" in setting:
        return _given(setting)
    if "classes_per_query" in setting:
        return _steps(setting)
    if "own_queries" in setting:
        return _flows(setting)
    return None


def _steps(setting: Mapping[str, Any]) -> Geometry:
    """Syn-Small and Syn-Medium: M is as many tokens as there are."""
    queries, per_query = setting["queries"], setting["classes_per_query"]
    own, K = setting["distinct"], queries * per_query
    local = setting["common_per_query"]
    return Geometry(
        classes=K,
        vocabulary=setting["common"] + queries * (local + 1) + K * (own + 1),
        queries=queries,
        common=setting["common"] * (K > 1) + queries * local * (per_query > 1),
        eigenvalues=alike_eigenvalues(
            (queries, per_query),
            shared=(setting["common"], local),
            own=np.square(np.linspace(0.1, 1.0, own)).sum(),
        ),
    )


def _flows(setting: Mapping[str, Any]) -> Geometry:
    """Alike classes with one query, or one each, in a vocabulary of any size."""
    K, common = setting["classes"], setting["common"]
    groups = (K, 1) if setting["own_queries"] else (1, K)
    return Geometry(
        classes=K,
        vocabulary=setting["vocabulary"],
        queries=groups[0],
        common=common * (K > 1),
        eigenvalues=alike_eigenvalues(
            groups, shared=(common, 0), own=np.square(setting["distinct"]).sum()
        ),
    )


def _given(setting: Mapping[str, Any]) -> Geometry:
    """Classes one by one."""
    K = setting["classes"]
    table = np.reshape(setting["probability"], (K, -1))
    features = table / np.linalg.norm(table, axis=1, keepdims=True)
    excess = features @ features.T - np.eye(K)
    return Geometry(
        classes=K,
        vocabulary=setting["vocabulary"],
        queries=len(set(setting["query"])) or 1,
        common=int(((table > 0).sum(0) > 1).sum()),
        eigenvalues=tuple(np.linalg.eigvalsh(excess).tolist()),
    )


def alike_eigenvalues(
    groups: tuple[int, int], *, shared: tuple[int, int], own: float
) -> tuple[float, ...]:
    """Eigenvalues of E for alike classes, each once.

    Classes of one query have the correlation `a`, others `b`: E is
    `(a − b) I ⊗ J + b J ⊗ J − a I` with J the matrix of ones.

    **Arguments:**

    - `groups`: how many queries, and classes of each.
    - `shared`: tokens of weight 1 that all classes share, and that those of one query
      do; `own`: the squared weights of a class's own tokens, in all.
    """
    queries, c = groups
    whole = sum(shared) + own
    a, b = sum(shared) / whole, shared[0] / whole
    together = c * (a - b) - a
    return (
        float(together + b * c * queries),
        *([float(together)] if queries > 1 else []),
        *([float(-a)] if c > 1 else []),
    )
