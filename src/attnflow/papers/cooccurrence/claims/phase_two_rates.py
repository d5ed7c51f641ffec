"""Phase 2: rates of the loss, of scores and of attention."""

from functools import partial

import numpy as np

from attnflow.claims import Claim, Correction, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    LARGE_CONDITION,
    LARGE_TABLES,
    LARGE_WIDTHS,
    Course,
    at_widths,
    band,
    extremes,
    ladder,
    worst,
)
from attnflow.papers.cooccurrence.claims.evidence import FLOW, THEORY_RUNS
from attnflow.papers.cooccurrence.claims.ladders import with_width
from attnflow.papers.cooccurrence.claims.phase_two import score_rates

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


def _judge_score_rates(evidence: Evidence) -> Finding:
    checks = band(
        evidence,
        score_rates,
        "rate of the four scores over Loss σ0² m / (√m L)",
        kind="theta-tilde",
    )
    return Finding(checks, extremes(evidence, score_rates))


def _inverse_loss(course: Course) -> np.ndarray:
    """(1/Loss − 1/Loss(T1)) / (σ1² m m1 (t − T1))."""
    inverse, time = 1 / course["loss"], course["time"]
    return (inverse[1:] - inverse[0]) / (course.gain * (time[1:] - time[0]))


def _judge_loss(evidence: Evidence) -> Finding:
    checks = band(
        evidence,
        _inverse_loss,
        "(1/Loss − 1/Loss(T1)) / (σ1² m m1 (t − T1))",
        kind="theta",
    )
    return Finding(checks, extremes(evidence, _inverse_loss))


