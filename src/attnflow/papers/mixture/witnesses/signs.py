"""Stage 2 by the gradient flow of Appendix B.2: the sign of v1ᵀ A_K c1.

NumPy and SciPy alone. ω = 0.1, b = 1/2; the neurons at T1 = 10 solve u + e^u = const.
"""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

OMEGA, BIAS, T1 = 0.1, 0.5, 10.0
C1, C2, V1, V2 = range(4)


def neurons():
    """Both heads at T1: after b + (e^2b − 1)/2, u = w·(c + 2v) + b grows alone."""
    half = BIAS + (np.exp(2 * BIAS) - 1) / 2
    goal = 2 * BIAS + np.exp(2 * BIAS) + 0.625 * (T1 - half)
    solution = root_scalar(lambda u: u + np.exp(u) - goal, bracket=(0, 10), xtol=1e-14)
    grown = solution.root - 2 * BIAS
    v, c = BIAS / 2 + 0.4 * grown, 0.2 * grown
    return np.array([[c, c, v, v], [c, c, -v, -v]])


def sample(k, s):
    """Tokens of the conflicting sample X_{k,s,−s} as columns."""
    X = np.zeros((4, 3))
    X[k, 0], X[2 + k, 1], X[3 - k, 2] = 1.0, s, -s
    return X


W = neurons()
HARD = [(sample(k, s), s) for k in (0, 1) for s in (1, -1)]


def velocity(t, state):
    """Rates of the scores S and the self-scores A_K, A_Q of both heads."""
    S, K, Q = state.reshape(3, 2, 4, 4)
    force = np.zeros((2, 4, 4))
    for X, y in HARD:
        logits = np.einsum("ka,hkq,qb->hab", X, S, X)
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        values = W @ X
        reads = np.einsum("ha,hab->hb", values, p)
        heads = reads.sum(axis=1) + BIAS
        f = np.maximum(heads[0], 0) - np.maximum(heads[1], 0)
        pull = y / (1 + np.exp(y * f)) / len(HARD) * np.array([1, -1]) * (heads > 0)
        change = p * (values[:, :, None] - reads[:, None, :])
        force += pull[:, None, None] * np.einsum("ka,hab,qb->hkq", X, change, X)
    back = force.swapaxes(1, 2)
    keys = force @ S.swapaxes(1, 2)
    queries = back @ S
    rates = (
        force @ Q + K @ force,
        keys + keys.swapaxes(1, 2),
        queries + queries.swapaxes(1, 2),
    )
    return np.concatenate([rate.ravel() for rate in rates])


def reached(t, state):
    """The main score less 1, at which stage 2 ends."""
    return state.reshape(3, 2, 4, 4)[0, 0, C1, V1] - 1.0


setattr(reached, "terminal", True)  # noqa: B010, for type checkers
identity = np.broadcast_to(OMEGA**2 * np.eye(4), (2, 4, 4))
start = np.concatenate([np.zeros(32), identity.ravel(), identity.ravel()])
flow = solve_ivp(velocity, (0, 1000), start, events=reached, rtol=1e-10, atol=1e-14)
keys = flow.y.T.reshape(-1, 3, 2, 4, 4)[:, 1, 0]
last = np.minimum(keys[:, V1, C1], -keys[:, V1, C2]) / np.abs(keys[-1]).max()
print(f"T2 - T1 = {flow.t[-1]:.4f}")
print(f"least of the last line = {last.min():.6f}")

# The expanded updates of E.7 add up the four samples. Here the true rate of every entry
# comes from differences of the solution in time, not from a formula.
STEP = 1e-3
middle = flow.t[-1] / 2
state, before, after = (
    solve_ivp(velocity, (0, t), start, rtol=1e-12, atol=1e-16).y[:, -1]
    for t in (middle, middle - STEP, middle + STEP)
)
true = (after - before).reshape(3, 2, 4, 4)[:, 0] / (2 * STEP)
added = len(HARD) * velocity(middle, state).reshape(3, 2, 4, 4)[:, 0]
print(f"updates off = {np.abs(added - true).max() / np.abs(true).max():.4f}")
