"""Claims on stage 3: convergence in time O(1/ε), and growth of the neurons."""

import math
from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Measurement,
    Scope,
    Slope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.claims.stages import first_crossing
from attnflow.papers.mixture.claims.evidence import (
    CONDITION,
    FLOW,
    algorithm,
    loss_slopes,
    stage,
)

ALL = mutate.EVERY
EPSILONS = (0.03, 0.01, 0.003, 0.001, 0.0003)
INFINITE = {
    "omega=0.1": algorithm(0.1),
    "omega=0.01": algorithm(0.01),
    "T1=30": algorithm(0.1, T1=30.0),
}
FINITE = {
    f"m={width}, seed {seed}": algorithm(0.1, width=width, seeds=(seed,))
    for width in (128, 32)
    for seed in (200, 201, 202)
}
_claim = partial(
    Claim,
    scope=Scope.THEOREM,
    expected=Verdict.HOLDS,
    source="our runs at infinite width (deterministic)",
)


def _waits(run: xr.Dataset) -> list[float]:
    """Duration T3 − T2 until the loss first falls to ε, for each ε."""
    start = float(run["stage_end"].isel(seed=0, stage=1))
    crossing = partial(
        first_crossing, run, "loss", direction="down", clock="log", scale="log"
    )
    return [float(crossing(level=e).times[0]) - start for e in EPSILONS]


def _checks(waits: list[float], name: str) -> tuple[Measurement, ...]:
    size = tuple(1 / epsilon for epsilon in EPSILONS)
    if not all(wait > 0 for wait in waits):
        return (Exact(math.inf, 1.0, f"T3 was not reached, {name}"),)
    logs = tuple(map(math.log, size)), tuple(map(math.log, waits))
    ratio = tuple(w * e for w, e in zip(waits, EPSILONS, strict=True))
    return (
        Slope(*logs, 1.0, 0.03, f"log (T3 − T2) against log 1/ε, {name}"),
        Ladder(size, ratio, "O", f"ε (T3 − T2), {name}"),
    )


def _judge_convergence(evidence: Evidence) -> Finding:
    waits = {name: _waits(run) for name, run in evidence.items()}
    checks = [check for name, wait in waits.items() for check in _checks(wait, name)]
    last = {f"ε (T3 − T2), {name}": w[-1] * EPSILONS[-1] for name, w in waits.items()}
    return Finding(tuple(checks), last)


def _judge_rates(evidence: Evidence) -> Finding:
    """Ratios w_v' / g of a consistent sample and w_c' / g of a conflicting one."""
    ratios = {"v1": [], "c1": []}
    for run in evidence.values():
        # The record at T2 itself may belong to stage 2, where neurons do not move.
        rows = stage(run.isel(seed=0), 2).isel(time=slice(1, None))
        names = [str(name) for name in rows["sample"].values]
        g = loss_slopes(rows)
        for token, sample in (("v1", "c1 v1 v2"), ("c1", "c1 v1 -v2")):
            rate = rows["value_rate"].sel(head="+", token=token).values
            ratios[token].append(rate / g[:, names.index(sample)])
    (low_v, high_v), (low_c, high_c) = (
        (float(np.min(rates)), float(np.max(rates)))
        for rates in map(np.concatenate, (ratios["v1"], ratios["c1"]))
    )
    return Finding(
        (
            Exact(_spread(low_v, high_v), CONSTANT, "sup / inf of w_v' over g_+"),
            Exact(_spread(low_c, high_c), CONSTANT, "sup / inf of w_c' over g_−"),
        ),
        {"w_v' over g_+": [low_v, high_v], "w_c' over g_−": [low_c, high_c]},
    )


CONSTANT = 3.0
"""A factor 2 for consistent samples that switch on again, and 1.5 for the rest."""


def _spread(low: float, high: float) -> float:
    return float(high / low) if low > 0 else math.inf


_SLOWER = mutate.power(ALL, "loss", 0.9)

STAGE_THREE = (
    _claim(
        id="B-Thm4.1-T3",
        place="Theorem 4.1; Theorem F.3",
        statement="Stage 3 brings the loss to ε in a time O(1/ε).",
        system=FLOW,
        needs=INFINITE,
        judge=_judge_convergence,
        predicate="log (T3 − T2) has slope 1 ± 0.03 in log 1/ε over ε = 0.03 … 3e-4, "
        "and T3 − T2 is O(1/ε) by the ladder rule, for (ω, T1) = (0.1, 10), (0.01, "
        "10), (0.1, 30)",
        conditions=CONDITION,
        mutations=named(
            _SLOWER,
            mutate.power(ALL, "loss", 1.1),
            mutate.constant(ALL, "loss"),
            mutate.only("T1=30", _SLOWER),
        ),
    ),
    _claim(
        id="B-Thm4.1-T3-width",
        origin="ours",
        place="Theorem 4.1; Theorem F.3; Appendix G",
        statement="At finite width too, stage 3 brings the loss to ε in a time O(1/ε).",
        system="gradient flow of Algorithm 1 at widths 128 and 32",
        needs=FINITE,
        judge=_judge_convergence,
        predicate="as in B-Thm4.1-T3, for each of 3 seeds (200, 201, 202) at both "
        "widths",
        scope=Scope.BEYOND,
        conditions="ω = 0.1, T1 = 10, b = 1/2; the theorem is about infinite width",
        source="our runs, seeds 200, 201, 202 at each width",
        mutations=named(_SLOWER, mutate.only("m=32, seed 201", _SLOWER)),
    ),
    _claim(
        id="B-F.1",
        place="Lemmas F.1, F.2",
        statement="In stage 3 the neurons grow along class tokens at the pull of the "
        "consistent samples and along group tokens at that of the conflicting ones, "
        "up to constants.",
        system=FLOW,
        needs=INFINITE,
        judge=_judge_rates,
        predicate="w_v' / g of X_{1,+,+} and w_c' / g of X_{1,+,−} are positive with "
        "sup / inf ≤ 3 over all of stage 3, down to loss 2e-4, while g falls by a "
        "factor of 1000; of the 3, a factor 2 is due to samples that switch on again",
        conditions=CONDITION,
        mutations=named(
            mutate.swap(ALL, "value_rate", "token", ("c1", "v1")),
            mutate.swap(ALL, "value_rate", "head", ("+", "-")),
            mutate.constant(ALL, "value_rate"),
        ),
    ),
)
