"""Theorem 4: B(t) of the scalar model, and Equation 129 as printed.

K = 10, M = 1000, η_Y = 1, η_Z = 0.5, one common token, t = 10⁵.
"""

import numpy as np
from scipy.integrate import solve_ivp

K, M, VALUE_RATE, SCORE_RATE, END = 10, 1000, 1.0, 0.5, 1e5
WEIGHTS = np.arange(1, 11) / 10
SCALE = (1 + np.sum(WEIGHTS**2)) ** 2 / K


def velocity(_: float, state: np.ndarray) -> list[float]:
    """Of h(t/K), z and B = η_Z ∫ξ."""
    h, z, _ = state
    grown = M - 1 + np.exp(M * h)
    drive = SCORE_RATE * (M - 1) ** 2 * h / grown * np.exp(4 * z) / SCALE
    return [VALUE_RATE / K / grown, -drive, drive]


h, _, B = solve_ivp(
    velocity, (0.0, END), np.zeros(3), method="DOP853", rtol=1e-11, atol=1e-14
).y[:, -1]
inner = 2 * SCORE_RATE / VALUE_RATE * K * (M - 1) ** 2 * h**2
print(f"B = {B:.6f}")
print(f"printed = {np.log(SCALE + inner) / 4:.6f}")
