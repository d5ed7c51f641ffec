"""Claims on Appendix C: noise that avoids the signal, its norms, initial products."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

SUPPORTS = (100, 316, 1000, 3162, 10_000)
NORMS = {
    f"s={support}": Request("draws", {"support": support}, seeds=ev.FEW)
    for support in SUPPORTS
}
TOP = f"s={SUPPORTS[-1]}"
LARGE = {TOP: NORMS[TOP]}
SIGNALS = {
    f"d={(16 * s) ** 2}": Request(
        "draws",
        {"samples": 4, "support": s, "draws": 1, "support_draws": 300_000},
        seeds=ev.FEW,
    )
    for s in (1, 3, 10, 30, 100)
}
"""Supports of s = √d/n² coordinates among d, at n = 4."""
DELTA = 0.1


def _count(line: str, run: xr.Dataset) -> int:
    """In how many draws a bound is violated; an unknown draw counts as one."""
    return int((~(run["margin"].sel(line=line) >= 0)).sum())


def _draws(run: xr.Dataset) -> int:
    return int(run["margin"].isel(line=0).size)


def _rarely(what: str, line: str) -> c.Rarely:
    return c.Rarely(what, partial(_count, line), _draws, DELTA)


def _dimension(run: xr.Dataset) -> float:
    """The dimension, (s n²)²."""
    setting = schema.setting_of(run)
    return float((setting["support"] * setting["samples"] ** 2) ** 2)


def _touched(run: xr.Dataset) -> xr.DataArray:
    """The share of draws in which noise meets the signal, times n √d."""
    setting = schema.setting_of(run)
    share = run["touched"].mean("seed", skipna=False) / setting["support_draws"]
    return share * setting["samples"] * math.sqrt(_dimension(run))


def _l1_error(unit: float, run: xr.Dataset) -> np.ndarray:
    """The largest error of ‖ξ‖₁ in 90% of draws, over √log(4n/δ) s^−½ times a unit.

    The unit is (σ_p s) to the given power.
    """
    setting = schema.setting_of(run)
    s = setting["support"]
    sigma_p = setting["sigma_p"] or 2 / math.sqrt(s)
    printed = math.sqrt(math.log(4 * setting["samples"] / DELTA) / s)
    error = run["l1_error"].quantile(1 - DELTA, "draw", skipna=False)
    return error.values / (printed * (sigma_p * s) ** unit)


_claim = partial(
    c.Claim,
    system="noise tokens on disjoint supports, and normal initial weights, over draws",
    kind=c.Kind.PROBABILITY,
    delta=DELTA,
    needs=LARGE,
    expected=c.Verdict.HOLDS,
    source="our runs, seeds 200–202",
    settings="n = 20, m_k = 100, m_v = 20, s = 10⁴, d = (s n²)², δ = 0.1, 300 draws",
)
_LATER = {
    name: "the experiment trains nothing" for name in ("untrained", "cut", "holes")
}
CLAIMS = (
    _claim(
        id="C-LC.2",
        place="Lemma C.2",
        statement="With supports drawn among all d coordinates, s = Θ(d^½ n^−2), all "
        "noise is orthogonal to the signal with probability 1 − O(1/(n √d)).",
        kind=c.Kind.ASYMPTOTIC,
        delta=None,
        under=("C.2 s",),
        needs=SIGNALS,
        judge=c.Rungs(
            "share of draws with noise that meets the signal, times n √d",
            _touched,
            "O",
            _dimension,
        ),
        settings="n = 4, s = 1 … 100, d = 256 … 2.6 · 10⁶, 300,000 draws each and seed",
        mutations=c.named(
            mutate.both(
                *(
                    mutate.scale(name, "touched", 2.0**rung)
                    for rung, name in enumerate(SIGNALS)
                )
            )
        ),
        survives=_LATER,
    ),
    _claim(
        id="C-LC.4-1",
        place="Lemma C.4, first and second line",
        statement="With probability 1 − δ all noise has σ_p² s/2 ≤ ‖ξ‖₂² ≤ 3σ_p² s/2 "
        "and σ_p s/√2 ≤ ‖ξ‖₁ ≤ σ_p s.",
        under=("C.4 s",),
        judge=c.All(
            (
                _rarely("‖ξ‖₂² leaves its bounds", "C.4 norm 2"),
                _rarely("‖ξ‖₁ leaves its bounds", "C.4 norm 1"),
            )
        ),
        predicate=(
            "the constant of s = Ω(log(4n/δ)) is hidden: at s = 80, setting (a), "
            "‖ξ‖₁ leaves its bounds in three draws of four, since √(2/π) − 1/√2 is "
            "only 1.4 of its standard deviations there"
        ),
        survives=_LATER,
    ),
    _claim(
        id="C-LC.4-2",
        place="Lemma C.4, third line",
        statement="With probability 1 − δ all noise has ‖ξ‖₁ = √(2/π) σ_p s ± "
        "O(√log(4n/δ) s^−½).",
        kind=c.Kind.ASYMPTOTIC,
        delta=None,
        under=("C.4 s",),
        needs=NORMS,
        judge=c.Rungs(
            "largest error of ‖ξ‖₁ over √log(4n/δ) s^−½",
            partial(_l1_error, 0.0),
            "O",
            "support",
        ),
        predicate="the largest error of 20 tokens, exceeded in a tenth of the draws",
        expected=c.Verdict.FAILS,
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "± O(σ_p √(s log(4n/δ))), as in its proof.",
            c.Rungs(
                "largest error of ‖ξ‖₁ over σ_p √(s log(4n/δ))",
                partial(_l1_error, 1.0),
                "O",
                "support",
            ),
        ),
        settings="n = 20, s = 100 … 10⁴, σ_p √s = 2, δ = 0.1, 300 draws each",
        mutations=c.named(
            mutate.both(
                *(
                    mutate.scale(name, "l1_error", 2.0**rung)
                    for rung, name in enumerate(NORMS)
                )
            )
        ),
        mends=c.named(
            mutate.both(
                *(
                    mutate.scale(name, "l1_error", 10.0 / math.sqrt(support))
                    for name, support in zip(NORMS, SUPPORTS, strict=True)
                )
            )
        ),
        witness=c.Witness(
            "witnesses/norms.py",
            {"error over printed": ("largest error of ‖ξ‖₁ over √log(4n/δ) s^−½", 4)},
        ),
    ),
    _claim(
        id="C-LC.5",
        place="Lemma C.5",
        statement="With probability 1 − δ, for all S_1 with c more samples than its "
        "complement, Σ_{S_1} ‖ξ‖₁ less that of the complement is between c σ_p s/√2 "
        "and c σ_p s.",
        under=("C.5 s",),
        judge=_rarely("the difference leaves its bounds", "C.5"),
        predicate="c = 2, n being even; the worst of all sets",
        survives=_LATER,
    ),
    _claim(
        id="C-LC.6",
        place="Lemma C.6",
        statement="With probability 1 − δ all value neurons have squared norms between "
        "σ_0² d/2 and 3σ_0² d/2, signals of at most √(2 log(12 m_v/δ)) σ_0 and noise "
        "of at most 2√log(12 m_v n/δ) σ_0 σ_p √s.",
        under=("C.6 s", "C.6 m_v"),
        judge=c.All(
            (
                _rarely("a norm leaves its bounds", "C.6 norm"),
                _rarely("a value signal exceeds its bound", "C.6 signal"),
                _rarely("value noise exceeds its bound", "C.6 noise"),
            )
        ),
        survives=_LATER,
    ),
    _claim(
        id="C-LC.7",
        place="Lemma C.7",
        statement="With probability 1 − δ the initial mean value signal is at most "
        "2√log(12 m_v/δ) m_v^−½ σ_0, and mean value noise at most 2√(2 log(12 m_v n/δ))"
        " m_v^−½ σ_0 σ_p √s.",
        under=("C.6 s", "C.6 m_v"),
        judge=c.All(
            (
                _rarely("the mean value signal exceeds its bound", "C.7 signal"),
                _rarely("mean value noise exceeds its bound", "C.7 noise"),
            )
        ),
        survives=_LATER,
    ),
    _claim(
        id="C-LC.8",
        place="Lemma C.8",
        statement=(
            "With probability 1 − δ query and key neurons have squared norms between "
            "σ_0² d/2 and 3σ_0² d/2; the largest signal is between σ_0/2 and √(2 "
            "log(12 m_k/δ)) σ_0, and the largest noise of each sample between σ_0 "
            "σ_p √s/4 and 2√log(12 m_k n/δ) σ_0 σ_p √s, with n inside the logarithm "
            "for keys too, where the lemma prints log(12 m_k/δ)."
        ),
        under=("C.8 s", "C.8 m_k"),
        judge=c.All(
            (
                _rarely("a norm leaves its bounds", "C.8 norm"),
                _rarely("a signal exceeds its bound", "C.8 signal"),
                _rarely("noise exceeds its bound", "C.8 noise"),
                _rarely("a largest product is too small", "C.8 largest"),
            )
        ),
        predicate=(
            "key noise is judged with log(12 m_k n/δ), as printed for query noise: "
            "see note C-N7d"
        ),
        survives=_LATER,
    ),
)