def attention_rates(course: Course) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of each sample, named ones first, and ∂p/∂t `(time, sample, key, query)`.

    By the chain rule from the recorded scores and their rates. The tokens of a sample
    are those that it attends to.
    """
    is_attended = course.rows["pooled_token"].isel(time=0).values > 0.5
    tokens = np.array([np.flatnonzero(row) for row in is_attended])
    at = (slice(None), tokens[:, :, None], tokens[:, None, :])
    root = course.width**0.5
    scores, rates = course["score"][at] / root, course["score_rate"][at] / root
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    p = weights / weights.sum(axis=2, keepdims=True)
    return tokens, p * (rates - (p * rates).sum(axis=2, keepdims=True))


def _of_targets(course: Course) -> tuple[np.ndarray, np.ndarray]:
    """∂p/∂t in samples with both targets, of named keys (signed) and of fillers."""
    tokens, rates = attention_rates(course)
    both = rates[:, (tokens[:, :2] == (0, 1)).all(axis=1)]
    pairs = [both[:, :, 1, 0], both[:, :, 0, 1], -both[:, :, 2, 0], -both[:, :, 2, 1]]
    return np.stack(pairs, axis=-1), both[:, :, NAMED:, :2]


def _attention(course: Course, *, power: float) -> np.ndarray:
    """Signed ∂p/∂t over Loss σ0² m / (m^power L²)."""
    unit = course["loss"] * course.key_norm / course.length**2
    return _of_targets(course)[0] * course.width**power / unit[:, None, None]


def _judge_attention(evidence: Evidence, *, power: float) -> Finding:
    text, series = ("√m" if power == 0.5 else "m"), partial(_attention, power=power)
    what = f"∂p/∂t over Loss σ0² m / ({text} L²)"
    checks = band(evidence, series, what, kind="theta-tilde")
    by_width = extremes(evidence, series)
    return Finding(checks, {f"{name}, 1/{text}": row for name, row in by_width.items()})


def _judge_attention_corrected(evidence: Evidence) -> Finding:
    corrected = _judge_attention(evidence, power=1.0)
    share = worst(evidence, _filler_share, np.max)
    return Finding(
        corrected.checks,
        {**corrected.numbers, "fillers beside targets": at_widths(share)},
    )


def _filler_share(course: Course) -> np.ndarray:
    """Largest |∂p/∂t| of a filler as key relative to that of the targets."""
    targets, fillers = _of_targets(course)
    return np.abs(fillers).max(axis=(1, 2, 3)) / targets.max(axis=(1, 2))


def _attention_share(course: Course) -> np.ndarray:
    """max_i |Σ Σ G ∂p/∂t| / (b mean g)."""
    tokens, rates = attention_rates(course)
    output_rates = (course["value"][:, tokens][..., None] * rates).sum(axis=(2, 3))
    pull = course["pull_by_group"].sum(axis=1)
    return np.abs(output_rates).max(axis=1) / (course["readout_gain"] * pull)


def _judge_attention_share(evidence: Evidence) -> Finding:
    what = "largest output moved by attention, over b and the mean weight"
    check = ladder(evidence, _attention_share, what, kind="o(1)")
    largest = at_widths(worst(evidence, _attention_share, np.max))
    return Finding((check,), {"largest by width": largest})


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-L4.7-rate",
        place="Lemma 4.7; Lemma F.16, first item",
        statement="In phase 2 the scores between the targets, and those of the common "
        "token with them, move at the rate Θ̃(Loss σ0² m) / (√m L).",
        judge=_judge_score_rates,
        predicate="least and largest over phase 2, the four scores and seeds, by the "
        "rule for Θ̃ with powers of log m up to 2: the largest needs the first power, "
        "as readouts grow",
        mutations=named(
            with_width("score_rate", -0.5),
            with_width("loss", 0.5),
            mutate.only("m=1048576", mutate.scale(ALL, "score_rate", 4.0)),
        ),
    ),
    _claim(
        id="A-F.8",
        place="Theorem F.8",
        statement="In phase 2 the loss is 1 / (Θ(σ1² m m1)(t − T1) + 1/Loss(T1)).",
        judge=_judge_loss,
        predicate="least and largest of (1/Loss − 1/Loss(T1)) / (σ1² m m1 (t − T1)) "
        "over phase 2 and seeds, each by the rule for Θ with a factor 2 at most; late "
        "in training it should be 1/|w*|² = 0.1216 of A-R4",
        mutations=named(
            mutate.power(ALL, "loss", 1.2),
            with_width("loss", 0.2),
            mutate.constant(ALL, "loss"),
        ),
    ),
    _claim(
        id="A-F.17",
        place="Corollary F.17, first item",
        statement="In phase 2 attention between the targets rises, and that of the "
        "common token with them falls, at the rate Θ̃(Loss σ0² m) / (√m L²).",
        judge=partial(_judge_attention, power=0.5),
        predicate="∂p/∂t with these signs, in samples with both targets; least and "
        "largest over phase 2, samples and seeds by the rule for Θ̃ with powers of "
        "log m up to 2",
        needs=LARGE_TABLES,
        expected=Verdict.HOLDS_CORRECTED,
        source=f"{THEORY_RUNS}: the proof has 1/m (reader's note A-N2)",
        correction=Correction(
            "The rate is Θ̃(Loss σ0² m) / (m L²), as in the corollary's own proof: "
            "scores move with 1/√m, and enter the softmax with another 1/√m.",
            _judge_attention_corrected,
        ),
        mutations=named(
            mutate.negate(ALL, "score_rate"),
            with_width("score_rate", -0.5),
            mutate.swap(ALL, "score_rate", "key", ("mu2", "mu3")),
        ),
    ),
    _claim(
        id="A-F.18",
        place="Corollary F.18; Definition F.1",
        statement="In phase 2 what moving attention adds to outputs is o(1) beside b "
        "times the mean logistic weight.",
        judge=_judge_attention_share,
        predicate="max_i |Σ Σ G ∂p/∂t| / (b mean g), the largest over phase 2 and "
        "seeds, by the rule for o(1) over m = 8192 … 1048576",
        needs=LARGE_TABLES,
        mutations=named(
            with_width("score_rate", 2.5),
            with_width("value", 2.5),
            mutate.only("m=1048576", mutate.scale(ALL, "score_rate", 1e6)),
        ),
    ),
)
