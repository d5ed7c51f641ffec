"""Theorems 4.1 (1) and 4.2 (1): training time over two decades, with tied sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow.claims import All, Kind, Rungs, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit._types import Field, Regime
from attnflow.papers.vit.claims.evidence import ENDS_ALONE, FEW, UNDER, claim
from attnflow.papers.vit.claims.measures import over_formula, size_of
from attnflow.schema.declarations import Request
from attnflow.schema.libraries import xr

STRENGTHS = tuple(2000.0 * 10**i for i in range(5))
TARGETS = tuple(0.01 * 10 ** (-0.5 * i) for i in range(5))
COUNTS = (2, 6, 20, 64, 200)


def _rung(regime: Regime, **changes: Field) -> Request:
    """Request for a run at the theory's sizes that records only its end."""
    setting = {"records": 0, "test_samples": 0, "record": ("loss",), **changes}
    return Request(f"theory-{regime}", setting, seeds=FEW)


def _strong(strength: float) -> Request:
    """Rung with another ‖μ‖, and d_h and d tied to SNR⁴."""
    # The largest is 5·10¹⁸: widths are numbers of 64 bits.
    width = 5 * 10**10 * int(strength / STRENGTHS[0]) ** 2
    return _rung("benign", strength=strength, key_width=width, embed=4 * 10**6 * width)


def _small(regime: Regime, target: float, rate: float) -> Request:
    """Rung with another ε, and d_h and d large enough for the smallest."""
    sizes = {"key_width": 10**15, "embed": 10**26}
    return _rung(regime, target=target, rate=rate, steps=400_000, **sizes)


def _many(samples: int) -> Request:
    """Rung with another N at equal N·SNR², with d_h and d large enough, and η ∝ N."""
    sizes = {"samples": samples, "length": 2, "key_width": 10**14, "embed": 10**22}
    return _rung("harmful", rate=5e-4 * samples, **sizes)


BENIGN = {
    **{f"‖μ‖²={s / 16:g}": _strong(s) for s in STRENGTHS},
    **{f"ε={e:.2g}": _small("benign", e, 0.2) for e in TARGETS},
}
HARMFUL = {
    **{f"N={n}": _many(n) for n in COUNTS},
    **{f"ε={e:.2g}": _small("harmful", e, 0.02) for e in TARGETS},
}


def _rungs(name: str, size: Callable[[xr.Dataset], float]) -> Rungs:
    what = f"T over its leading order, in {name}"
    return Rungs(what, over_formula, "theta", size, constant=2.0, of=(f"{name}=*",))


_IN_LOSS = _rungs("ε", lambda run: 1 / size_of(run).target)
_claim = partial(
    claim,
    kind=Kind.ASYMPTOTIC,
    source="our runs, seeds 200–202",
    predicate="the leading order at small ε is ours, with every constant",
    inert={"loss": "nothing but the end is recorded"},
    mutations=named(mutate.power(mutate.EVERY, "end_time", 1.2)),
    survives=ENDS_ALONE,
)
CLAIMS = (
    _claim(
        id="D-Thm4.1-ladder",
        place="Theorem 4.1 (1)",
        statement="T = Θ(1/(ηε‖μ‖²‖w_O‖²)) over two decades of ‖μ‖ and of ε, with d_h "
        "and d tied to them.",
        under=UNDER["benign"],
        needs=BENIGN,
        judge=All((_rungs("‖μ‖²", lambda run: size_of(run).signal), _IN_LOSS)),
        settings="N = 16, M = 4, C_p = 10; ‖μ‖² from 125 to 1.25·10⁶ with d_h ∝ "
        "‖μ‖⁴ from 5·10¹⁰ and d = 4·10⁶ d_h, ε = 0.05, η = 0.01‖μ‖^−2; ε from 10^−2 to "
        "10^−4 with d_h = 10¹⁵, d = 10²⁶, η = 0.2‖μ‖^−2",
    ),
    _claim(
        id="D-Thm4.2-ladder",
        place="Theorem 4.2 (1)",
        statement="T = Θ(N/(ηεσ_p²d‖w_O‖²)) over two decades of N and of ε, with d_h "
        "and d tied to them.",
        under=UNDER["harmful"],
        needs=HARMFUL,
        judge=All((_rungs("N", lambda run: size_of(run).samples), _IN_LOSS)),
        settings="N·SNR² = 1/4; N from 2 to 200 with M = 2, C_p = 5√2, d_h = 10¹⁴, "
        "d = 10²², ε = 0.05, η = 5·10^−4N/(σ_p²d); ε from 10^−2 to 10^−4 with N = 16, "
        "M = 4, C_p = 10, d_h = 10¹⁵, d = 10²⁶, η = 0.02/(σ_p²d)",
    ),
)
