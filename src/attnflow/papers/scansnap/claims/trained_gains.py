"""Claims of ours on Theorem 3 in training (J), and a bound on the growth factor."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import (
    All,
    AtMost,
    Claim,
    Equal,
    Evidence,
    Kind,
    Rungs,
    Verdict,
    Witness,
)
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_J,
    FIGURE_3_Q,
    FLOW_RUN,
    LAWS_J,
    SMALL,
    J,
    Q,
)
from attnflow.papers.scansnap.claims.gains import OTHERS, deviations
from attnflow.papers.scansnap.claims.statistics import (
    COMMON,
    TOP,
    by_run,
    classes,
    last,
    reordered,
    score,
)
from attnflow.schema.libraries import xr

_RATIOS = f"{SMALL}; η_Y/η_Z = 1 … 10⁴, η_Y = 1, t = 10⁵"


def _ratio(run: xr.Dataset) -> float:
    setting = schema.setting_of(run)
    return setting["value_rate"] / setting["score_rate"]


def _deviation(run: xr.Dataset, token: str = "") -> xr.DataArray:
    """Deviations at the end, of all three pairs or of one."""
    at_end = last(deviations(run))
    return at_end.sel(token=token) if token else at_end


def _exactly_the_law(evidence: Evidence) -> Evidence:
    """The first run with attention that follows the law."""
    run = evidence["J, 1"]
    unit, growth = run["attention_unit"], np.exp(2 * score(run, TOP))
    first = unit.isel(time=0, drop=True)
    top, start = unit.sel(token=TOP, drop=True), first.sel(token=TOP, drop=True)
    gain = ((start / first) ** 2 - 1) * growth
    return {**evidence, "J, 1": run.assign(attention_unit=top / np.sqrt(1 + gain))}


def _sum_error(run: xr.Dataset) -> xr.DataArray:
    """Scores of a class's distinct tokens over −z/K of the common one, less 1."""
    tokens = [t for t in map(str, run["token"].values) if t.endswith("@0")]
    own = [t for t in tokens if t.startswith("distinct")]
    total = sum(last(score(run, token)) for token in own)
    return total * classes(run) / -last(score(run, COMMON)) - 1


def _bound_share(run: xr.Dataset) -> xr.DataArray:
    """Ln χ/2 over |z|/K of the common token."""
    return last(score(run, TOP)) * classes(run) / -last(score(run, COMMON))


_claim = partial(Claim, system=J, source=FLOW_RUN, origin="ours")
CLAIMS = (
    _claim(
        id="E-R-Thm3",
        place="Theorem 3, Equation 11, for training",
        statement="The law r(t) = r(0) χ_l(t) carries over to training at η_Y/η_Z = 1.",
        kind=Kind.UNIVERSAL,
        under=("1(b)", "Eq. 10"),
        needs=LAWS_J,
        judged=("J, 1",),
        judge=All(
            (AtMost("ln(r/r(0)) less ln χ, over ln χ", _deviation, 0.1, of=("J, 1",)),),
            also={"median deviation": by_run(_deviation)},
        ),
        predicate="at t = 10⁵ for three pairs of tokens",
        expected=Verdict.FAILS,
        settings=_RATIOS,
        mends={"attention by the law": _exactly_the_law},
        witness=Witness(
            "witnesses/training.py",
            {"deviation from Equation 11": ("median deviation", "J, 1")},
        ),
    ),
    _claim(
        id="E-R-Thm3-limit",
        place="Theorem 3, Equation 11, for training",
        statement="Training approaches the law r(t) = r(0) χ_l(t) as η_Y/η_Z grows.",
        kind=Kind.ASYMPTOTIC,
        under=("1(b)",),
        needs=LAWS_J,
        judge=All(
            tuple(
                Rungs(
                    f"deviation, {TOP} over {other}",
                    partial(_deviation, token=other),
                    "o(1)",
                    _ratio,
                )
                for other in OTHERS
            )
        ),
        predicate="|ln(r/r(0)) − ln χ|/ln χ at t = 10⁵",
        expected=Verdict.HOLDS,
        settings=_RATIOS,
        mutations={"runs in reverse order": reordered},
        survives={"holes": "about the last record alone"},
    ),
    _claim(
        id="E-R-5",
        place="Theorem 3",
        statement="With one query, alike classes and one common token a class's "
        "distinct scores sum to −z_CT/K, so that χ ≤ e^{2|z_CT|/K}: distinct tokens "
        "are scanned K times more weakly than the common one is suppressed.",
        kind=Kind.UNIVERSAL,
        under=("queries", "alike", "common"),
        system=f"{J}; and {Q}",
        needs={**FIGURE_3_J, **FIGURE_3_Q},
        judge=All(
            (
                Equal("Σ z over −z_CT/K, less 1", _sum_error, 1e-8),
                AtMost("ln χ over 2|z_CT|/K", _bound_share, 1.0),
            )
        ),
        predicate="1e-8 is the drift of the flow",
        expected=Verdict.HOLDS,
        settings=f"{FIGURE_3}, t = 10⁵",
        survives={"holes": "about the last record alone"},
    ),
)
