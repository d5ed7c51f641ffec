"""The flow at N·SNR² = 1 in NumPy and SciPy: the test loss where the loss is ε.

N = 16 samples of M = 2 tokens in units of σ_p²d = 1, where ‖μ‖² = 1/16 and strong noise
has the square C_p² = 25M; d_h = SNR^−4N²/ε² and d = N²d_h/ε² with ε = 0.05. Products
of tokens and of weights are normal around their means, as in so many dimensions. In the
span of the T tokens dq/dt = GAk, dk/dt = GAᵀq and dv/dt = Gs, where A and s are the
forces on scores and on values; fresh noise, which no weight has seen, has the value 0.
"""

import numpy as np
from scipy.integrate import solve_ivp

N, M, EPS = 16, 2, 0.05
SQUARE = 1 / N
D_H = (N**2 / EPS) ** 2
D = (N / EPS) ** 2 * D_H
draw = np.random.default_rng(3)
T = 2 + N
y = np.where(np.arange(N) < N // 2, 1.0, -1.0)
index = np.stack([np.where(y > 0, 0, 1), 2 + np.arange(N)], axis=1)


def gram(scales: np.ndarray, dimension: float) -> np.ndarray:
    """Products of normal vectors in many dimensions, over their dimension."""
    noise = np.triu(draw.normal(size=(len(scales),) * 2), 1) / np.sqrt(dimension)
    return np.outer(scales, scales) * (np.eye(len(scales)) + noise + noise.T)


lengths = np.array([SQUARE**0.5] * 2 + [5 * M**0.5] * N)
g = gram(lengths, D)
g[:2] = g[:, :2] = 0.0
g[:2, :2] = SQUARE * np.eye(2)
spread = D_H**-0.5 * np.log(6 * (N * M) ** 2 / 0.1) ** -1.75
both = np.linalg.cholesky(gram(np.sqrt(spread * D_H) * np.tile(lengths, 2), D_H))
v0 = 0.1 * D_H**-0.25 * np.linalg.cholesky(g) @ draw.normal(size=T)


def attention(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Softmax of the scores of every sample."""
    s = q[index] @ k[index].transpose(0, 2, 1)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def parts(state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries, keys and values."""
    q, k = state[:-T].reshape(2, T, 2 * T)
    return q, k, state[-T:]


def velocity(_: float, state: np.ndarray) -> np.ndarray:
    """The flow of q, k and v."""
    q, k, v = parts(state)
    p, w = attention(q, k), v[index]
    mixed = p @ w[:, :, None]
    weight = y / (1 + np.exp(y * mixed[:, :, 0].mean(1))) / (N * M)
    a, s = np.zeros((T, T)), np.zeros(T)
    force = weight[:, None, None] * p * (w[:, None, :] - mixed)
    np.add.at(a, (index[:, :, None], index[:, None, :]), force)
    np.add.at(s, index, weight[:, None] * p.sum(1))
    return np.concatenate([(g @ a @ k).ravel(), (g @ a.T @ q).ravel(), g @ s])


def excess(_: float, state: np.ndarray) -> float:
    """The training loss less ε."""
    q, k, v = parts(state)
    out = (attention(q, k) @ v[index][:, :, None])[:, :, 0].mean(1)
    return float(np.logaddexp(0, -y * out).mean() - EPS)


setattr(excess, "terminal", True)  # noqa: B010
start = np.concatenate([both.ravel(), v0])
end = solve_ivp(velocity, (0, 1e4), start, events=excess, rtol=1e-6, atol=1e-9)
q, k, v = parts(end.y[:, -1])
# A fresh sample: its signal's score with itself and with noise, of no attention gained.
fresh = [
    np.logaddexp(0, -sign * 0.5 * (v[i] / (1 + np.exp(-q[i] @ k[i])) + 0.5 * v[i]))
    for i, sign in ((0, 1), (1, -1))
]
assert end.status == 1, "the training loss was not reached"
print(f"test loss = {np.mean(fresh):.1g}")
