"""Section 8 and Appendix G on WikiText: sparsity by learning rate, and freezing."""

import numpy as np

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.looks import per_seed
from attnflow.papers.scansnap.text_runs import (
    COURSES,
    OF_THREE,
    ONE_LAYER,
    PLAIN,
    RATES,
    by_rate,
    drift,
    entropy,
    last_entropies,
    name_of,
)

JUDGED = (ONE_LAYER, PLAIN)
"""Networks of one layer, of which Figure 10 speaks."""
FALL, RISE = 0.3, 0.1
"""Nats: what entropy must fall by from the least rate to the largest, and what it may
rise by from a rate to the next, where attention has hardly begun to move."""
FROZEN = 0.1
"""Total variation in 150 steps; the largest possible is 1."""
SIZES = (
    "WikiText-2, split valid for training and test for tests, 1000 words, 1200 steps "
    "of 20 windows of 35 words, gradients shortened to 0.5, float32"
)


def _judge_rates(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for kind in JUDGED:
        found = last_entropies(evidence, kind)
        numbers[f"entropy, {kind}, η = {RATES[0]:g} … {RATES[-1]:g}"] = (
            found.mean(axis=1).round(3).tolist()
        )
        checks += [
            per_seed(found[0] - found[-1] - FALL, f"{kind}: falls"),
            per_seed(RISE - np.diff(found, axis=0).max(axis=0), f"{kind}: in turn"),
        ]
    return Finding(tuple(checks), numbers)


def _judge_freezing(evidence: Evidence) -> Finding:
    last = {name: drift(run).isel(time=-1).values for name, run in evidence.items()}
    return Finding(
        tuple(
            per_seed(FROZEN - moved, f"{name}: maps stand still at the end")
            for name, moved in last.items()
        ),
        {
            **{f"last drift, {name}": moved.tolist() for name, moved in last.items()},
            **{
                f"entropy, {name}": entropy(run).mean("seed").round(3).values.tolist()
                for name, run in evidence.items()
            },
        },
    )


CLAIMS = (
    Claim(
        id="E-Fig7-10",
        place="Section 8; Appendix G; Figure 10",
        statement="On real text, the larger the learning rate, the lower the entropy "
        "of a one-layer transformer's attention after training.",
        system="all weights of a causal network on words, by stochastic descent",
        needs=by_rate(*JUDGED),
        judge=_judge_rates,
        predicate=f"from η = 0.5 to η = 5 entropy falls by {FALL} nats or more, and "
        f"from no rate to the next does it rise by more than {RISE}; PyTorch's encoder "
        "and the theory's own parametrisation, in 90% of seeds each",
        expected=Verdict.HOLDS,
        source="sheet E section 7 (three seeds, another text), and our run",
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
        system="all weights of a causal network on words, by stochastic descent",
        needs=COURSES,
        judge=_judge_freezing,
        predicate=f"the maps of test windows move by a total variation of {FROZEN} at "
        "most in the last 150 of 1200 steps, one layer and the first of three, in 90% "
        "of seeds each",
        expected=Verdict.INCONCLUSIVE,
        source="sheet E section 9 (levels settle, maps go on moving), and our run",
        scope=Scope.EXPERIMENT,
        conditions=f"{SIZES}; learning rate 5, PyTorch's encoder",
        mutations=named(
            mutate.scale(ONE_LAYER, "test_attention", 10.0),
            mutate.scale(OF_THREE, "test_attention", 10.0),
        ),
    ),
)
