"""Phase 2: signs of score and value rates, and logistic weights within a type."""

from functools import partial

import numpy as np

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    ALL_WIDTHS,
    Course,
    at_widths,
    everywhere,
    ladder,
    worst,
)
from attnflow.papers.cooccurrence.claims.evidence import CONDITION, FLOW, THEORY_RUNS

ALL = mutate.EVERY
_claim = partial(
    Claim,
    system=FLOW,
    needs=ALL_WIDTHS,
    scope=Scope.THEOREM,
    conditions=CONDITION,
    expected=Verdict.HOLDS,
    source=THEORY_RUNS,
)
Pairs = tuple[tuple[str, str, float], ...]
VALUES: Pairs = (
    ("mu1", "mu1", 1.0),
    ("mu2", "mu2", 1.0),
    ("mu2", "mu1", 1.0),
    ("mu1", "mu3", -1.0),
    ("mu2", "mu3", -1.0),
)
SCORES: Pairs = (
    ("mu2", "mu1", 1.0),
    ("mu1", "mu2", 1.0),
    ("mu3", "mu1", -1.0),
    ("mu3", "mu2", -1.0),
)
"""Key, query and the sign that the paper states."""


def signed(course: Course, name: str, pairs: Pairs) -> np.ndarray:
    """Entries times the signs that the paper states, by time and pair."""
    table = course.rows[name]
    entries = [sign * table.sel(key=key, query=query) for key, query, sign in pairs]
    return np.stack([entry.values for entry in entries], axis=1)


def score_rates(course: Course) -> np.ndarray:
    """Signed rates of the four scores over Loss σ0² m / (√m L)."""
    unit = course["loss"] * course.key_norm / (course.width**0.5 * course.length)
    return signed(course, "score_rate", SCORES) / unit[:, None]


def _value_rates(course: Course) -> np.ndarray:
    rates = signed(course, "value_self_score_rate", VALUES)
    return rates / course["loss"][:, None]


def _judge_values(evidence: Evidence) -> Finding:
    what = "rates of A_V over the loss, with the stated signs"
    check = everywhere(evidence, _value_rates, what)
    return Finding((check,), {"least by seed": check.margin})


def _judge_scores(evidence: Evidence) -> Finding:
    what = "rates of scores over Loss σ0² m / (√m L), with the stated signs"
    check = everywhere(evidence, score_rates, what)
    return Finding((check,), {"least by seed": check.margin})


def _kinds(course: Course) -> dict[str, np.ndarray]:
    """Indices of the samples of each type, by the targets in their names."""
    words = [str(name).split() for name in course.rows["sample"].values]
    kinds = np.array([("mu1" in w) + 2 * ("mu2" in w) for w in words])
    return {str(kind): np.flatnonzero(kinds == kind) for kind in np.unique(kinds)}


def _spread(course: Course) -> np.ndarray:
    """Largest g_i / g_j within a type, over all types, by time."""
    margin = course["margin"]
    each = [np.logaddexp(0, margin[:, rows]) for rows in _kinds(course).values()]
    return np.exp(np.max([np.ptp(log, axis=1) for log in each], axis=0))


def _judge_spread(evidence: Evidence) -> Finding:
    largest = at_widths(worst(evidence, _spread, np.max))
    check = ladder(evidence, _spread, "largest g_i / g_j within a type", kind="O")
    return Finding((check,), {"largest by width": largest})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-C4.6",
        place="Corollary 4.6; Corollary F.13; Theorem 3.2, second item",
        statement="In phase 2 the inner products of values of μ1 and μ2, of μ1 with "
        "itself and of μ2 with itself grow; those of μ1 and μ2 with μ3 fall.",
        judge=_judge_values,
        predicate="the recorded rates of A_V have these signs at every time of phase "
        "2, of every width and seed; no tolerance",
        mutations=named(
            mutate.negate(ALL, "value_self_score_rate"),
            mutate.swap(ALL, "value_self_score_rate", "query", ("mu1", "mu3")),
            mutate.some_seeds(0.3, mutate.negate(ALL, "value_self_score_rate")),
            mutate.only("m=512", mutate.negate(ALL, "value_self_score_rate")),
        ),
    ),
    _claim(
        id="A-L4.7-sign",
        place="Lemma 4.7; Lemma F.16; Theorem 3.2, first item",
        statement="In phase 2 the scores between the two targets rise, and those of "
        "the common token as key with a target as query fall.",
        judge=_judge_scores,
        predicate="the recorded rates of the four scores have these signs at every "
        "time of phase 2, of every width and seed; no tolerance",
        mutations=named(
            mutate.negate(ALL, "score_rate"),
            mutate.swap(ALL, "score_rate", "key", ("mu1", "mu3")),
            mutate.some_seeds(0.3, mutate.negate(ALL, "score_rate")),
            mutate.only("m=131072", mutate.negate(ALL, "score_rate")),
        ),
    ),
    _claim(
        id="A-F.2",
        place="Corollary F.2",
        statement="In phase 2 the logistic weights of two samples of one type differ "
        "by a bounded factor.",
        judge=_judge_spread,
        predicate="the largest factor over phase 2, types and seeds, by the rule for "
        "O, which may at most double over m = 512 … 131072",
        mutations=named(
            mutate.noise(ALL, "margin", 0.5),
            mutate.only("m=131072", mutate.scale(ALL, "margin", 12.0)),
        ),
    ),
)
