"""Claims on more than two mixtures: Observation 1 of Section 6."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Measurement,
    Scope,
    Seeds,
    Verdict,
    named,
    per_seed,
)
from attnflow.claims import mutations as mutate
from attnflow.claims.stages import Event, first_crossing, order
from attnflow.papers.mixture.claims.evidence import ALL_RIGHT, DESCENT
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
NO_ERRORS = 1 - ALL_RIGHT
FINITE = {"K=3": Request("k3"), "K=4": Request("k4"), "K=8": Request("k8")}
SILENT = (
    "L, m and ω are unspecified in the paper; here (K, L) = (3, 4), (4, 4), (8, 3), "
    "m = 64, ω = 0.1"
)
_claim = partial(
    Claim,
    system=DESCENT,
    scope=Scope.EXPERIMENT,
    conditions=SILENT,
    expected=Verdict.HOLDS,
    source="our runs, seeds 200 … 204 and infinite width",
)


def _wide(groups: int, length: int, steps: float, **changes: float) -> Request:
    """A run at infinite width over one sample per orbit."""
    setting = {"K": groups, "L": length, "steps": steps, **changes}
    setting |= {"width": "infinite", "population": "orbits"}
    return Request("k3", setting, seeds=1)


WIDE = {
    "K=3, L=3": _wide(3, 3, 3000.0),
    "K=3, L=4": Request("k3", {"width": "infinite", "population": "orbits"}, seeds=1),
    "K=4, L=4": Request("k4", {"width": "infinite", "population": "orbits"}, seeds=1),
    "K=8, L=3": _wide(8, 3, 10000.0),
    "K=8, L=4": _wide(8, 4, 10000.0),
    "K=8, L=9": _wide(8, 9, 4000.0, learning_rate=0.5),
}
LENGTH_THREE = {
    "K=2, L=3": _wide(2, 3, 2000.0),
    "K=3, L=3": WIDE["K=3, L=3"],
    "K=4, L=3": _wide(4, 3, 4500.0),
    "K=8, L=3": WIDE["K=8, L=3"],
}
LENGTH_FIVE = {
    "b=0.5": _wide(4, 5, 100000.0),
    "b=1": _wide(4, 5, 8000.0, bias=1.0),
}


def _seeds(margin: np.ndarray, what: str) -> Seeds:
    return per_seed(margin, what, strict=True)


def _accuracy(run: xr.Dataset) -> np.ndarray:
    return schema.last(run, "accuracy").values


def _judge_learned(evidence: Evidence) -> Finding:
    checks: list[Measurement] = []
    for name in FINITE:
        accuracy = _accuracy(evidence[name])
        margin = np.where(accuracy > ALL_RIGHT, 1.0, accuracy - 1)
        checks.append(_seeds(margin, f"accuracy 1, {name}"))
    for name in WIDE:
        wrong = 1 - float(_accuracy(evidence[name])[0])
        checks.append(Exact(abs(wrong), NO_ERRORS, f"wrong at infinite width, {name}"))
    return Finding(
        tuple(checks), {name: _accuracy(run) for name, run in evidence.items()}
    )


def _judge_length_five(evidence: Evidence) -> Finding:
    small, large = (float(_accuracy(evidence[name])[0]) for name in LENGTH_FIVE)
    return Finding(
        (
            Exact(small, 0.95, "accuracy with b = 1/2"),
            Exact(abs(1 - large), NO_ERRORS, "wrong with b = 1"),
        ),
        {"b = 1/2": small, "b = 1": large},
    )


def _scores(run: xr.Dataset) -> np.ndarray:
    """Final scores of group keys and class queries, `(seed, K, K)`."""
    score = schema.last(run, "score").sel(head="+").transpose("seed", "key", "query")
    groups = score.sizes["key"] // 2
    return score.values[:, :groups, groups:]


def _pair_ratio(run: xr.Dataset) -> np.ndarray:
    """Relative deviation of S[c1,v1] from −S[c1,v2]."""
    score = _scores(run)
    return np.abs(score[:, 0, 0] + score[:, 0, 1]) / np.abs(score[:, 0, 0])


def _row_ratio(run: xr.Dataset) -> np.ndarray:
    """Largest |Σ_j S[c_k,v_j]| over the largest |S[c_k,v_k]|."""
    score = _scores(run)
    diagonal = np.abs(np.diagonal(score, axis1=1, axis2=2)).max(axis=1)
    return np.abs(score.sum(axis=2)).max(axis=1) / diagonal


def _judge_pairs(evidence: Evidence) -> Finding:
    ratios = {name: _pair_ratio(run) for name, run in evidence.items()}
    checks = [_seeds(1 - ratios["K=2"] / 0.25, "near symmetry, K=2")]
    checks += [_seeds(ratios[k] / 0.25 - 1, f"no near symmetry, {k}") for k in FINITE]
    return Finding(tuple(checks), ratios)


def _judge_rows(evidence: Evidence) -> Finding:
    ratios = {name: _row_ratio(run) for name, run in evidence.items()}
    checks: list[Measurement] = [
        _seeds(1 - ratios[name] / 0.25, f"rows sum to 0, {name}") for name in FINITE
    ]
    checks += [
        Exact(float(ratios[name][0]), 0.05, f"rows' sum at infinite width, {name}")
        for name in WIDE
    ]
    return Finding(tuple(checks), ratios)


def _learned(run: xr.Dataset) -> Event:
    return first_crossing(run, "loss", level=0.1, direction="down", scale="log")


def _judge_slower(evidence: Evidence) -> Finding:
    times = {name: _learned(run) for name, run in evidence.items()}
    ordering = order([times[name] for name in ("K=2", *FINITE)])
    wide = np.array([times[name].times[0] for name in LENGTH_THREE])
    ratio = float(np.max(wide[:-1] / wide[1:])) if np.isfinite(wide).all() else np.inf
    return Finding(
        (
            Seeds(ordering.held, ordering.gap, "each K later than the previous one"),
            Exact(ratio, 1.0, "time over that of the next K, L = 3, infinite width"),
        ),
        {name: event.times for name, event in times.items()},
    )


MIXTURES = (
    _claim(
        id="B-Obs1-learn",
        place="Observation 1; Figures 5 to 7",
        statement="The same transformer learns K ≥ 3 mixtures.",
        needs={**FINITE, **WIDE},
        judge=_judge_learned,
        predicate="accuracy 1 over the population in 90% of seeds for K = 3, 4, 8, and "
        "at infinite width for (K, L) = (3, 3), (3, 4), (4, 4), (8, 3), (8, 4), (8, 9)",
        source="our runs, seeds 200 … 204 and infinite width; see B-Obs1-L5 for "
        "(4, 5). (8, 9) has learning rate 0.5; 0.1 gives the same in five times as "
        "many steps",
        mutations=named(
            mutate.constant(ALL, "accuracy"),
            mutate.replace("K=8, L=9", "accuracy", 0.99),
            mutate.some_seeds(0.2, mutate.replace("K=4", "accuracy", 0.99)),
        ),
    ),
    _claim(
        id="B-Obs1-L5",
        origin="ours",
        place="Observation 1, with K = 4 and L = 5",
        statement="Where L = K + 1 = 5 the bias decides: at infinite width b = 1/2 "
        "does not learn every sample, b = 1 does.",
        system="gradient descent of all weights at infinite width",
        needs=LENGTH_FIVE,
        judge=_judge_length_five,
        predicate="accuracy below 0.95 after 100000 steps with b = 1/2, and 1 after "
        "8000 with b = 1",
        scope=Scope.BEYOND,
        conditions="K = 4, L = 5, ω = 0.1, m infinite",
        source="our runs at infinite width: accuracy 8/9 with b = 1/2. The loss falls "
        "below 0.1 nevertheless, after 10800 steps",
        mutations=named(
            mutate.replace("b=0.5", "accuracy", 1.0),
            mutate.constant("b=1", "accuracy"),
        ),
    ),
    _claim(
        id="B-Obs1-nearsym",
        place="Observation 1",
        statement="For K ≥ 3 the near symmetry of the attention no longer holds.",
        needs={"K=2": Request("figure1"), **FINITE},
        judge=_judge_pairs,
        predicate="S[c1,v1] differs from −S[c1,v2] by more than a quarter for "
        "K = 3, 4, 8, and by less for K = 2, in 90% of seeds",
        source="our runs, seeds 200 … 204; B-Obs1-rows is the form in which it holds",
        mutations=named(
            mutate.swap("K=2", "score", "query", ("c1", "v1")),
            mutate.mapped(
                "every K as K = 2",
                ALL,
                "score",
                lambda a: a.copy(data=np.where(a < 0, -np.abs(a).max(), a)),
            ),
        ),
    ),
    _claim(
        id="B-Obs1-rows",
        origin="ours",
        place="Observation 1, near symmetry for every K",
        statement="For every K the scores of a group key sum to 0 over the class "
        "queries: S[c_k,v_k] = −(K − 1) S[c_k,v_j]. For K = 2 this is the paper's near "
        "symmetry.",
        needs={**FINITE, **WIDE},
        judge=_judge_rows,
        predicate="the ratio of |Σ_j S[c_k,v_j]| to the largest S[c_k,v_k] is at most "
        "0.05 at infinite width and at most 0.25 in 90% of seeds at m = 64",
        scope=Scope.BEYOND,
        source="our runs: 0.002 to 0.013 at infinite width, 0.003 to 0.14 at m = 64",
        mutations=named(
            mutate.mapped("absolute scores", ALL, "score", abs),
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
        ),
    ),
    _claim(
        id="B-Obs1-longer",
        place="Observation 1",
        statement="Training takes longer with more groups.",
        needs={"K=2": Request("figure1"), **FINITE, **LENGTH_THREE},
        judge=_judge_slower,
        predicate="for K = 2, 3, 4, 8 the loss falls to 0.1 later than for the "
        "previous K, in 90% of seeds, and at infinite width with L = 3",
        mutations=named(
            mutate.mapped(
                "loss of K = 8 as fast as the start", "K=8", "loss", lambda a: a**50
            ),
            mutate.constant("K=8, L=3", "loss"),
        ),
    ),
)
