"""Lemma C.2 in NumPy: draws in which an initial value exceeds d_h^−¼.

With σ_V = m^½ d_h^−¼/‖w_O‖ and m = 1/(σ_p²d), which is smaller than ‖μ‖^−2 at
N·SNR² = 1: in units of d_h^−¼ values of signals have the deviation SNR, of strong noise
C_p = 5√M and of weak noise 1.
"""

import numpy as np

N, M, DRAWS = 40, 3, 300
draw = np.random.default_rng(7)
scales = np.array([N**-0.5] * 2 + [5 * M**0.5] * N + [1.0] * (N * (M - 2)))
# A noise token's length, over its mean, is near 1 in 2048 dimensions.
lengths = np.sqrt(draw.chisquare(2046, size=(DRAWS, len(scales))) / 2048)
values = abs(scales * lengths * draw.normal(size=(DRAWS, len(scales))))
print(f"draws of 300 above = {(values > 1).any(1).sum()}")
