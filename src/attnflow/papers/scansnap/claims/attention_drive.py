"""Claims on Theorem 1(a) and the drive ξ_n of attention in Q."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import All, AtLeast, AtMost, Claim, Equal, Kind, Verdict
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import score
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

RANDOM = {"random": Request("random-classes", seeds=ev.PLAN)}
MET = {
    "met": Request(
        "random-classes",
        {
            "common": (0.1, 0.2),
            "vocabulary": 10**8,
            "value_rate": 0.5,
            "ratios": (),
            "until": 60000.0,
        },
        seeds=ev.PLAN,
    )
}
"""Random classes that meet Assumption 2 at every record."""
QUERIES = {
    "several queries": Request(
        "random-classes",
        {**MET["met"].overrides, "classes": 6, "queries": 3, "common": (0.05, 0.1)},
        seeds=ev.PLAN,
    )
}
COMMON = {
    "several common tokens": Request(
        "random-classes",
        {
            **MET["met"].overrides,
            "classes": 5,
            "queries": 2,
            "shared": 3,
            "common": (0.08, 0.16),
        },
        seeds=ev.PLAN,
    )
}
"""More of them: six classes of three queries; and five of two with three common."""
DRIVEN = {
    "driven": ev.flow(
        "classes",
        system="Q",
        until=200.0,
        record=("drive", "coupling", "gram", "score"),
    )
}
MET_SIZES = (
    "K = 3 random classes, M = 10⁸, one common token of probability 0.1 to 0.2 and two "
    "distinct ones each, η_Y = 0.5, η_Y/η_Z = 10, up to t = 60000; the same with K = 6 "
    "classes of three queries (common 0.05 to 0.1)"
)
COMMON_SIZES = (
    f"{MET_SIZES}; and K = 5 classes of two queries with three common tokens (0.08 to "
    "0.16 together)"
)
RANDOM_SIZES = (
    "K = 3 random classes, M = 100, one common token of probability 0.05 to 0.7 and "
    "two distinct ones each, η_Y = 1, up to η_Y t/K = 10⁸"
)
SIGNS = "60 records; velocities over the largest of any token at the time"


def drive(run: xr.Dataset) -> xr.DataArray:
    """The least ξ_n/γ of all records, over 36/M, the least λ² that Assumption 2 has."""
    return run["least_drive"] * schema.setting_of(run)["vocabulary"] / 36


def in_q(run: xr.Dataset, name: str) -> xr.DataArray:
    """A statistic of random classes in Q, the first case."""
    return run[name].isel(case=0)


_positive = partial(AtLeast, bound=0.0, unit="difference", strict=True)
DRIVE = _positive("least ξ_n/γ over 36/M", drive)
GAINS = _positive(
    "slowest velocity of a distinct token", partial(in_q, name="slowest_distinct")
)
LOSES = AtMost(
    "fastest velocity of the common token",
    partial(in_q, name="fastest_common"),
    0.0,
    unit="difference",
    strict=True,
)


def _drive_error(run: xr.Dataset) -> xr.DataArray:
    """ξ_n over −Σ of the couplings γβ times f·f', less 1."""
    later = run.isel(time=slice(1, None))
    others = later["coupling"] * later["gram"]
    own = np.eye(run.sizes["class"], dtype=bool)
    return later["drive"] / -others.where(~own, 0.0).sum("other_class") - 1


def _one_for_all(run: xr.Dataset) -> xr.DataArray:
    """1 − e^{−2z} of distinct tokens over p², relative to the last of them, less 1."""
    weights = schema.setting_of(run)["distinct"]
    growth = xr.concat(
        [
            -xr.ufuncs.expm1(-2 * score(run, f"distinct{i}@0"))
            for i in range(len(weights))
        ],
        "weight",
    ).isel(time=slice(1, None))
    scaled = growth / xr.DataArray(np.square(weights), dims="weight")
    # At the very first records scores are below the flow's tolerance.
    small = abs(growth.isel(weight=-1)) <= 1e-6
    return (scaled / scaled.isel(weight=-1) - 1).where(~small, 0.0)


FORMULA = All(
    (
        Equal("ξ_n over Σ γβ f·f', less 1", _drive_error, 1e-9, of=("driven",)),
        Equal(
            "scores of a class from one of them, relative",
            _one_for_all,
            1e-8,
            of=tuple(ev.LAWS_Q),
        ),
    )
)

_claim = partial(Claim, system=ev.Q, expected=Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="E-Thm1-a",
        place="Theorem 1(a)",
        statement="ξ_n(t) > 0 for every class at every time.",
        kind=Kind.UNIVERSAL,
        under=ev.THEOREM_1,
        needs={**MET, **QUERIES, **COMMON},
        judge=DRIVE,
        predicate=(
            "at all 60 records; each seed draws its own classes. ξ_n/γ is of the "
            "order of λ², which is small, so it is measured in units of the smallest "
            "value that Assumption 2 allows"
        ),
        source=ev.PLAN_RUNS,
        settings=COMMON_SIZES,
    ),
    _claim(
        id="E-R-Ass2",
        place="Theorems 1(a) and 2",
        statement="Theorems 1(a), 2(a) and 2(b) need no Assumption 2 in Q: ξ_n is "
        "positive, distinct tokens gain and a single common one loses without it.",
        kind=Kind.UNIVERSAL,
        under=("Y(0)", "uniform", "common", "distinct"),
        needs=RANDOM,
        judge=All((DRIVE, GAINS, LOSES)),
        predicate=f"{SIGNS}; a rare token's is as small as its f², so that margins "
        "are necessarily small",
        source=ev.PLAN_RUNS,
        settings=f"η_Y/η_Z = 10; {RANDOM_SIZES}",
        origin="ours",
    ),
    _claim(
        id="E-R-10",
        place="Theorem 1 and Lemma 4",
        statement=(
            "In Q ξ_n = γ[(q₁ − q₀)((A⁻¹)_nn − 1) + q₀((A⁻¹1)_n − 1)] with A = FᵀF, "
            "and a class's distinct scores follow from one of them, with 1 − "
            "e^{−2z_l} proportional to P(l|n)²."
        ),
        kind=Kind.IDENTITY,
        under=("Z(0)",),
        needs={**DRIVEN, **ev.LAWS_Q},
        judge=FORMULA,
        predicate="β by least squares; the flow's rtol is 1e-10 per step",
        source=ev.FLOW_RUN,
        settings="two classes with one common token, and Syn-Small's geometry at "
        "η_Y/η_Z = 1 and 10",
        origin="ours",
        survives={"cut": "an identity of every record"},
    ),
)
