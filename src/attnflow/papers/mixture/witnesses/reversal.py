"""Gradient descent at infinite width for four groups and five tokens, b = 1/2.

NumPy alone. By symmetry between groups and heads, samples of group 1 and label +1 are
enough: forces are averaged over permutations of the groups and over the heads, whose
tables differ by the signs of class tokens.
"""

import itertools
from math import factorial

import numpy as np

K, L, BIAS, OMEGA, RATE, STEPS = 4, 5, 0.5, 0.1, 0.1, 20000


def samples():
    """Tokens by position, and probabilities, of c1, v1 and three signed distractors."""
    signed = [(j, s) for j in range(1, K) for s in (1, -1)]
    for others in itertools.combinations_with_replacement(signed, L - 2):
        X = np.zeros((L, 2 * K))
        X[0, 0] = X[1, K] = 1.0
        for row, (j, s) in enumerate(others, start=2):
            X[row, K + j] = s
        orders = factorial(L - 2)
        for token in set(others):
            orders //= factorial(others.count(token))
        yield X, orders / len(signed) ** (L - 2)


X, P = (np.array(part) for part in zip(*samples(), strict=True))
D = np.repeat([1.0, -1.0], K)  # the other head: class tokens change their sign
SIGNS = np.outer(D, D)


def averaged(table):
    """The mean over permutations of the groups: blocks with two numbers each."""
    out = np.zeros_like(table)
    for a, b in itertools.product((slice(0, K), slice(K, 2 * K)), repeat=2):
        block = table[a, b]
        own = np.trace(block) / K
        other = (block.sum() - np.trace(block)) / (K * (K - 1))
        out[a, b] = other + (own - other) * np.eye(K)
    return out


def head(w, S):
    """Output, attention and values of one head on all samples."""
    logits = np.einsum("nka,ab,nqb->nqk", X, S, X)
    p = np.exp(logits - logits.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    values = X @ w
    reads = np.einsum("nqk,nk->nq", p, values)
    return reads.sum(axis=1), p, values, reads


def forces(w, S):
    """−∂loss/∂w and −∂loss/∂S of the positive head, averaged, and outputs."""
    plus, minus = head(w, S), head(D * w, SIGNS * S)
    on = [plus[0] + BIAS > 0, minus[0] + BIAS > 0]
    f = on[0] * (plus[0] + BIAS) - on[1] * (minus[0] + BIAS)
    pull = P / (1 + np.exp(f))
    value, score = np.zeros(2 * K), np.zeros((2 * K, 2 * K))
    for sign, (_, p, values, reads), active in zip(
        (1, -1), (plus, minus), on, strict=True
    ):
        weight = sign * pull * active
        inner = p * (values[:, None, :] - reads[:, :, None])
        w_part = np.einsum("n,nqk,nka->a", weight, p, X)
        s_part = np.einsum("n,nqk,nka,nqb->ab", weight, inner, X, X, optimize=True)
        # A sample of the other label sees the heads exchanged.
        value += w_part if sign > 0 else D * w_part
        score += s_part if sign > 0 else SIGNS * s_part
    mean = np.repeat([value[:K].mean(), value[K:].mean()], K)
    # Both labels have probability 1/2; every sample moves both heads.
    return mean / 2, averaged(score) / 2, f


w, S = np.zeros(2 * K), np.zeros((2 * K, 2 * K))
AK = AQ = OMEGA**2 * np.eye(2 * K)
for _ in range(STEPS):
    v, G, _ = forces(w, S)
    w = w + RATE * v
    S, AK, AQ = (
        S + RATE * (G @ AQ + AK @ G) + RATE**2 * G @ S.T @ G,
        AK + RATE * (G @ S.T + S @ G.T) + RATE**2 * G @ AQ @ G.T,
        AQ + RATE * (G.T @ S + S.T @ G) + RATE**2 * G.T @ AK @ G,
    )
f = forces(w, S)[2]
print(f"loss = {P @ np.log1p(np.exp(-f)):.5f}")
print(f"share wrong = {P @ (f <= 0):.5f}")
print(f"S[c1,v1] = {S[0, K]:.3f}")
print(f"S[c1,v2] = {S[0, K + 1]:.3f}")
