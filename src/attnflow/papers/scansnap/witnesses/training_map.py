"""Training against the quasi-static system where Assumption 2 is met.

K = 3 identical classes, M = 10⁶, one common token of f² = 0.117, η_Y/η_Z = 10 and 100,
to η_Y t/K = 10⁸; then unequal classes with M = 10⁸, in which a distinct token loses.
Flows are solved in the logarithm of time s = η_Y t/K, with the rates 1 and η_Z/η_Y.
NumPy and SciPy alone.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

K, M = 3, 10**6
Q1, Q0 = 1 + 1 / (M - 1), -M / (M - 1) ** 2
COUNTS = np.array([1.0] * K + [M - K])
P = np.hstack([np.ones((K, 1)), np.kron(np.eye(K), 0.14 * np.arange(1, 11))])
TOKENS = P.shape[1]


def features(z):
    """The unit vectors f_n of all classes."""
    attention = P * np.exp(z)
    return attention / np.linalg.norm(attention, axis=1, keepdims=True)


def push(f, back):
    """The gradient of the scores, from g_n of all classes."""
    return np.sum(f * (back - f * np.sum(f * back, axis=1, keepdims=True)), axis=0)


def quasi_static(log_time, z, slowness):
    """Lemma 4 with Theorem 1's g_n and the factor 1/K."""
    time = np.exp(log_time)
    u = root_scalar(
        lambda u: np.expm1(u) + (M - 1) * u - M * time, bracket=(0.0, 60.0), xtol=1e-15
    ).root
    speed = (M - 1) ** 2 * (u / M) / (M - 1 + np.exp(u))
    f = features(z)
    back = speed * (Q0 + (Q1 - Q0) * np.eye(K)) @ np.linalg.inv(f @ f.T) @ f
    return time * push(f, back) / slowness


def training(log_time, state, slowness):
    """Lemma 1 in the limit of long sequences, classes equally frequent."""
    z, Y = state[:TOKENS], state[TOKENS:].reshape(TOKENS, K + 1)
    f = features(z)
    weight = np.exp(f @ Y)
    pull = -weight / (weight @ COUNTS)[:, None]
    for n in range(K):
        # 1 − α_n as a sum, which keeps its digits late in training.
        pull[n, n] = -(np.delete(pull[n], n) @ np.delete(COUNTS, n))
    back = (pull * COUNTS) @ Y.T
    both = np.append(push(f, back) / slowness, (f.T @ pull).ravel())
    return np.exp(log_time) * both


def solve(velocity, size, times, slowness):
    """States at some times, from 0."""
    return solve_ivp(
        lambda t, y: velocity(t, y, slowness),
        (np.log(1e-9), np.log(times[-1])),
        np.zeros(size),
        t_eval=np.log(times),
        method="DOP853",
        rtol=1e-9,
        atol=1e-15,
    ).y.T


times = [1e2, 1e4, 1e8]
for ratio in (10, 100):
    joint = solve(training, TOKENS * (K + 2), times, ratio)[:, :TOKENS]
    unit, first = features(joint[-1])[0], features(np.zeros(TOKENS))[0]
    gain, before = ((f[10] / f[[1, 5, 9]]) ** 2 - 1 for f in (unit, first))
    deviation = abs(np.log(gain / before) / (2 * joint[-1, 10]) - 1)
    print(f"deviation at {ratio} = {np.median(deviation):.4f}")
    if ratio == 100:
        slow = solve(quasi_static, TOKENS, times[:2], ratio)
        for time, true, modified in zip(times, joint, slow, strict=False):
            print(f"J over Q, clock {time:g} = {true[0] / modified[0]:.4g}")

# Theorem 2(a): a draw of unequal classes, M = 10⁸, η_Y/η_Z = 10.
draw = np.random.default_rng(204)
P = np.zeros((K, 7))
for n in range(K):
    P[n, 0] = draw.uniform(0.1, 0.2)
    weights = draw.uniform(0.1, 1.0, 2)
    P[n, 1 + 2 * n : 3 + 2 * n] = (1 - P[n, 0]) * weights / weights.sum()
M, TOKENS = 10**8, 7
COUNTS[-1] = M - K
(end,) = solve(training, TOKENS * (K + 2), [1e8], 10)
velocity = training(np.log(1e8), end, 10)[:TOKENS]
print(f"draw 204 = {velocity[1:].min() / np.abs(velocity).max():.5f}")
