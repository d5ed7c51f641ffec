"""Phase 2: growth of the readout gain, and changes that stay small beside it."""

import math
from functools import partial

import numpy as np

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    LARGE_CONDITION,
    LARGE_TABLES,
    LARGE_WIDTHS,
    Course,
    at_widths,
    band,
    ladder,
    over_logs,
    worst,
)
from attnflow.papers.cooccurrence.claims.evidence import FLOW, THEORY_RUNS
from attnflow.papers.cooccurrence.claims.ladders import with_width

ALL = mutate.EVERY
_claim = partial(
    Claim,
    system=FLOW,
    needs=LARGE_WIDTHS,
    scope=Scope.THEOREM,
    conditions=LARGE_CONDITION,
    expected=Verdict.HOLDS,
    source=THEORY_RUNS,
)
NAMED = 3


def _gain(course: Course) -> np.ndarray:
    return course["readout_gain"] / course.gain


def _gain_growth(course: Course) -> np.ndarray:
    """(b − b(T1)) σ1² m m1 / (m1 log²m)."""
    growth = course["readout_gain"] - course["readout_gain"][0]
    return growth * course.gain / (course.neurons * math.log(course.width) ** 2)


def _judge_gain(evidence: Evidence) -> Finding:
    growth = ladder(
        evidence, _gain_growth, "(b − b(T1)) σ1² m m1 / (m1 log²m)", kind="O"
    )
    sizes = band(evidence, _gain, "b / (σ1² m m1)", kind="theta")
    return Finding(
        (growth, *sizes),
        {
            "growth over its bound": at_widths(worst(evidence, _gain_growth, np.max)),
            "largest b / (σ1² m m1)": at_widths(worst(evidence, _gain, np.max)),
        },
    )


def _since_first(change: np.ndarray) -> np.ndarray:
    """Bound on changes since T1 from those since time 0, by the triangle inequality."""
    return change + change[0]


def _value_change(course: Course) -> np.ndarray:
    """The largest |A_V − A_V(T1)| over log m log(b0 t) / (σ1² m m1)."""
    change = _since_first(course["largest_value_self_score_change"])
    logs = math.log(course.width) * np.log(course["clock"])
    return change * course.gain / logs


def _judge_value_change(evidence: Evidence) -> Finding:
    what = "change of A_V over log m log(b0 t) / (σ1² m m1)"
    check = ladder(evidence, _value_change, what, kind="O")
    largest = at_widths(worst(evidence, _value_change, np.max))
    return Finding((check,), {"largest by width": largest})


def _inner_part(course: Course) -> np.ndarray:
    """L max_μ |Σ_j a_j w_j' W_V μ| / (b mean g)."""
    pull = course["pull_by_group"].sum(axis=1)
    largest = np.abs(course["inner_part_rate"]).max(axis=1)
    return course.length * largest / (course["readout_gain"] * pull)


def _filler_inner(course: Course) -> np.ndarray:
    part = np.abs(course["inner_part_rate"])
    return part[:, NAMED:].max(axis=1) / part[:, :NAMED].max(axis=1)


def _judge_inner(evidence: Evidence) -> Finding:
    what = "L times the part by W, over b and the mean weight"
    check = ladder(evidence, _inner_part, what, kind="o(1)")
    fillers = worst(evidence, _filler_inner, np.max)
    return Finding(
        (check,),
        {
            "largest by width": at_widths(worst(evidence, _inner_part, np.max)),
            "fillers beside named tokens": at_widths(fillers),
        },
    )


def _self_scores(course: Course) -> np.ndarray:
    """The largest change of A_K and A_Q over σ0² / (σ1² m m1)."""
    names = ("largest_key_self_score_change", "largest_query_self_score_change")
    change = np.max([_since_first(course[name]) for name in names], axis=0)
    return change * course.gain * course.width / course.key_norm


def _judge_self_scores(evidence: Evidence) -> Finding:
    what = "change of A_K, A_Q over σ0² / (σ1² m m1)"
    check = ladder(evidence, _self_scores, what, kind="O-tilde", max_log_power=3.0)
    return Finding((check,), over_logs(evidence, _self_scores, 2))


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-F.9",
        place="Corollary F.9; Lemma F.10; Definition F.1",
        statement="The readout gain b grows by O(m1 log²m / (σ1² m m1)) in phase 2, "
        "Õ(m1/m), and stays Θ(σ1² m m1).",
        judge=_judge_gain,
        predicate="the growth over its bound by the rule for O, and least and largest "
        "b / (σ1² m m1) by that for Θ, over phase 2 and seeds",
        source=f"{THEORY_RUNS}: only asymptotically, since b grows 3.7-fold at m = 512 "
        "and by 7% at m = 8192",
        mutations=named(
            with_width("readout_gain", 0.1),
            mutate.constant(ALL, "readout_gain"),
            mutate.only("m=1048576", mutate.scale(ALL, "readout_gain", 2.5)),
        ),
    ),
    _claim(
        id="A-F.11",
        place="Lemma F.11",
        statement="In phase 2 inner products of values change by at most "
        "O(log m log t / (σ1² m m1)).",
        judge=_judge_value_change,
        predicate="the largest over all pairs of tokens, phase 2 and seeds over this "
        "bound, by the rule for O; t in units of 1/b0; changes since T1 are bounded by "
        "those since time 0 at both times",
        mutations=named(
            mutate.power(ALL, "largest_value_self_score_change", 0.8),
            with_width("largest_value_self_score_change", 0.2),
        ),
    ),
    _claim(
        id="A-F.12",
        place="Corollary F.12; Definition F.1",
        statement="In phase 2 the part of G' that is due to W is o(1/L) beside b times "
        "the mean logistic weight, for every token.",
        judge=_judge_inner,
        predicate="L max_μ |part| / (b mean g), the largest over tokens, phase 2 and "
        "seeds, by the rule for o(1) over m = 8192 … 1048576",
        needs=LARGE_TABLES,
        mutations=named(
            with_width("inner_part_rate", 2.5),
            mutate.only("m=1048576", mutate.scale(ALL, "inner_part_rate", 1e6)),
        ),
    ),
    _claim(
        id="A-F.19",
        place="Lemma F.19; Definition F.1",
        statement="In phase 2 inner products of keys, and those of queries, change by "
        "at most Õ(σ0² √m / (√m σ1² m m1)).",
        judge=_judge_self_scores,
        predicate="the largest over all pairs of tokens, phase 2 and seeds over this "
        "bound, by the rule for Õ with powers of log m up to 3: the proof has one from "
        "readouts, one from time and one inside the scores' Õ; changes since T1 are "
        "bounded by those since time 0 at both times",
        mutations=named(
            with_width("largest_key_self_score_change", 0.5),
            mutate.power(ALL, "largest_query_self_score_change", 0.8),
        ),
    ),
)
