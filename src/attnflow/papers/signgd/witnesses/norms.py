"""How far ‖ξ‖₁ is from its mean, over what Lemma C.4 prints, in NumPy alone."""

import numpy as np

N, SUPPORT, DELTA, DRAWS = 20, 10_000, 0.1, 300
SIGMA_P = 2 / np.sqrt(SUPPORT)

rng = np.random.default_rng(0)
errors = []
for _ in range(DRAWS):
    one = np.abs(SIGMA_P * rng.normal(size=(N, SUPPORT))).sum(axis=1)
    errors.append(np.abs(one - np.sqrt(2 / np.pi) * SIGMA_P * SUPPORT).max())
printed = np.sqrt(np.log(4 * N / DELTA) / SUPPORT)
# The quantile has an error of some percent: one digit.
print(f"error over printed = {np.quantile(errors, 1 - DELTA) / printed:.0e}")
