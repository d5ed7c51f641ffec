"""Rates of the scores at T1 from the gradient flow of Appendix B.2, at infinite width.

NumPy and SciPy alone. ω = 0.1, b = 1/2, T1 = 10.
"""

import itertools

import numpy as np
from scipy.integrate import solve_ivp

OMEGA, BIAS, T1 = 0.1, 0.5, 10.0
C1, V1 = 0, 2  # the basis is c1, c2, v1, v2


def sample(k, s, other):
    """Tokens of X_{k,s,s'} as columns."""
    X = np.zeros((4, 3))
    X[k, 0], X[2 + k, 1], X[3 - k, 2] = 1.0, s, other
    return X


SAMPLES = [
    (sample(k, s, t), s, s != t)
    for k, s, t in itertools.product((0, 1), (1, -1), (1, -1))
]


def stage_one(t, w):
    """Flow of the neurons under uniform attention: each query reads the mean."""
    w = w.reshape(2, 4)
    rate = np.zeros((2, 4))
    for X, y, _ in SAMPLES:
        read = X.sum(axis=1)
        heads = w @ read + BIAS
        f = np.maximum(heads[0], 0) - np.maximum(heads[1], 0)
        pull = y / (1 + np.exp(y * f)) / len(SAMPLES)
        rate += pull * np.array([1, -1])[:, None] * (heads > 0)[:, None] * read
    return rate.ravel()


def score_rates(w):
    """d/dt of νᵀW_KᵀW_Q μ of the positive head, by key ν and query μ."""
    p, A = np.full(3, 1 / 3), OMEGA**2 * np.eye(4)
    hard = [(X, y) for X, y, conflicting in SAMPLES if conflicting]
    rate = np.zeros((4, 4))
    for X, y in hard:
        heads = w @ X.sum(axis=1) + BIAS
        f = np.maximum(heads[0], 0) - np.maximum(heads[1], 0)
        pull = y * (heads[0] > 0) / (1 + np.exp(y * f)) / len(hard)
        value = w[0] @ X
        inner = X @ (p * (value - value @ p))
        for x in X.T:
            rate += pull * (np.outer(inner, A @ x) + np.outer(A @ inner, x))
    return rate


flow = solve_ivp(stage_one, (0, T1), np.zeros(8), rtol=1e-11, atol=1e-13)
w = flow.y[:, -1].reshape(2, 4)
rate = score_rates(w)
printed = 4 / 3 * 2 / 3 * 0.5 * OMEGA**2 * w[0, C1]  # g = 1/2 where f = 0
print(f"error = {abs(rate[C1, V1] / printed - 1):.8f}")
print(f"ratio less a half = {abs(rate[V1, C1] / rate[C1, V1] - 0.5):.8f}")

# Appendix E.5 over g ω² w_c: ±8/9 for group keys and class queries, ∓4/9 for class keys
# and group queries. Self-scores do not move, since all scores are 0.
signs = np.array([[1, -1], [-1, 1]])
displays = np.zeros((4, 4))
displays[:2, 2:], displays[2:, :2] = 8 / 9 * signs, -4 / 9 * signs
off = displays - rate / (0.5 * OMEGA**2 * w[0, C1])
print(f"displays off = {np.abs(off).max():.8f}")
