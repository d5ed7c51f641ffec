"""Requests for runs that claims share, and descriptions of their settings.

There are two kinds of evidence. *Setting (a)* is the paper's experiment, whose supports
overlap and whose times are not in the theory's order; claims on the paper's experiments
are judged there. The *lattice* has disjoint supports and the theory's order, on every
rung of a *ladder* of supports; claims on lemmas are judged there. Neither meets
Condition 3.1 with constants of 1: `attnflow.papers.signgd.conditions` says by how much.
"""

import math
from functools import partial

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.conditions import CONDITION_3_1
from attnflow.papers.signgd.seeds import PLAN as PLAN
from attnflow.schema.declarations import Request

FEW = PLAN[:3]
"""Seeds for runs that take longer."""
MANY = tuple(range(200, 220))
"""Seeds for short or cheap runs."""

SUPPORTS = (10**6, 10**7, 10**8, 10**9, 10**10)
"""A ladder of five supports over four decades."""

SIGNGD = "full-batch SignGD on all weights, float64, exact signs"
ADAM = "full-batch Adam on all weights, float64, gradients that do not underflow"
DISJOINT = "SignGD on disjoint supports, simulated from the norms of the noise"
ROW_A = (
    "Table 3, row (a): n = 20, s = 80, d = 2000, m_k = 100, m_v = 20, learning rate "
    "1e-4; supports overlap (n s/d = 0.8)"
)
LATTICE_ODD = (
    "disjoint supports of s = 10⁶, n = 9, m_k = m_v = 20, σ_p √s = 2, learning rate "
    "growing to 1e-3 of the elapsed time"
)
LATTICE = LATTICE_ODD.replace("n = 9", "n = 9 and n = 10")
LADDER = (
    "disjoint supports of s = 10⁶ … 10¹⁰, n = 9, m_k = m_v = 20, σ_p √s = 2 "
    "(s/10⁶)^¼, σ_0 = 10⁻² / s, learning rate growing to 1e-3 of the elapsed time"
)
DELTA_A, DELTA_LATTICE = 20 ** (-1 / 3), 10 ** (-1 / 3)
"""n^−1/3, with which Theorem 3.2 may fail, in Table 3's settings and on the lattice.

Lemmas whose δ is left open are read with it.
"""

SETTING_A = {"a": Request("setting-a", seeds=PLAN)}
A_FEW = {"a": Request("setting-a", seeds=FEW)}
"""Setting (a) with the seeds of the runs that it is compared with."""
ODD = {"odd": Request("lattice", seeds=MANY)}
EVEN = {"even": Request("lattice", {"samples": 10}, seeds=MANY)}
IDEAL = {**ODD, **EVEN}
"""The lattice at n = 9 and at n = 10, where votes may be tied."""
ODD_FOR_EVEN = mutate.NamedMutation(
    "n = 9 in place of n = 10", lambda runs: {**runs, "even": runs["odd"]}
)
"""Mends what fails because votes are tied."""


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

on_disjoint = partial(
    c.Claim, system=DISJOINT, under=CONDITION_3_1, expected=c.Verdict.HOLDS
)
"""A claim on a lemma, which assumes Condition 3.1."""
on_lattice = partial(
    on_disjoint,
    kind=c.Kind.UNIVERSAL,
    needs=IDEAL,
    source="our runs, seeds 200–219",
    settings=LATTICE,
)
"""One for all neurons and samples, at one size."""
on_ladder = partial(
    on_disjoint,
    kind=c.Kind.ASYMPTOTIC,
    needs=RUNGS,
    source="our runs, seeds 200–204",
    settings=LADDER,
)
"""One with a rate, along the ladder of supports."""
