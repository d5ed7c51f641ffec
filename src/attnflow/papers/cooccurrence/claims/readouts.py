"""Sizes of readouts, and of their sums, in Phase 2."""

from functools import partial

import numpy as np

from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    ALL_WIDTHS,
    LARGE_CONDITION,
    LARGE_WIDTHS,
    Course,
    at_widths,
    band,
    everywhere,
    extremes,
    ladder,
    worst,
)
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    FLOW,
    THEORY_RUNS,
    noise_free,
)
from attnflow.papers.cooccurrence.claims.quiet import phase_two_rows, size_of
from attnflow.schema.declarations import Request

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


def _readouts(course: Course) -> np.ndarray:
    """G(μ1), G(μ2) and −G(μ3), by time."""
    return course["value"] * np.array([1.0, 1.0, -1.0])


def _common(course: Course) -> np.ndarray:
    return _readouts(course)[:, 2]


def _targets(course: Course) -> np.ndarray:
    return _readouts(course)[:, :2]


def _from_below(evidence: Evidence, *, all_three: bool) -> Ladder:
    series, common = (_readouts, ", −G(μ3)") if all_three else (_targets, "")
    what = f"least of G(μ1), G(μ2){common}"
    return ladder(evidence, series, what, kind="Omega", pick=np.min)


def _judge_readouts_as_printed(evidence: Evidence) -> Finding:
    above = ladder(evidence, _common, "largest −G(μ3)", kind="O")
    numbers = {
        "−G(μ3) at T1": at_widths(worst(evidence, _common, np.min)),
        "−G(μ3) at T*": at_widths(worst(evidence, _common, np.max)),
        "least G(μ1), G(μ2)": at_widths(worst(evidence, _targets, np.min)),
    }
    return Finding((_from_below(evidence, all_three=False), above), numbers)


def _judge_readouts(evidence: Evidence) -> Finding:
    return Finding((_from_below(evidence, all_three=True),))


SAMPLES = {5: (60.0, 120.0, 240.0, 600.0, 6e3, 6e4), 10: (240.0, 600.0, 6e3, 6e4, 6e5)}
"""n from 2.4 L² on, for two lengths L."""
OUTSIDE = (60.0, 10)
"""n = 0.6 L², outside of n ≥ 2.4 L²."""


def _sums(readouts: np.ndarray) -> np.ndarray:
    """G1 + G2 + G3, −G1 − G3 and −G2 − G3, by time."""
    return readouts @ np.array([[1, -1, 0], [1, 0, -1], [1, -1, -1]], dtype=float)


def _course_sums(course: Course) -> np.ndarray:
    return _sums(course["value"])


def _judge_sums(evidence: Evidence) -> Finding:
    noisy = {name: run for name, run in evidence.items() if name.startswith("m=")}
    least = {
        size_of(run): _sums(phase_two_rows(run)["value"].values[:, :3]).min(axis=0)
        for name, run in evidence.items()
        if name not in noisy
    }
    checks = [
        Ladder(
            tuple(sizes),
            tuple(float(least[n, length].min()) for n in sizes),
            "Omega",
            f"least sum of readouts without noise, L = {length}",
        )
        for length, sizes in SAMPLES.items()
    ]
    signs = everywhere(noisy, _course_sums, "signs of the three sums at n = 60, L = 5")
    numbers = {
        "least by seed": signs.margin,
        "least without noise, n = 60, L = 5": least[60.0, 5],
        "least without noise, n = 6e4, L = 5": least[6e4, 5],
        "least without noise, n = 60, L = 10 (outside)": least[OUTSIDE],
    }
    return Finding((signs, *checks), numbers)


def _quiet_needs() -> dict[str, Request]:
    sizes = [(n, length) for length, some in SAMPLES.items() for n in some]
    return {
        f"n={n:g}, L={length}": noise_free(n, length) for n, length in [*sizes, OUTSIDE]
    }


def _readout_ratios(course: Course) -> np.ndarray:
    first, second, common = _readouts(course).T
    return np.stack([first / second, first / common, second / common], axis=1)


def _judge_ratios(evidence: Evidence) -> Finding:
    low, high = band(evidence, _readout_ratios, "ratio of readouts", kind="theta")
    spread = max(high.ratio) / min(low.ratio)
    return Finding(
        (low, high, Exact(spread, 2.0, "largest over least, all widths")),
        extremes(evidence, _readout_ratios),
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-Thm3.2-i3",
        place="Theorem 3.2, third item",
        statement="In phase 2, G(μ1) and G(μ2) are at least constants, and −G(μ3) is "
        "printed to be at most one.",
        judge=_judge_readouts_as_printed,
        predicate="ladder over m = 8192 … 1048576: the least G(μ1), G(μ2) by the rule "
        "for Ω; the largest −G(μ3) by the rule for O as printed, the least by that for "
        "Ω as corrected",
        needs=LARGE_WIDTHS,
        conditions=LARGE_CONDITION,
        expected=Verdict.HOLDS_CORRECTED,
        source=f"{THEORY_RUNS}: a typo (reader's note A-N1)",
        correction=Correction(
            "−G(μ3) is at least a constant, ≥ for ≤: a typo. It grows like log m.",
            _judge_readouts,
        ),
        mutations=named(
            mutate.negate(ALL, "value"),
            mutate.swap(ALL, "value", "token", ("mu1", "mu3")),
            mutate.power(ALL, "value", -1.0),
        ),
    ),
    _claim(
        id="A-Thm3.2-i4",
        place="Theorem 3.2, fourth item",
        statement="In phase 2, G(μ1) + G(μ2) + G(μ3) is at least a constant, and "
        "G(μ1) + G(μ3) and G(μ2) + G(μ3) are at most a negative one.",
        judge=_judge_sums,
        predicate="the signs at every time of phase 2, of every width and seed at "
        "n = 60, L = 5; and without noise the least of the three over phase 2 by the "
        "rule for Ω along n ≥ 2.4 L², for L = 5 (n to 6e4) and L = 10 (n to 6e5)",
        needs={**ALL_WIDTHS, **_quiet_needs()},
        conditions=f"{CONDITION}; n ≥ 2.4 L² for n ≥ ~L², which n = 60, L = 5 just "
        "meets and n = 60, L = 10 does not",
        source=f"{THEORY_RUNS}, and runs without noise: at T1 the constant is tiny at "
        "n = 60 (0.05 without noise, 0.17 for many samples)",
        mutations=named(
            mutate.negate(ALL, "value"),
            mutate.negate("n=60, L=5", "value"),
            mutate.some_seeds(0.3, mutate.swap(ALL, "value", "token", ("mu1", "mu3"))),
        ),
    ),
    _claim(
        id="A-F.7",
        place="Corollary F.7",
        statement="In phase 2, G(μ1), G(μ2) and −G(μ3) are of one order.",
        judge=_judge_ratios,
        predicate="least and largest of the three ratios over phase 2 and seeds, by "
        "the rule for Θ over m = 512 … 131072; they differ by at most a factor 2, all "
        "widths together",
        mutations=named(
            mutate.power(ALL, "value", 4.0),
            mutate.swap(ALL, "value", "token", ("mu2", "mu3")),
            mutate.only("m=131072", mutate.power(ALL, "value", 4.0)),
        ),
    ),
)
