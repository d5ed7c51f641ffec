"""Lemma 4: the common token's score by single samples, and by Equation 10 as printed.

K = 5 identical classes with one common token, M = 100, η_Y = η_Z = 0.02.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

K, M, RATE, STEPS = 5, 100, 0.02, 20000
WEIGHTS = (0.2, 0.3, 0.5)
Q1, Q0 = 1 + 1 / (M - 1), -M / (M - 1) ** 2

P = np.hstack([np.ones((K, 1)), np.kron(np.eye(K), WEIGHTS)])
P /= P.sum(axis=1, keepdims=True)


def features(z: np.ndarray) -> np.ndarray:
    """The unit vectors f_n of all classes."""
    attention = P * np.exp(z)
    return attention / np.linalg.norm(attention, axis=1, keepdims=True)


def push(n: int, f: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The gradient of the scores by a sample of class n, Y = F (FᵀF)⁻¹ W."""
    q = np.full(K, Q0)
    q[n] = Q1
    error = (M - 1) / (M - 1 + np.exp(M * h[n]))
    back = error * np.linalg.solve(f @ f.T, (M - 1) * h * q) @ f
    return f[n] * (back - f[n] * (f[n] @ back))


z, h = np.zeros(P.shape[1]), np.zeros(K)
for n in np.random.default_rng(7).integers(0, K, STEPS):
    z = z + RATE * push(n, features(z), h)
    h[n] += RATE / (M - 1 + np.exp(M * h[n]))
print(f"samples = {z[0]:.2f}")


def velocity(time: float, z: np.ndarray) -> np.ndarray:
    """Equation 10 as printed: the sum over classes, with the decoder's clock t/K."""
    right = M * RATE * time / K + 1
    u = root_scalar(
        lambda u: np.exp(u) + (M - 1) * u - right, bracket=(0.0, 30.0), xtol=1e-14
    ).root
    f, level = features(z), np.full(K, u / M)
    return RATE * np.sum([push(n, f, level) for n in range(K)], axis=0)


end = solve_ivp(
    velocity, (0.0, STEPS), np.zeros(P.shape[1]), method="DOP853", rtol=1e-8, atol=1e-10
).y[0, -1]
print(f"printed = {end:.4f}")
