"""Tied votes at n = 10 on disjoint supports, from the paper's update rules, in NumPy.

Appendix E.3: noise moves by η‖ξ‖₁ and signals by η, by the signs of (10) to (13). Up to
T3 attention is 1/2 to eight digits, and mean values are positive: both drop out.
"""

import numpy as np

N, M, SIGMA_0, SUPPORT, SIGMA_P = 10, 20, 1e-8, 1e6, 2e-3
GROWTH, SEEDS = 5e-3, 60
STRENGTH = SIGMA_P * SUPPORT


def train(rng):
    """How many neurons have small sums and steps at T2, moves against the vote, etc."""
    spread = np.sqrt((1 - 2 / np.pi) / SUPPORT)
    ones = STRENGTH * (np.sqrt(2 / np.pi) + spread * rng.normal(size=N))
    q, k = SIGMA_0 * SIGMA_P * np.sqrt(SUPPORT) * rng.normal(size=(2, M, N))
    q_mu, k_mu = SIGMA_0 * rng.normal(size=(2, M))
    xi, mu = abs(np.array([q, k])).max(), abs(np.array([q_mu, k_mu])).max()
    rate = SIGMA_0 / np.sqrt(SUPPORT) / 1000
    clock, sums, lost = 0.0, None, np.zeros(M, bool)
    while clock * rate < 3 * mu:
        step = max(1.0, GROWTH * clock)
        up_q, up_k = np.sign(k - k_mu[:, None]), np.sign(q + q_mu[:, None])
        up_q_mu = np.sign((k - k_mu[:, None]).sum(1))
        up_k_mu = -np.sign((q + q_mu[:, None]).sum(1))
        against = (up_q_mu != np.sign(k.sum(1))) | (up_k_mu != -np.sign(q.sum(1)))
        lost |= against & (sums is not None)
        q, k = q + step * rate * ones * up_q, k + step * rate * ones * up_k
        q_mu, k_mu = q_mu + step * rate * up_q_mu, k_mu + step * rate * up_k_mu
        clock += step
        if sums is None and clock * rate * STRENGTH >= 50 * np.sqrt(2) * N * xi:
            least = np.minimum(abs(q.sum(1)), abs(k.sum(1)))
            steps = abs((np.sign(q) * ones).sum(1))
            sums = least < 2 * N * mu, steps < STRENGTH / np.sqrt(2)
    assert sums is not None
    ended = abs(q.sum(1)) / 4 < N / 2 * abs(q_mu)
    vote = np.sign(q.sum(1))
    weak = np.minimum(vote * q_mu, -vote * k_mu) < 0.5 * 3 * mu
    return [neurons.sum() for neurons in (*sums, ended, lost, weak)]


rng = np.random.default_rng(0)
counts = np.mean([train(rng) for _ in range(SEEDS)], axis=0)
names = (
    *("a small sum", "a small step", "T4- at T3"),
    *("a move against the vote", "a weak signal"),
)
for name, count in zip(names, counts, strict=True):
    print(f"neurons with {name} = {count:.0f}")
