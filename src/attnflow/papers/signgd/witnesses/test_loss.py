"""The test loss on noise that meets no training support, late, in NumPy alone.

From T3 on signals move by η in every step, opposite in queries and keys (Lemmas E.23
and E.24), and the mean value signal by 2η (Equation 14); fresh noise is read by initial
weights alone. So y f = (s11 + s21) v_μ + (s12 + s22) v_ξ is known at every late time.
"""

import numpy as np

M_K, M_V, SIGMA_0, LENGTH, TESTS = 20, 20, 1e-8, 2.0, 500
TIME = 12.0
"""T η."""


def sigmoid(x):
    """1/(1 + e^−x), without overflow."""
    return np.where(x > 0, 1, np.exp(-abs(x))) / (1 + np.exp(-abs(x)))


rng = np.random.default_rng(0)
signs = rng.choice([-1.0, 1.0], M_K)
q_mu, k_mu = TIME * signs, -TIME * signs
q, k = SIGMA_0 * LENGTH * rng.normal(size=(2, TESTS, M_K))
v = SIGMA_0 * LENGTH * np.sqrt(2 / M_V) * rng.normal(size=TESTS)
first = sigmoid((k_mu - k) @ q_mu)
second = sigmoid((q * (k_mu - k)).sum(1))
margin = (first + second) * 2 * TIME + (2 - first - second) * v
print(f"test loss at 12/rate = {np.log1p(np.exp(-margin)).mean():.0e}")
