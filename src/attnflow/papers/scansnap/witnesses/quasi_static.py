"""The common token's score under the quasi-static decoder.

K = 2 identical classes, M = 1000, one common token beside 42 distinct ones of the same
weight, η_Y = η_Z = 1, t = 10⁴ K.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

K, M, DISTINCT, END = 2, 1000, 42, 2e4
TOKENS = 1 + K * DISTINCT
Q1, Q0 = 1 + 1 / (M - 1), -M / (M - 1) ** 2

P = np.hstack([np.ones((K, 1)), np.kron(np.eye(K), np.ones(DISTINCT))])
P /= P.sum(axis=1, keepdims=True)


def features(z: np.ndarray) -> np.ndarray:
    """The unit vectors f_n of both classes."""
    attention = P * np.exp(z)
    return attention / np.linalg.norm(attention, axis=1, keepdims=True)


def push(f: np.ndarray, back: np.ndarray) -> np.ndarray:
    """The mean gradient of the scores, from g_n of both classes."""
    inside = np.sum(f * back, axis=1, keepdims=True)
    return np.mean(f * (back - f * inside), axis=0)


def quasi_static(time: float, z: np.ndarray) -> np.ndarray:
    """Lemma 4 with Theorem 1's g_n."""
    right = M * time / K + 1
    u = root_scalar(
        lambda u: np.exp(u) + (M - 1) * u - right, bracket=(0.0, 30.0), xtol=1e-14
    ).root
    speed = (M - 1) ** 2 * (u / M) / (M - 1 + np.exp(u))
    f = features(z)
    q = Q0 + (Q1 - Q0) * np.eye(K)
    return push(f, speed * q @ np.linalg.inv(f @ f.T) @ f)


slow = solve_ivp(
    quasi_static, (0.0, END), np.zeros(TOKENS), method="DOP853", rtol=1e-9, atol=1e-13
).y[0, -1]
print(f"z = {slow:.5f}")
