"""Claims on Lemma 4.4 (Stage III): noise votes on the signs of signals."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims.evidence import (
    DISJOINT,
    IDEAL,
    LADDER,
    LATTICE,
    ROW_A,
    RUNGS,
    SETTING_A,
    SIGNGD,
)
from attnflow.papers.signgd.claims.statistics import (
    along,
    at,
    between,
    but_for,
    climb,
    extent,
    formula,
    largest_from_half,
    moves,
    per_seed,
    sizes_of,
)
from attnflow.papers.signgd.stages import series

ALL = mutate.EVERY
VOTE_FROM = 15.0
"""The step from which pairs are aligned in (a), where T2 is beyond the run."""
BEFORE = ((("query", "key"), 1.0), (("key", "query"), -1.0))
"""Whose signal moves, whose noise votes, and with which sign."""


def _followed(run: xr.Dataset, start: xr.DataArray) -> xr.DataArray:
    """The fraction of neurons and records in which signals move as voted, by seed."""
    inside = between(run, start, formula(run, "T3"))
    shares = []
    for (moving, voting), side in BEFORE:
        move = series.signs(moves(series.signal(run, f"{moving}_neuron")))
        noise = series.noise(run, f"{voting}_neuron")
        vote = series.signs(noise.sum("token", skipna=False))
        right = ((side * move * vote) > 0).where(inside & move.notnull())
        shares.append(right.mean(("time", "head", "neuron")))
    return series.lesser(shares[0], shares[1])


def _judge_votes(evidence: Evidence) -> Finding:
    run_a, lattice = evidence["a"], evidence["lattice"]
    start = formula(lattice, "T2")
    shares = {
        "a": _followed(run_a, xr.full_like(formula(run_a, "T3"), VOTE_FROM)),
        "lattice": _followed(lattice, start),
    }
    checks = (
        per_seed(shares["a"] - 0.93, "(a): signals move as voted"),
        per_seed(shares["lattice"] - 0.96, "lattice: signals move as voted"),
    )
    return Finding(checks, {name: extent(share) for name, share in shares.items()})


def _sizes_at_end(run: xr.Dataset) -> xr.DataArray:
    """Signals at T3 in units of T3 η, positive where they follow the vote."""
    end = formula(run, "T3")
    then = at(run, end)
    vote = series.signs(series.noise(then, "query_neuron").sum("token"))
    parts = [
        side * vote * series.signal(then, f"{moving}_neuron")
        for (moving, _), side in BEFORE
    ]
    return xr.concat(parts, "table") / (end * sizes_of(run).learning_rate)


def _judge_sizes(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        ratio = _sizes_at_end(run)
        over = ("table", "head", "neuron")
        share = ((ratio >= 0.5) & (ratio <= 2)).mean(over)
        checks.append(per_seed(share - 0.93, f"{name}: signals in [1/2, 2] T3 η"))
        middle = extent(ratio.median(over))
        numbers[name] = {"share": extent(share), "median": middle}
    return Finding(tuple(checks), numbers)


def _from_half(run: xr.Dataset) -> np.ndarray:
    """The largest |s − 1/2| of any attention at T3, by seed."""
    return largest_from_half(at(run, formula(run, "T3"))["attention"])


def _judge_softmax(evidence: Evidence) -> Finding:
    rungs = but_for(evidence, "a")
    check = climb(rungs, _from_half, "largest |s − 1/2| at T3")
    return Finding((check,), along(evidence, _from_half))


_claim = partial(Claim, expected=Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="C-L4.4-1",
        place="Lemma 4.4 (1); Equations (10) to (13)",
        statement="In Stage III a neuron's query signal moves by the sign of its "
        "summed key noise, and its key signal against the sign of its summed query "
        "noise.",
        system=SIGNGD,
        needs={**SETTING_A, **IDEAL},
        judge=_judge_votes,
        predicate="the moves between records have these signs in 93% of neurons and "
        "records of setting (a) from t = 15 to T3 (0.956 to 0.999 on seeds 0–4; n is "
        "even, and votes may be close), and in 96% on the lattice from T2 to T3 "
        "(1.000), in 90% of seeds",
        source="our runs: seeds 200–209 of setting (a), 200–219 of the lattice",
        scope=Scope.EXPERIMENT,
        conditions=f"{ROW_A}. And {LATTICE}",
        mutations=named(
            mutate.swap("a", "query_neuron", "token", ("mu", "noise1")),
            mutate.negate("a", "key_neuron"),
            mutate.shuffle("lattice", "query_neuron", "neuron"),
        ),
    ),
    _claim(
        id="C-L4.4-2",
        place="Lemma 4.4 (2); Lemma E.12",
        statement="At T3 every neuron's query signal has the sign of its summed query "
        "noise and its key signal the opposite one, both between half and twice T3 η "
        "in magnitude.",
        system=SIGNGD,
        needs={**SETTING_A, **IDEAL},
        judge=_judge_sizes,
        predicate="at least 93% of signals in 90% of seeds (0.96 to 1 in setting (a) "
        "and 1 on the lattice, seeds 0–4), with Appendix E.1's constants",
        source="our runs: seeds 200–209 of setting (a), 200–219 of the lattice",
        scope=Scope.EXPERIMENT,
        conditions=f"{ROW_A}. And {LATTICE}",
        mutations=named(
            mutate.constant(ALL, "query_neuron"),
            mutate.negate("a", "key_neuron"),
            mutate.scale("lattice", "key_neuron", 0.3),
        ),
    ),
    _claim(
        id="C-L4.4-3",
        place="Lemma 4.4 (3); Lemma E.14",
        statement="Up to T3 all attention stays at one half.",
        system=DISJOINT,
        needs={**RUNGS, **SETTING_A},
        judge=_judge_softmax,
        predicate="the largest |s − 1/2| at T3 is o(1) along the ladder. In setting "
        "(a), shown for comparison, the formula for T3 exceeds T4⁻, and s21 has "
        "collapsed by then; at t = 31, where the vote is detected, it has not",
        source="our runs: seeds 200–204 of the ladder, 200–209 of setting (a)",
        scope=Scope.THEOREM,
        conditions=LADDER,
        mutations=named(
            mutate.add("s=1e+10", "attention", 1e-6),
            mutate.setting("s=1e+10", learning_rate=1e-23),
        ),
    ),
)
