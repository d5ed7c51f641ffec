"""Claims on Theorem 3.2 (2): the test loss from both sides, in ε and in time."""

from __future__ import annotations

import math
from functools import partial

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import at, sizes_of
from attnflow.papers.signgd.claims.zero_one import STRONG
from attnflow.papers.signgd.conditions import CONDITION_3_1
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.installation import xr

LEVELS = (0.1, 0.01, 0.001)
OVERLAP, APART, MOSTLY_APART = "setting (a)", "disjoint", "disjoint but for 5%"
LATE = 16_000
_LOSSES = ("loss", "test_loss", "test_accuracy")
LONG_A = Request(
    "setting-a",
    {"steps": LATE, "record": _LOSSES, "dense": 0, "fine": 0, "coarse": 100},
    seeds=ev.FEW[:2],
)
FRESH = Request(
    "lattice",
    {"horizon": 1e5, "records": 1001, "test_samples": 500, "record": _LOSSES},
    seeds=ev.PLAN[:5],
)
"""Test noise that no training support meets, up to T = 38/η."""
NEEDS = {OVERLAP: LONG_A, APART: FRESH}
STRONG_NOISE = Request(
    "setting-a",
    {**STRONG, "sigma_0": 2e-8, "steps": 3000, "record": _LOSSES},
    seeds=ev.PLAN[5:],
)
"""Up to T for ε = 0.001; 5% of test samples meet a training support."""
TIMES_A = (160.0, 500.0, 1600.0, 5000.0, 16000.0)
TIMES = (0.05, 0.2, 0.8, 3.0, 12.0)
"""Times T η on the lattice."""


def _time(level: float, run: xr.Dataset) -> float:
    """T = 2 log(1/ε)/(η σ_p s) on the clock."""
    size = sizes_of(run)
    return 2 * math.log(1 / level) / (size.learning_rate * size.strength)


def _tested(level: float, run: xr.Dataset) -> xr.DataArray:
    """The test loss at T."""
    return at(run, _time(level, run), "test_loss")["test_loss"]


def _along(times: tuple[float, ...], run: xr.Dataset) -> xr.DataArray:
    """The test loss at several times, on the clock."""
    rows = [at(run, time, "test_loss")["test_loss"] for time in times]
    rows = [row.drop_vars("time", errors="ignore") for row in rows]
    return xr.concat(rows, xr.DataArray(list(times), dims="T", name="T"))


def _along_a(run: xr.Dataset) -> xr.DataArray:
    return _along(TIMES_A, run)


def _along_fresh(run: xr.Dataset) -> xr.DataArray:
    """By T η, which the clock has in units of the first learning rate."""
    rate = sizes_of(run).learning_rate
    table = _along(tuple(time / rate for time in TIMES), run)
    return table.assign_coords(T=list(TIMES))


def _over_time(run: xr.Dataset) -> xr.DataArray:
    """The test loss over T, in units of a thousand steps."""
    table = _along_a(run)
    return table / (table["T"] / 1000)


def _wrong(level: float, run: xr.Dataset) -> xr.DataArray:
    """The share of test samples that are misclassified at T."""
    return 1 - at(run, _time(level, run), "test_accuracy")["test_accuracy"]


def _at_last_level(evidence: Evidence) -> dict[str, list[list[float]]]:
    """Test losses and shares that are wrong at T for the least ε, over seeds."""
    return {
        name: [c.look.extent(of(LEVELS[-1], run)) for of in (_tested, _wrong)]
        for name, run in evidence.items()
    }


def _last(name: str, evidence: Evidence) -> list[float]:
    """The test loss at the last of the times, over seeds."""
    along = {OVERLAP: _along_a, APART: _along_fresh}[name]
    return c.look.extent(along(evidence[name]).isel(T=-1))


