"""Claims on WikiText-2: attention entropy by learning rate, and freezing."""

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import FEW_RUNS
from attnflow.papers.scansnap.claims.statistics import per_seed
from attnflow.papers.scansnap.text_runs import (
    COURSES,
    LONG,
    OF_THREE,
    ONE_LAYER,
    PLAIN,
    RATES,
    by_rate,
    drift,
    entropy,
    last_entropies,
    name_of,
    on_frequent,
)

JUDGED = (ONE_LAYER, PLAIN)
"""Networks of one layer, the subject of Figure 10."""
FALL, RISE = 0.3, 0.1
"""Nats: the required fall of entropy from the smallest rate to the largest, and the
allowed rise from a rate to the next, where attention has hardly begun to move."""
FROZEN = 0.1
"""Total variation in 150 steps; the largest possible is 1."""
SPARSE, SLOWER, MOVING, GAIN = 0.5, 2 / 3, 0.05, 1.1
"""For the long run: the fall of entropy in nats; the late drift in 300 steps, at most
as a share of the largest, and at least; and the gain of frequent words."""
LATE = 4
"""Number of records in its last quarter, over which these are means."""
SIZES = (
    "WikiText-2, split valid for training and test for tests, 1000 words, 1200 steps "
    "of 20 windows of 35 words, gradient norm clipped to 0.5, float32"
)


def _judge_rates(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for kind in JUDGED:
        entropies = last_entropies(evidence, kind)
        numbers[f"entropy, {kind}, η = {RATES[0]:g} … {RATES[-1]:g}"] = (
            entropies.mean(axis=1).round(3).tolist()
        )
        checks += [
            per_seed(entropies[0] - entropies[-1] - FALL, f"{kind}: falls"),
            per_seed(RISE - np.diff(entropies, axis=0).max(axis=0), f"{kind}: in turn"),
        ]
    return Finding(tuple(checks), numbers)


def _judge_freezing(evidence: Evidence) -> Finding:
    last = {name: drift(run).isel(time=-1).values for name, run in evidence.items()}
    return Finding(
        tuple(
            per_seed(FROZEN - drifts, f"{name}: maps stand still at the end")
            for name, drifts in last.items()
        ),
        {
            **{f"last drift, {name}": drifts.tolist() for name, drifts in last.items()},
            **{
                f"entropy, {name}": entropy(run).mean("seed").round(3).values.tolist()
                for name, run in evidence.items()
            },
        },
    )


def _judge_plain(evidence: Evidence) -> Finding:
    run = evidence[PLAIN]
    level, drifts, gain = entropy(run), drift(run), on_frequent(run)
    late = {
        name: series.isel(time=slice(-LATE, None)).mean("time").values
        for name, series in (("entropy", level), ("drift", drifts), ("gain", gain))
    }
    first, largest = level.isel(time=0).values, drifts.max("time").values
    return Finding(
        (
            per_seed(first - late["entropy"] - SPARSE, "attention becomes sparse"),
            per_seed(SLOWER * largest - late["drift"], "maps slow down"),
            per_seed(late["drift"] - MOVING, "maps do not stand still"),
            per_seed(late["gain"] - GAIN, "frequent words gain attention"),
        ),
        {
            **{f"{n}, last quarter": f.round(3).tolist() for n, f in late.items()},
            "largest drift": largest.round(3).tolist(),
        },
    )


def _swing_maps(maps: xr.DataArray) -> xr.DataArray:
    """The first and the last map in alternation: equal moves at every record."""
    ends = maps.isel(time=[-(k % 2) for k in range(maps.sizes["time"])])
    return maps.copy(data=ends.values)


CLAIMS = (
    Claim(
        id="E-Fig7-10",
        place="Section 8; Appendix G; Figure 10",
        statement="On real text, the larger the learning rate, the lower the entropy "
        "of a one-layer transformer's attention after training.",
        system="all weights of a word-level causal network, by SGD",
        needs=by_rate(*JUDGED),
        judge=_judge_rates,
        predicate=f"from η = 0.5 to η = 5 entropy falls by {FALL} nats or more, and "
        f"from no rate to the next does it rise by more than {RISE}; PyTorch's encoder "
        "and the theory's own parametrisation, in 90% of seeds each",
        expected=Verdict.HOLDS,
        source=FEW_RUNS,
        scope=Scope.EXPERIMENT,
        conditions=f"{SIZES}; the paper trains on the split train until convergence",
        mutations=named(
            mutate.scale(name_of(ONE_LAYER, 5.0), "attention_entropy_by_query", 50.0),
            mutate.scale(
                name_of(PLAIN, 0.5),
                "attention_entropy_by_query",
                0.1,
            ),
        ),
    ),
    Claim(
        id="E-Fig7-10-freeze",
        place="Section 8; Figure 7",
        statement="At a constant learning rate the first layer's attention freezes at "
        "some point of training.",
        system="all weights of a word-level causal network, by SGD",
        needs=COURSES,
        judge=_judge_freezing,
        predicate=f"the maps of test windows move by a total variation of {FROZEN} at "
        "most in the last 150 of 1200 steps, one layer and the first of three, in 90% "
        "of seeds each",
        expected=Verdict.INCONCLUSIVE,
        source=f"{FEW_RUNS} (three layers: 200); one layer moves by 0.59 to 0.72",
        scope=Scope.EXPERIMENT,
        conditions=f"{SIZES}; learning rate 5, PyTorch's encoder",
        mutations=named(
            mutate.scale(ONE_LAYER, "test_attention", 10.0),
            mutate.scale(OF_THREE, "test_attention", 10.0),
        ),
    ),
    Claim(
        id="E-R-text",
        place="Section 8; Figure 7",
        statement="On real text, in the theory's own parametrisation, attention "
        "becomes sparse and slows down without standing still; frequent words gain "
        "it, which as common ones should lose it.",
        system="word embeddings U, and W_Q, W_K and W_V, by SGD",
        needs=LONG,
        judge=_judge_plain,
        predicate=f"in the mean over the last quarter of training, entropy is {SPARSE} "
        "nats or more below that at the start; maps move from one record to the next, "
        f"300 steps later, by at most {SLOWER:.2f} of the largest such drift, and by a "
        f"total variation of {MOVING} or more; and the 20 most frequent words get "
        f"{GAIN} times the attention that they began with, or more; in 90% of seeds "
        "each",
        expected=Verdict.HOLDS,
        source=f"{FEW_RUNS}; statement and bounds were set on seed 0 alone",
        scope=Scope.BEYOND,
        conditions=f"{SIZES.replace('1200', '4800')}; learning rate 2. No word "
        "of a text is distinct in the theory's sense, and the most frequent ones "
        "are common to nearly all next words",
        origin="ours",
        mutations=named(
            mutate.constant(PLAIN, "attention_entropy_by_query"),
            mutate.constant(PLAIN, "test_attention"),
            mutate.mapped("maps swing", PLAIN, "test_attention", _swing_maps),
            mutate.constant(PLAIN, "attention_by_word"),
        ),
    ),
)
