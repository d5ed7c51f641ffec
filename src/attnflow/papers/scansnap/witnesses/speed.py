"""Theorem 1(b): γ over K ln(η_Y t/K)/(η_Y t) from t₀ on, for two vocabularies.

Times are η_Y t/K = 10⁻⁷ … 10⁶, 521 of them.
"""

import numpy as np
from scipy.optimize import root_scalar

TIMES = np.geomspace(1e-7, 1e6, 521)


def height(M: int, time: float) -> float:
    """The log-odds M h by Equation 45."""
    right = M * time + 1
    bracket = (0.0, 60.0)
    return root_scalar(
        lambda u: np.exp(u) + (M - 1) * u - right, bracket=bracket, xtol=1e-13
    ).root


def second_meeting(M: int) -> float:
    """Lemma 8: the second u at which e^u and (M − 1)u meet."""
    return root_scalar(
        lambda u: u - np.log(M - 1) - np.log(u), bracket=(1.0, 60.0), xtol=1e-13
    ).root


for M in (1000, 10**7):
    late = TIMES[np.greater_equal(TIMES, 2 * second_meeting(M))]
    u = np.array([height(M, time) for time in late])
    speed = (M - 1) ** 2 * (u / M) / (M - 1 + np.exp(u))
    print(f"ratio at {M} = {np.max(speed * late / np.log(late)):.4f}")
