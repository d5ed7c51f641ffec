"""Figure 1: exponent and constant of the map's boundary, by reading of w_O."""

import math
from functools import partial

import numpy as np

from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Scope,
    Slope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.claims.statistics import agreement, best_constant
from attnflow.papers.vit.claims.maps import (
    CURVE,
    CUT,
    SEEDS,
    boundary,
    control,
    losses,
    reading,
)

NEAR = 0.15
# With three seeds of 0 to 4 the bootstrap's 95% reach ±0.12; ten have √(3/10) of it.
REACH = {"trained": 0.08, "undivided": 0.12, "unit": 0.12, "literal": 0.12}
WORDS = {
    "trained": "w_O begins at PyTorch's default over 16 and is trained with the rest",
    "undivided": "w_O is fixed at PyTorch's default, not divided",
    "unit": "w_O is fixed with norm 1, as the theory has it",
    "literal": "w_O is fixed at PyTorch's default over 16",
}
SECTION_6 = (
    "Section 6's sizes: M = 16, d = 1024, d_h = d_v = 512, σ_p = 0.2, σ̃_p = 4, "
    "η = 0.1, ε = 0.01, 100 test points, noise not projected; outside Condition 4.1, "
    "items (1), (2), (6) and (8)"
)


def _judge_slope(evidence: Evidence, name: str) -> Finding:
    run = evidence[name]
    fit = boundary(run)
    crossed = np.isfinite(fit.places)
    check = Slope(
        tuple(np.log(run["samples"].values[crossed]).tolist()),
        tuple(np.log(fit.places[crossed]).tolist()),
        -0.5,
        REACH[name],
        "log SNR* in log N",
        seeds=len(SEEDS[name]),
    )
    return Finding(
        (check,),
        {
            "exponent": fit.exponent,
            "95% over seeds": list(fit.exponent_interval),
            "N·SNR*² by N": (run["samples"].values * fit.places**2).tolist(),
        },
    )


def _judge_constant(evidence: Evidence, name: str, stated: float = CURVE) -> Finding:
    run = evidence[name]
    fit = boundary(run)
    above = losses(run).mean(axis=0) > CUT
    agrees = agreement(control(run), above, stated)
    what = f"constant over {stated:g}, apart from 1"
    return Finding(
        (
            Exact(abs(fit.constant / stated - 1), NEAR, what),
            Exact(1 - agrees, 0.05, f"cells on the wrong side of {stated:g}"),
        ),
        {
            "constant": fit.constant,
            "95% over seeds": list(fit.constant_interval),
            "constant that parts most cells": best_constant(control(run), above),
            f"cells that agree with {stated:g}": agrees,
        },
    )


def _judge_none(evidence: Evidence) -> Finding:
    least = losses(evidence["literal"]).mean(axis=0).min()
    check = Exact(CUT / float(least), 1.0, "0.2 over the least mean test loss")
    return Finding((check,), {"least mean test loss": float(least)})


_claim = partial(Claim, scope=Scope.EXPERIMENT, place="Figure 1")


def _system(name: str) -> str:
    return f"full-batch gradient descent, float64; {WORDS[name]}"


def _conditions(name: str) -> str:
    return f"{SECTION_6}. Reading: {WORDS[name]}"


def _slope(name: str, source: str) -> Claim:
    return _claim(
        id=f"D-Fig1-slope-{name}",
        statement=f"Where the test loss is 0.2, SNR falls as N^−½, if {WORDS[name]}.",
        system=_system(name),
        needs=reading(name),
        judge=partial(_judge_slope, name=name),
        predicate="the mean map over seeds crosses 0.2 (linear in SNR) along a power "
        f"of N with an exponent within {REACH[name]:g} of −1/2, the half-width of the "
        "bootstrap's 95% interval on seeds 0–2; intervals over seeds are printed",
        expected=Verdict.HOLDS,
        source=source,
        conditions=_conditions(name),
        mutations=named(
            mutate.shuffle(name, "test_loss", "samples"),
            mutate.reverse(name, "test_loss", "samples"),
            mutate.constant(name, "test_loss", "samples"),
        ),
    )


def _constant(name: str, source: str) -> Claim:
    # 15% was fixed before the deciding seeds were run, and is kept.
    expected = Verdict.INCONCLUSIVE if name == "trained" else Verdict.HOLDS
    return _claim(
        id=f"D-Fig1-const-{name}",
        statement=f"The boundary is at N·SNR² = 1000, if {WORDS[name]}.",
        system=_system(name),
        needs=reading(name),
        judge=partial(_judge_constant, name=name),
        predicate="the geometric mean of N·SNR*² over N is within 15% of 1000, and at "
        "most 5% of the cells lie on the wrong side of the curve; 15% was fixed before "
        "the deciding seeds (200 on) were run",
        expected=expected,
        source=source,
        conditions=_conditions(name),
        mutations=named(
            mutate.scale(name, "test_loss", 0.6),
            mutate.scale(name, "test_loss", 2.0),
        ),
    )


SLOPES = {
    "trained": "our runs: −0.57 within [−0.71, −0.46] on seeds 0–2, −0.56 within "
    "[−0.79, −0.44] on seeds 200–209",
    "undivided": "our runs, seeds 200–204 (−0.58 within [−0.65, −0.51] on seeds 0–2)",
    "unit": "our runs, seeds 200–204 (−0.52 within [−0.67, −0.40] on seeds 0–2)",
}
CONSTANTS = {
    "trained": "our runs: 1083 within [1027, 1159] on seeds 0–2. On seeds 200–209 it "
    "is 1154 within [1033, 1375], which misses 15% by a hair; 96% of cells agree with "
    "1000, and 1106 separates most of them. Seeds differ by more than three of them "
    "show: three others, in a prototype, gave 1005",
    "undivided": "our runs, seeds 200–204 (1116 within [1062, 1198] on seeds 0–2)",
    "unit": "our runs, seeds 200–204 (875 within [800, 959] on seeds 0–2). The verdict "
    "depends on the seeds: three others, in a prototype, gave 777, outside 15%",
}
CLAIMS = (
    *(_slope(name, source) for name, source in SLOPES.items()),
    *(_constant(name, source) for name, source in CONSTANTS.items()),
    _claim(
        id="D-Fig1-literal",
        statement=f"The map has the boundary N·SNR² = 1000, if {WORDS['literal']}.",
        system=_system("literal"),
        needs=reading("literal"),
        judge=partial(_judge_slope, name="literal"),
        predicate="as for the other readings, on nine cells: N = 6, 12, 20 and "
        "SNR = 4, 9.8, 15.6",
        expected=Verdict.HOLDS_CORRECTED,
        source="our runs, seeds 200–202 (0.206 at N = 20, SNR = 10.3 on seeds 0–2)",
        conditions=_conditions("literal"),
        correction=Correction(
            "With this reading the mean test loss stays above 0.2 in each of nine "
            "cells across the map, up to N·SNR² = 4867, so that a map cut at 0.2 shows "
            "no boundary: if w_O is among what Section 6 divides by 16, it is trained.",
            _judge_none,
        ),
        mutations=named(
            mutate.scale("literal", "test_loss", 0.6),
            mutate.replace("literal", "test_loss", math.log(1.2)),
        ),
    ),
)
