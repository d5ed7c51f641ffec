"""Lemma 6.1: the transformer of its proof, and another, on every sample.

NumPy alone; K = 2 … 6, L = 2 … K + 1, several C and b.
"""

import itertools

import numpy as np


def population(K, L):
    """Samples as token numbers 0 … 2K − 1 with signs, and their labels."""
    rows = []
    for k, y in itertools.product(range(K), (1, -1)):
        signed = [(K + j, e) for j in range(K) if j != k for e in (1, -1)]
        others = itertools.combinations_with_replacement(signed, L - 2)
        rows += [[(k, 1), (K + k, y), *more] for more in others]
    table = np.array(rows)
    return table[..., 0], table[..., 1], table[:, 1, 1]


def head(token, sign, scores, values):
    """Σ over queries of the value that attention reads."""
    pairs = (
        np.einsum("na,nb->nab", sign, sign) * scores[token[:, :, None], token[:, None]]
    )
    weights = np.exp(pairs - pairs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("na,nab->n", sign * values[token], weights)


right, least = [], []
for K in range(2, 7):
    c, v = np.repeat([1.0, 0.0], K), np.repeat([0.0, 1.0], K)
    cross = np.zeros((2 * K, 2 * K))
    cross[np.arange(K, 2 * K), np.arange(K)] = 1.0  # key v_k, query c_k
    for L, C in itertools.product(range(2, K + 2), (0.01, 1.0, 5.0, 30.0)):
        token, sign, y = population(K, L)
        same = C * np.eye(2 * K)
        printed = head(token, sign, 2 * C * cross + same, v)
        printed = printed + head(token, sign, -2 * C * cross + same, -v)
        right.append((y * printed > 0)[y < 0].mean())
        plus, minus = (head(token, sign, s * C * cross, c) for s in (-1, 1))
        for b in (0.0, 0.5, 2.0):
            f = np.maximum(plus + b, 0) - np.maximum(minus + b, 0)
            least.append((y * f).min())
print(f"share right, label -1 = {min(right):.3f}")
print(f"least y f = {min(least):.10f}")
