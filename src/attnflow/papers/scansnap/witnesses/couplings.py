"""Couplings of classes under the decoder's true gradient, and the sign in Equation 88.

With equal correlations ρ a class's logits are those of its own next token, of another
class's and of a token that is none; F is fixed and Y = FS. Time is η_Y t/K.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar


def residual(logits: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The residual e_n − α_n at the own, another and an unseen output."""
    weight = np.exp(logits - logits.max())
    return np.array([1.0, 0.0, 0.0]) - weight / (counts @ weight)


def train(K: int, M: int, rho: float, times: list[float]) -> np.ndarray:
    """Logits and S at each time."""
    counts = np.array([1.0, K - 1, M - K])

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        own, other, unseen = residual(state[:3], counts)
        logits = [
            own + rho * (K - 1) * other,
            other + rho * own + rho * (K - 2) * other,
            unseen * (1 + rho * (K - 1)),
        ]
        return np.array([*logits, own, other, unseen])

    return solve_ivp(
        velocity,
        (0, times[-1]),
        np.zeros(6),
        t_eval=times,
        method="DOP853",
        rtol=1e-11,
        atol=1e-13,
    ).y.T


def theorem_1(K: int, M: int, rho: float, time: float) -> float:
    """The coefficient of f_n' in g_n by Equations 9 and 85 to 89."""
    u = root_scalar(
        lambda u: np.exp(u) + (M - 1) * u - M * time - 1,
        bracket=(0.0, 40.0),
        xtol=1e-13,
    ).root
    speed = (M - 1) ** 2 * (u / M) / (M - 1 + np.exp(u))
    q = np.full(K, -M / (M - 1) ** 2)
    q[0] = 1 + 1 / (M - 1)
    return speed * np.linalg.solve(rho + (1 - rho) * np.eye(K), q)[1]


def over_theorem_1(K: int, M: int, rho: float, times: list[float]) -> list[float]:
    """The coefficient of f_n' in g_n over Theorem 1's, at each time."""
    ratios = []
    for time, state in zip(times, train(K, M, rho, times), strict=True):
        own, other, unseen = residual(state[:3], np.array([1.0, K - 1, M - K]))
        s_own, s_other, s_unseen = state[3:]
        true = s_other * own + (s_own + (K - 2) * s_other) * other
        true += (M - K) * s_unseen * unseen
        ratios.append(true / theorem_1(K, M, rho, time))
    return ratios


early, later = over_theorem_1(3, 10000, 0.1, [1.0, 100.0])
print(f"clock 1 = {early:.6f}")
print(f"clock 100 = {later:.6f}")
print(f"large vocabulary = {over_theorem_1(3, 10**6, 0.1, [1e8])[0]:.6f}")
early, later = over_theorem_1(5, 1000, 0.3, [100.0, 1e8])
print(f"strong, clock 100 = {early:.5f}")
print(f"strong, clock 1e8 = {later:.4f}")

(state,) = train(5, 1000, 0.3, [20.0])
print(f"own_other = {state[0] - state[1]:.4f}")
print(f"own_unseen = {state[0] - state[2]:.4f}")

# Equation 26 by single samples, and the factor of q₀(1 + θ) in β that fits.
draw = np.random.default_rng(1)
K, M, rate, steps = 3, 400, 0.5, 900
F = np.abs(draw.normal(size=(12, K))) + 4 * np.eye(12, K)
F /= np.linalg.norm(F, axis=0)
A = F.T @ F
dual, Y, visits = F @ np.linalg.inv(A), np.zeros((12, M)), np.zeros(K, int)
onehot = np.eye(K, M)


def share(logits: np.ndarray) -> np.ndarray:
    """Softmax."""
    return np.exp(logits) / np.exp(logits).sum()


for n in draw.integers(0, K, steps):
    Y += rate * np.outer(dual[:, n], onehot[n] - share(Y.T @ F[:, n]))
    visits[n] += 1
h = np.zeros(K)
for n in range(K):
    for _ in range(visits[n]):
        h[n] += rate / (M - 1 + np.exp(M * h[n]))
inner = np.eye(K) - np.linalg.inv(A)
back = Y @ (onehot[0] - share(Y.T @ F[:, 0]))
coupling = np.linalg.lstsq(F, back, rcond=None)[0]
q1, q0 = 1 + 1 / (M - 1), -M / (M - 1) ** 2
speed = (M - 1) ** 2 / (M - 1 + np.exp(M * h[0]))
known = q1 * h[0] * inner[0, 1] + q0 * sum(h[k] * inner[k, 1] for k in (1, 2))
print(f"factor of q0 = {(-coupling[1] / speed - known) / (q0 * h[1]):.6f}")
