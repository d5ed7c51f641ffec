"""Classes, tokens and correlations at the setting of a run (NumPy only).

With uniform attention f_n is P(·|n) over its norm, and E = FᵀF − I.
"""

from dataclasses import dataclass

import numpy as np

from attnflow.papers.scansnap._types import Setting


@dataclass(frozen=True)
class Geometry:
    """Sizes and eigenvalues that Assumption 2 and the theorems are about.

    - `classes` K, `vocabulary` M, `queries`; `common`: number of common tokens.
    - `eigenvalues` of E, without repetition.
    """

    classes: int
    vocabulary: int
    queries: int
    common: int
    eigenvalues: tuple[float, ...]

    @property
    def extremes(self) -> tuple[float, float]:
        """The largest and the smallest |λ_i(E)|."""
        sizes = [abs(value) for value in self.eigenvalues]
        return max(sizes), min(sizes)


def geometry(setting: Setting) -> Geometry | None:
    """Geometry of a run of J or Q; `None` for other settings."""
    if "probability" in setting:
        return _general(setting)
    if "classes_per_query" in setting:
        return _steps(setting)
    if "own_queries" in setting:
        return _flows(setting)
    return None


def _steps(setting: Setting) -> Geometry:
    """Geometry of Syn-Small and Syn-Medium, whose M is the number of their tokens."""
    queries, per_query = setting["queries"], setting["classes_per_query"]
    distinct, K = setting["distinct"], queries * per_query
    local = setting["common_per_query"]
    return Geometry(
        classes=K,
        vocabulary=setting["common"] + queries * (local + 1) + K * (distinct + 1),
        queries=queries,
        common=setting["common"] * (K > 1) + queries * local * (per_query > 1),
        eigenvalues=alike_eigenvalues(
            (queries, per_query),
            shared=(setting["common"], local),
            distinct=np.square(np.linspace(0.1, 1.0, distinct)).sum(),
        ),
    )


def _flows(setting: Setting) -> Geometry:
    """Geometry of identical classes with one query, or one each."""
    K, common = setting["classes"], setting["common"]
    groups = (K, 1) if setting["own_queries"] else (1, K)
    return Geometry(
        classes=K,
        vocabulary=setting["vocabulary"],
        queries=groups[0],
        common=common * (K > 1),
        eigenvalues=alike_eigenvalues(
            groups, shared=(common, 0), distinct=np.square(setting["distinct"]).sum()
        ),
    )


def _general(setting: Setting) -> Geometry:
    """Geometry of classes with a table of probabilities."""
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
    groups: tuple[int, int], *, shared: tuple[int, int], distinct: float
) -> tuple[float, ...]:
    """Distinct eigenvalues of E for identical classes.

    Classes of one query have the correlation `a`, others `b`: E is
    `(a − b) I ⊗ J + b J ⊗ J − a I` with J the matrix of ones.

    **Arguments:**

    - `groups`: number of queries, and of classes of each.
    - `shared`: number of tokens of weight 1 common to all classes, and to those of one
      query; `distinct`: sum of the squared weights of a class's distinct tokens.
    """
    queries, c = groups
    whole = sum(shared) + distinct
    a, b = sum(shared) / whole, shared[0] / whole
    together = c * (a - b) - a
    return (
        float(together + b * c * queries),
        *([float(together)] if queries > 1 else []),
        *([float(-a)] if c > 1 else []),
    )
