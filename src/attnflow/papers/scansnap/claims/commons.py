"""Claims on several common tokens: Corollary 2, and the text after Theorem 2."""

from functools import partial

import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FLOW_RUN,
    NO_SEED,
    NOT_2,
    VELOCITY,
    J,
    Q,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import end

SYMMETRIC = {
    f"{system}, K = {K}, {count} common, {ratio:g}": flow(
        "figure3" if system == "J" else "figure3-q",
        classes=K,
        common=count,
        vocabulary=M,
        score_rate=1 / ratio,
        until=1e5,
        record=VELOCITY,
    )
    for K, count, M in ((3, 3, 100), (10, 4, 1000), (2, 10, 33))
    for system in ("J", "Q")
    for ratio in (1.0, 10.0)
}
GROWING = {
    system: flow(
        "classes",
        system=system,
        classes=3,
        probability=(
            *(0.3, 0.5, 0.2, 0.0, 0.0),
            *(0.3, 0.02, 0.0, 0.68, 0.0),
            *(0.3, 0.0, 0.0, 0.0, 0.7),
        ),
        vocabulary=200,
        score_rate=0.2,
        until=1e5,
        record=VELOCITY,
    )
    for system in ("J", "Q")
}


def _commons(run: xr.Dataset) -> float:
    """The largest velocity of a common token after time 0."""
    names = [str(t) for t in run["token"].values if str(t).startswith("common")]
    velocity = run["score_velocity"].isel(seed=0, query=0, time=slice(1, None))
    return float(velocity.sel(token=names).max())


def _judge_symmetric(evidence: Evidence) -> Finding:
    velocities = {name: _commons(run) for name, run in evidence.items()}
    # Strictly: a velocity of 0 is no loss.
    checks = [
        Exact(float(v >= 0), 0.0, f"{name}: a common token gains", True)
        for name, v in velocities.items()
    ]
    return Finding(tuple(checks), {"largest velocity": velocities})


def _judge_growing(evidence: Evidence) -> Finding:
    scores = {name: end(run, "token1") for name, run in evidence.items()}
    checks = [
        Exact(-z, 0.0, f"{name}: −z of the second common token")
        for name, z in scores.items()
    ]
    return Finding(tuple(checks), {"z at the end": scores})


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.BEYOND)
CLAIMS = (
    _claim(
        id="E-Cor2",
        place="Corollary 2",
        statement="With alike classes, one query and common tokens that are as likely "
        "in all classes, every common token's score falls.",
        system=f"{Q}; and {J}",
        needs=SYMMETRIC,
        judge=_judge_symmetric,
        predicate="velocities of all common tokens negative at all records to t = 10⁵",
        source=FLOW_RUN,
        conditions=f"conditions (1) to (4) are met: (K, M) = (3, 100) with 3 common "
        f"tokens, (10, 1000) with 4 and (2, 33) with 10, η_Y/η_Z = 1 and 10. {NOT_2}; "
        f"{NO_SEED}",
        mutations=named(
            mutate.negate("Q, K = 10, 4 common, 10", "score_velocity"),
            mutate.constant("J, K = 3, 3 common, 1", "score_velocity"),
        ),
    ),
    _claim(
        id="E-CTgrow",
        place="after Theorem 2",
        statement="With several common tokens one of them may gain.",
        system=f"{J}; and {Q}",
        needs=GROWING,
        judge=_judge_growing,
        predicate="with P = (0.3, 0.5, 0.2, 0, 0), (0.3, 0.02, 0, 0.68, 0), (0.3, 0, "
        "0, 0, 0.7) the second token ends above 0, in J and in Q",
        source=FLOW_RUN,
        conditions=f"K = 3, M = 200, η_Y = 1, η_Z = 0.2, t = 10⁵; {NO_SEED}",
        mutations=named(
            mutate.negate("J", "score"),
            mutate.swap("Q", "score", "token", ("token0", "token1")),
        ),
    ),
)
