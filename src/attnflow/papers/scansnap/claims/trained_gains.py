"""Claims of ours on Theorem 3 in training (J), and a bound on the growth factor."""

from functools import partial

import numpy as np

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_J,
    FIGURE_3_Q,
    FLOW_RUN,
    LAWS_J,
    NO_SEED,
    NOT_2,
    SMALL,
    J,
    Q,
)
from attnflow.papers.scansnap.claims.gains import OTHERS, deviations
from attnflow.papers.scansnap.claims.statistics import COMMON, TOP, end, part

_RATIOS = "η_Y/η_Z = 1 … 10⁴, η_Y = 1, t = 10⁵"


def _judge_transfer(evidence: Evidence) -> Finding:
    runs = part(evidence, "J")
    errors_by_ratio = {
        f"{ratio:g}": deviations(run).tolist() for ratio, run in runs.items()
    }
    check = Exact(
        max(errors_by_ratio["1"]),
        0.1,
        "ln(r/r(0)) against ln χ at η_Y/η_Z = 1, relative",
        counterexample=True,
    )
    return Finding((check,), {"deviation by η_Y/η_Z": errors_by_ratio})


def _judge_limit(evidence: Evidence) -> Finding:
    runs = part(evidence, "J")
    errors = np.array([deviations(run) for run in runs.values()])
    checks = [
        Ladder(tuple(runs), tuple(column.tolist()), "o(1)", f"{TOP} over {other}")
        for other, column in zip(OTHERS, errors.T, strict=True)
    ]
    return Finding(tuple(checks), {"deviation": errors.tolist()})


def _judge_weak(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        tokens = [t for t in map(str, run["token"].values) if t.endswith("@0")]
        tokens = [t for t in tokens if t.startswith("distinct")]
        common = end(run, COMMON)
        total = sum(end(run, token) for token in tokens)
        checks += [
            Exact(
                abs(total / (-common / 10) - 1), 1e-8, f"{name}: Σ z = −z/K, relative"
            ),
            Exact(
                end(run, TOP) + common / 10, 0.0, f"{name}: ln χ/2 less |z|/K of the CT"
            ),
        ]
        bound = float(np.exp(-2 * common / 10))
        numbers[name] = {"χ": float(np.exp(2 * end(run, TOP))), "bound": bound}
    return Finding(tuple(checks), numbers)


_claim = partial(
    Claim, system=J, expected=Verdict.HOLDS, scope=Scope.BEYOND, origin="ours"
)
CLAIMS = (
    _claim(
        id="E-R-Thm3",
        place="Theorem 3, Equation 11, for training",
        statement="The law r(t) = r(0) χ_l(t) carries over to training at η_Y/η_Z = 1.",
        needs=LAWS_J,
        judge=_judge_transfer,
        predicate="ln(r/r(0)) within 10% of ln χ at t = 10⁵ for three pairs of tokens; "
        "other ratios are reported alongside",
        expected=Verdict.FAILS,
        source=FLOW_RUN,
        conditions=f"{SMALL}; {_RATIOS}. {NOT_2}; {NO_SEED}",
        mutations=named(
            mutate.scale("J, 1", "score", 0.5),
            mutate.power("J, 1", "attention_unit", 1.5),
        ),
    ),
    _claim(
        id="E-R-Thm3-limit",
        place="Theorem 3, Equation 11, for training",
        statement="Training approaches the law r(t) = r(0) χ_l(t) as η_Y/η_Z grows.",
        needs=LAWS_J,
        judge=_judge_limit,
        predicate="the deviation of ln(r/r(0)) from ln χ, over ln χ, is o(1) in η_Y/η_Z"
        " for each of three pairs: five ratios over four decades",
        source=FLOW_RUN,
        conditions=f"{SMALL}; {_RATIOS}. {NOT_2}; {NO_SEED}",
        mutations=named(
            mutate.scale("J, 10000", "score", 0.5),
            mutate.power("J, 10000", "attention_unit", 1.5),
        ),
    ),
    _claim(
        id="E-R-5",
        place="Theorem 3",
        statement="With one query, alike classes and one common token a class's "
        "distinct scores sum to −z_CT/K, so that χ ≤ e^{2|z_CT|/K}: distinct tokens "
        "are scanned K times more weakly than the common one is suppressed.",
        system=f"{J}; and {Q}",
        needs={**FIGURE_3_J, **FIGURE_3_Q},
        judge=_judge_weak,
        predicate="the sum to 1e-8 (drift of the flow), and the bound itself",
        source=FLOW_RUN,
        conditions=f"{FIGURE_3}, t = 10⁵; {NO_SEED}",
        mutations=named(
            mutate.add("J, 1", "score", 1e-4),
            mutate.swap("Q, 2", "score", "token", ("distinct9@0", "common0")),
        ),
    ),
)
