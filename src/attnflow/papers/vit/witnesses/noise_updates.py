"""Lemma 5.1's bound on |Δρ| in NumPy, at Appendix A's sizes with projected noise.

The largest ratio of a step to its bound until the loss is 0.01, as printed and with the
cross products of equation (17), by regime: a median over five draws.
"""

import numpy as np

LENGTH, D, D_H, D_V, WEAK, STRONG, ETA, DELTA = 4, 2048, 1024, 256, 0.05, 1.0, 0.1, 0.1


def ratios(samples: int, norm: float, seed: int) -> tuple[float, float]:
    """The largest ratio of one draw, without and with cross products."""
    draw = np.random.default_rng(seed)
    y = draw.choice([-1.0, 1.0], size=samples)
    strong = np.arange(samples * (LENGTH - 1)) % (LENGTH - 1) == 0
    noise = np.where(strong, STRONG, WEAK)[:, None] * draw.normal(size=(len(strong), D))
    noise[:, :2] = 0.0
    z = np.vstack([norm * np.eye(2, D), noise])
    index = 2 + np.arange(len(strong)).reshape(samples, -1)
    index = np.hstack([np.where(y > 0, 0, 1)[:, None], index])
    side = 1 / np.sqrt(D) / 16
    w_q, w_k = draw.uniform(-side, side, size=(2, D, D_H))
    w_o = draw.uniform(-1, 1, size=D_V) / np.sqrt(D_V) / 16
    gram, gain = z @ z.T, w_o @ w_o
    v = z @ (draw.uniform(-side, side, size=(D, D_V)) @ w_o)
    q, k = np.split(np.linalg.qr(np.vstack([z @ w_q, z @ w_k]).T)[1].T.copy(), 2)
    pairs, worst = (index[:, :, None], index[:, None, :]), np.zeros(2)
    rate = ETA / samples / LENGTH
    large = np.log(4 * (samples * LENGTH) ** 2 / DELTA)
    loss = np.inf
    while loss > 0.01:
        s = q[index] @ k[index].transpose(0, 2, 1)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        means = (p @ v[index][:, :, None])[..., 0]
        loss = np.logaddexp(0, -y * means.mean(-1)).mean()
        slope = 1 / (1 + np.exp(y * means.mean(-1)))
        c = (y * slope / samples / LENGTH)[:, None, None]
        a, force = np.zeros_like(gram), np.zeros_like(v)
        np.add.at(a, pairs, c * p * (v[index][:, None, :] - means[..., None]))
        np.add.at(force, index, (c * p).sum(1))
        q, k = q + ETA * gram @ (a @ k), k + ETA * gram @ (a.T @ q)
        change = ETA * gram @ force
        v = v + gain * change
        pulled = slope[:, None] * p.sum(1)[:, 1:]
        bound = 2 * rate * STRONG**2 * D * pulled
        cross = rate * 2 * STRONG**2 * np.sqrt(D * large) * pulled.sum()
        moved = abs(change[index[:, 1:]])
        here = (moved / bound).max(), (moved / (bound + cross)).max()
        worst = np.maximum(worst, here)
    return float(worst[0]), float(worst[1])


for regime, sizes in {"benign": (16, 25.0), "harmful": (10, 15.0)}.items():
    draws = np.array([ratios(*sizes, seed) for seed in range(5)])
    printed, crossed = np.median(draws, axis=0)
    print(f"{regime}, as printed, by draw:", draws[:, 0].round(2))
    print(f"{regime}, as printed = {printed:.0e}")
    print(f"{regime}, with cross products = {crossed:.1f}")