_SETTINGS = (
    f"{ev.ROW_A}, for 16,000 steps; and {ev.LATTICE_ODD}, with 500 test samples whose "
    "noise meets no training support, up to T = 38/η"
)
_claim = partial(
    c.Claim,
    system=ev.SIGNGD,
    under=CONDITION_3_1,
    needs=NEEDS,
    source=(
        "our runs: seeds 200–201 of setting (a), 200–204 on disjoint noise. On seeds "
        "0–2 of the first the test loss had been seen to grow"
    ),
    settings=_SETTINGS,
)
CLAIMS = (
    _claim(
        id="C-T3.2-2-fixed",
        place="Theorem 3.2 (2)",
        statement="For ε = 0.1, 0.01 and 0.001 the test loss at T = 2 log(1/ε)/(η "
        "σ_p s) is between 0.1 and 1.",
        kind=c.Kind.UNIVERSAL,
        judge=c.All(
            (
                *(
                    c.AtLeast(
                        f"test loss at T, ε = {level:g}",
                        partial(_tested, level),
                        0.1,
                        unit="difference",
                    )
                    for level in LEVELS
                ),
                *(
                    c.AtMost(
                        f"test loss at T for ε = {level:g}",
                        partial(_tested, level),
                        1.0,
                        unit="difference",
                    )
                    for level in LEVELS
                ),
            ),
        ),
        predicate="Θ(1) is read as between 0.1, the constant of Lemma E.41, and 1",
        expected=c.Verdict.HOLDS,
        survives={"holes": "the unknown records lie between the times that are read"},
    ),
    _claim(
        id="C-R-errors",
        origin="ours",
        place="Theorem 3.2 (2); Appendix F.1",
        statement="A test loss of order 1 is no test error: at T for ε = 0.1, 0.01 and "
        "0.001, where test noise meets no training support, at most a tenth of the "
        "test samples are misclassified, at a test loss of at least 0.1; in setting "
        "(a), where it does, at least 15% are.",
        kind=c.Kind.OBSERVATION,
        under=(),
        needs={**NEEDS, MOSTLY_APART: STRONG_NOISE},
        judge=c.All(
            (
                *(
                    c.AtMost(
                        f"share of test samples that are wrong at T, ε = {level:g}",
                        partial(_wrong, level),
                        0.1,
                        unit="difference",
                        of=(APART, MOSTLY_APART),
                    )
                    for level in LEVELS
                ),
                *(
                    c.AtLeast(
                        f"test loss at T, ε = {level:g}",
                        partial(_tested, level),
                        0.1,
                        unit="difference",
                        of=(APART, MOSTLY_APART),
                    )
                    for level in LEVELS
                ),
                *(
                    c.AtLeast(
                        f"share that is wrong in setting (a) at T, ε = {level:g}",
                        partial(_wrong, level),
                        0.15,
                        unit="difference",
                        of=(OVERLAP,),
                    )
                    for level in LEVELS
                ),
            ),
            also={"test loss and share wrong at T, ε = 0.001": _at_last_level},
        ),
        predicate="a tenth is ours; 15% as in C-R-zero-one",
        expected=c.Verdict.HOLDS,
        source="our runs: seeds 200–201 of setting (a), 200–204 on disjoint noise, "
        "205–209 on strong noise. Bounds were set with the first two, and seeds "
        "200–204 of the third up to step 1000, in view",
        settings=f"{_SETTINGS}; and strong noise, of which 5% of test samples meet a "
        "training support: n = 10, s = 10, d = 20,000, σ_p √s = 2000, σ_0 = 2e-8, m_k "
        "= m_v = 20, 3000 steps",
        survives={"holes": "the unknown records lie between the times that are read"},
    ),
    _claim(
        id="C-T3.2-2-uniform",
        place="Theorem 3.2 (2), for any ε > 0",
        statement="The test loss at T is of order 1, with constants that do not depend "
        "on ε, where T = O(log(1/ε)).",
        kind=c.Kind.ASYMPTOTIC,
        judge=c.All(
            (
                c.Rungs(
                    "test loss by T in setting (a)",
                    _along_a,
                    "theta",
                    "T",
                    of=(OVERLAP,),
                ),
                c.Rungs(
                    "test loss by T η on disjoint noise",
                    _along_fresh,
                    "theta",
                    "T",
                    of=(APART,),
                ),
            ),
            also={
                "test loss at T = 16,000 in setting (a)": partial(_last, OVERLAP),
                "test loss at T η = 12 on disjoint noise": partial(_last, APART),
            },
        ),
        predicate=(
            "along T, of the order log(1/ε), which is printed as its upper bound; "
            "the theorem may be meant for one ε and large sizes, which "
            "C-T3.2-2-fixed judges. Lemma E.41 states only the lower bound, with "
            "log(1/ε) = O(σ_p s) in its proof"
        ),
        expected=c.Verdict.FAILS,
        correction=c.Correction(
            c.CorrectionKind.WEAKER,
            "If test noise overlaps training supports, the loss grows, but no faster "
            "than T: it is O(log(1/ε)). If it overlaps none, the loss tends to 0 as "
            "soon as log(1/ε) is far above σ_p s, because the mean value signal "
            "grows like 2ηT: it is O(1), and of order 1 only up to T η = O(1).",
            c.All(
                (
                    c.Rungs(
                        "test loss over T in setting (a)",
                        _over_time,
                        "O",
                        "T",
                        of=(OVERLAP,),
                    ),
                    c.AtLeast(
                        "test loss in setting (a)",
                        _along_a,
                        0.1,
                        unit="difference",
                        of=(OVERLAP,),
                    ),
                    c.AtMost(
                        "test loss on disjoint noise",
                        _along_fresh,
                        1.0,
                        unit="difference",
                        of=(APART,),
                    ),
                    c.AtMost(
                        "test loss on disjoint noise at T η = 12",
                        lambda run: _along_fresh(run).isel(T=-1),
                        0.01,
                        unit="difference",
                        of=(APART,),
                    ),
                )
            ),
        ),
        mends=c.named(mutate.replace(mutate.EVERY, "test_loss", 0.7)),
        witness=c.Witness(
            "witnesses/test_loss.py",
            {"test loss at 12/rate": ("test loss at T η = 12 on disjoint noise", 1)},
        ),
    ),
)
