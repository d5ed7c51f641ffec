"""Automatic balancing in Phase 2: class weights and readout velocities."""

from functools import partial

import numpy as np

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.claims.courses import (
    ALL_WIDTHS,
    Course,
    band,
    everywhere,
    extremes,
    ladder,
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
SMALL = 0.2
"""C of Lemma 4.4; the two one-target types differ by a few per cent, by chance."""
GAP = 0.2
"""C of Lemma 4.5; without noise −G3' / G1' is 1.269 late at n = 60, L = 5."""


def _weights(course: Course) -> np.ndarray:
    """Σ_k over n, `(types, time)`."""
    return quiet.class_weights(course.rows).T


def _balance_gap(course: Course) -> np.ndarray:
    _, first, second, _ = _weights(course)
    return np.abs(first - second) / np.minimum(first, second)


def _judge_balance(evidence: Evidence) -> Finding:
    what = f"1 − |Σ2 − Σ3| / ({SMALL:g} min(Σ2, Σ3)), the least of phase 2"
    check = everywhere(evidence, lambda c: 1 - _balance_gap(c) / SMALL, what)
    return Finding((check,), extremes(evidence, _balance_gap))


def _totals(course: Course) -> np.ndarray:
    """Σ over Σ234 − Σ1, Σ1 − Σ2 and Σ1 − Σ3, by time."""
    both, first, second, neither = _weights(course)
    total = both + first + second + neither
    gaps = (first + second + neither - both, both - first, both - second)
    return np.stack([total / gap for gap in gaps], axis=1)


def _target_velocities(course: Course) -> np.ndarray:
    rate = course["value_rate"]
    return rate[:, 0] / rate[:, 1]


def _judge_totals(evidence: Evidence) -> Finding:
    # A gap that changes its sign would make a large negative ratio.
    check = ladder(evidence, lambda c: np.abs(_totals(c)), "largest of three", kind="O")
    signs = everywhere(evidence, _totals, "the three gaps are positive")
    ratio = band(evidence, _target_velocities, "G1' / G2'", kind="theta", constant=1.5)
    return Finding((signs, check, *ratio), extremes(evidence, _totals))


def _ratio_and_share(course: Course) -> np.ndarray:
    """−G3' / max(G1', G2') and −G3' / (G1' + G2'), by time."""
    first, second, common = course["value_rate"].T
    return np.stack(
        [-common / np.maximum(first, second), -common / (first + second)], 1
    )


def _slack(course: Course) -> np.ndarray:
    """Slack of both bounds on −G3', relative to |G3'|."""
    first, second, common = course["value_rate"].T
    low, high = (1 + GAP) * np.maximum(first, second), (1 - GAP) * (first + second)
    return np.minimum(-common - low, high + common) / np.abs(common)


def _class_ratio(course: Course) -> np.ndarray:
    both, first, second, neither = _weights(course)
    return (first + second + neither - both) / (both - first)


def _judge_velocities(evidence: Evidence) -> Finding:
    what = f"slack of both bounds with C = {GAP:g}, in parts of |G3'|"
    check = everywhere(evidence, _slack, what)
    ratio = extremes(evidence, lambda c: _ratio_and_share(c)[:, 0])["least by width"]
    share = extremes(evidence, lambda c: _ratio_and_share(c)[:, 1])["largest by width"]
    classes = extremes(evidence, _class_ratio)["least by width"]
    return Finding(
        (check,),
        {
            "least −G3' / max(G1', G2')": ratio,
            "largest −G3' / (G1' + G2')": share,
            "least R of class weights": classes,
        },
    )


def _order(course: Course) -> np.ndarray:
    """Gaps of the stated order of class weights, and of 1/2 ≤ Σ2/Σ3 ≤ 2, over Σ."""
    both, first, second, neither = _weights(course)
    total = both + first + second + neither
    low, high = np.minimum(first, second), np.maximum(first, second)
    gaps = (low - neither, both - high, first + second + neither - both, 2 * low - high)
    return np.stack([gap / total for gap in gaps], axis=1)


def _judge_order(evidence: Evidence) -> Finding:
    check = everywhere(evidence, _order, "gaps of the order, over all weights")
    return Finding((check,), {"least by seed": check.margin})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-L4.4",
        place="Lemma 4.4; Lemma F.5",
        statement="In phase 2 the class weights of samples with one target differ by a "
        "small part of either: |Σ2 − Σ3| ≤ C min(Σ2, Σ3) with C ≪ 1.",
        judge=_judge_balance,
        predicate=f"with C = {SMALL:g} at every time of phase 2, every width and seed",
        mutations=named(
            mutate.swap(ALL, "pull_by_group", "group", ("both", "first")),
            mutate.some_seeds(0.3, mutate.noise(ALL, "pull_by_group", 0.1)),
            mutate.power(ALL, "pull_by_group", 20.0),
        ),
    ),
    _claim(
        id="A-L4.5a",
        place="Lemma 4.5; Lemma F.6, first part",
        statement="In phase 2 the sum of all logistic weights is O(1) times each of "
        "the gaps Σ2 + Σ3 + Σ4 − Σ1, Σ1 − Σ2 and Σ1 − Σ3, and G1' / G2' = Θ(1).",
        judge=_judge_totals,
        predicate="the largest of the three over phase 2 and seeds by the rule for O, "
        "and least and largest G1' / G2' by that for Θ, over m = 512 … 131072; the "
        "gaps are positive at every time",
        source=f"{THEORY_RUNS}: 17/3 and 17/2 for many samples (A-R4)",
        mutations=named(
            mutate.swap(ALL, "pull_by_group", "group", ("both", "first")),
            mutate.only(
                "m=131072",
                mutate.swap(ALL, "pull_by_group", "group", ("both", "neither")),
            ),
            mutate.noise(ALL, "value_rate", 0.1),
        ),
    ),
    _claim(
        id="A-L4.5b",
        place="Lemma 4.5; Lemma F.6, second part",
        statement="In phase 2, (1 + C) max(G1', G2') ≤ −G3' ≤ (1 − C)(G1' + G2') for "
        "some constant C.",
        judge=_judge_velocities,
        predicate=f"of the readouts' own velocities, with C = {GAP:g} at every time of "
        "phase 2, of every width and seed; R of the class weights is printed too",
        source=f"{THEORY_RUNS}. Not for n below about L²: without noise R ends at "
        "0.987 for n = 60, L = 20",
        mutations=named(
            mutate.swap(ALL, "value_rate", "token", ("mu1", "mu3")),
            mutate.some_seeds(0.3, mutate.negate(ALL, "value_rate")),
            mutate.only("m=512", mutate.power(ALL, "value_rate", 2.5)),
        ),
    ),
    _claim(
        id="A-F.1-order",
        place="Definition F.1; Lemma F.3",
        statement="In phase 2 class weights are in the order Σ4 ≤ min(Σ2, Σ3) ≤ "
        "max(Σ2, Σ3) ≤ Σ1 ≤ Σ2 + Σ3 + Σ4, and 1/2 ≤ Σ2/Σ3 ≤ 2.",
        judge=_judge_order,
        predicate="at every time of phase 2, of every width and seed; no tolerance",
        mutations=named(
            mutate.swap(ALL, "pull_by_group", "group", ("both", "first")),
            mutate.swap(ALL, "pull_by_group", "group", ("neither", "second")),
            mutate.some_seeds(
                0.3, mutate.swap(ALL, "pull_by_group", "group", ("both", "neither"))
            ),
        ),
    ),
)
