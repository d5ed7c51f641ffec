"""Requests for runs that claims share, and descriptions of their conditions.

There are two kinds of evidence. *Setting (a)* is the paper's experiment, whose supports
overlap and whose times are not in the theory's order. The *lattice* has disjoint
supports and the theory's order; there Condition 3.1 holds with the constants that
`LATTICE` states, and with the same ones on every rung of the *ladder* of supports.
"""

import math

from attnflow.schema.declarations import Request

PLAN = tuple(range(200, 210))
"""Seeds that decide verdicts; tolerances were set on seeds 0–4."""
FEW = PLAN[:3]
"""Seeds for runs that take longer."""
MANY = tuple(range(200, 220))
"""Seeds for short or cheap runs."""

SUPPORTS = (10**6, 10**7, 10**8, 10**9, 10**10)
"""A ladder of five supports over four decades."""

SIGNGD = "full-batch SignGD on all weights, float64, exact signs"
ADAM = "full-batch Adam on all weights, float64, gradients that do not underflow"
DISJOINT = "SignGD on disjoint supports, simulated from the norms of the noise"
SIZES_A = (
    "Table 3, row (a): n = 20, s = 80, d = 2000, m_k = 100, m_v = 20, learning rate "
    "1e-4"
)
ROW_A = (
    f"{SIZES_A}. Supports overlap (n s/d = 0.8), and the formulas give times in "
    "another order than in the limit of Condition 3.1: no experiment of the paper is "
    "within its theory"
)
_CONSTANTS = (
    "n = 9 = 6e-5 m_k⁴, m_k = m_v = 20, d = s² n⁴, learning rate σ_0/(1000 √s), "
    "growing to 1e-3 of the elapsed time"
)
LATTICE = (
    "disjoint supports and the printed order of times; Condition 3.1 with the "
    f"constants {_CONSTANTS}, s = 10⁶, σ_p √s = 2 = 0.025 n², m_k = 0.55 log d, "
    "σ_0 = 9e-5/(σ_p s √m_k)"
)
LADDER = (
    "disjoint supports and the printed order of times; Condition 3.1 with the "
    f"constants {_CONSTANTS}; s = 10⁶ … 10¹⁰, σ_p √s = 2 (s/10⁶)^¼ ≥ 0.025 n², "
    "m_k ≥ 0.36 log d, σ_0 = 9e-5 (s/10⁶)^−¼/(σ_p s √m_k)"
)

SETTING_A = {"a": Request("setting-a", seeds=PLAN)}
IDEAL = {"lattice": Request("lattice", seeds=MANY)}


def rung(support: int) -> Request:
    """The lattice at a larger support: stronger noise, smaller initial weights."""
    grown = support / SUPPORTS[0]
    setting = {
        "support": support,
        "sigma_p": 2 * grown**0.25 / math.sqrt(support),
        "sigma_0": 1e-8 / grown,
    }
    return Request("lattice", setting, seeds=PLAN[:5])


RUNGS = {f"s={support:.0e}": rung(support) for support in SUPPORTS}
