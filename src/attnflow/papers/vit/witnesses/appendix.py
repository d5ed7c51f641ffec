"""Appendix A's two runs in NumPy: stages, lengths, fresh noise and the loss at T3.

Medians over five draws of labels, noise and weights, to the digits that these share.

Gradient descent of the paper's model on the T tokens Z of all samples, with G = ZZᵀ: a
step is q += ηGAk, k += ηGAᵀq and v += η‖w_O‖²Gs, where A is the force on scores and s
that on values. Rows of q and k stay in the span of the initial ones.
"""

import numpy as np

LENGTH, D, D_H, D_V, WEAK, STRONG, ETA, END = 4, 2048, 1024, 256, 0.05, 1.0, 0.1, 1e-3


def train(samples: int, norm: float, winner: int, seed: int) -> tuple[float, ...]:
    """T2, T_att, T1, loss, lengths and fresh noise of one draw, at a loss of 0.001."""
    draw = np.random.default_rng(seed)
    y = draw.choice([-1.0, 1.0], size=samples)
    scale = [
        WEAK if i % (LENGTH - 1) else STRONG for i in range(samples * (LENGTH - 1))
    ]
    signals = norm * np.eye(2, D)
    z = np.vstack(
        [signals, np.array(scale)[:, None] * draw.normal(size=(len(scale), D))]
    )
    noise = 2 + np.arange(len(scale)).reshape(samples, -1)
    index = np.hstack([np.where(y > 0, 0, 1)[:, None], noise])
    side = 1 / np.sqrt(D) / 16
    w_q, w_k = draw.uniform(-side, side, size=(2, D, D_H))
    w_o = draw.uniform(-1, 1, size=D_V) / np.sqrt(D_V) / 16
    u = draw.uniform(-side, side, size=(D, D_V)) @ w_o
    gram, gain, v = z @ z.T, w_o @ w_o, z @ u
    _, both = np.linalg.qr(np.vstack([z @ w_q, z @ w_k]).T)
    q, k = np.split(both.T.copy(), 2)
    expected = side**2 / 3 * D_H * np.square([norm, norm, *(s * D**0.5 for s in scale)])
    pairs, pulled, seen, step = (index[:, :, None], index[:, None, :]), 0.0, {}, 0
    while True:
        s = q[index] @ k[index].transpose(0, 2, 1)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        means = (p @ v[index][:, :, None])[..., 0]
        f = y * means.mean(-1)
        loss = np.log1p(np.exp(-f)).mean()
        if abs(v).max() <= 0.1:
            seen["T2"] = step + 1
        if p[..., winner].mean() >= 0.9:
            seen.setdefault("T_att", step)
        values = y[:, None] * v[index]
        others = abs(np.delete(values, winner, axis=1)).max(1)
        if (values[:, winner] >= 3 * LENGTH * others).all():
            seen.setdefault("T1", step)
        if loss <= END:
            break
        c = (y / (1 + np.exp(f)) / samples / LENGTH)[:, None, None]
        a, force = np.zeros_like(gram), np.zeros_like(v)
        np.add.at(a, pairs, c * p * (v[index][:, None, :] - means[..., None]))
        np.add.at(force, index, (c * p).sum(1))
        q, k = q + ETA * gram @ (a @ k), k + ETA * gram @ (a.T @ q)
        v, pulled, step = v + ETA * gain * gram @ force, pulled + force, step + 1
    squares = np.concatenate([(q**2).sum(1) / expected, (k**2).sum(1) / expected])
    fresh = STRONG * draw.normal(size=(1000, D)) @ (u + ETA * gain * z.T @ pulled)
    leak = fresh.std() / (np.sqrt(2) * STRONG / norm * abs(v[:2]).mean())
    times = (seen.get(name, np.inf) for name in ("T2", "T_att", "T1"))
    return *times, loss, squares.max(), leak


for name, sizes in {"benign": (16, 25.0, 0), "harmful": (10, 15.0, 1)}.items():
    draws = [train(*sizes, seed) for seed in range(5)]
    start, attended, first, loss, square, leak = np.median(draws, axis=0)
    print(f"{name} T2 = {start:.0e}\n{name} T_att = {attended:.1e}")
    print(f"{name} T1 = {first:.0e}\n{name} loss at T3 = {loss:.4f}")
    print(f"{name} largest square = {square:.1e}\n{name} leak = {leak:.1f}")
