"""Runs that claims of `vit` share, the items that they assume, and kinds of claims.

There are three kinds of runs. *Appendix A* and *Section 6* are the paper's experiments,
outside Condition 4.1. The *sampled* ones meet its items but for (3), (6) and (9).
*Inside* (`condition.py`), (6) is met too.

The theorems hold with probability 1 − 1/d, which no number of seeds can tell from 1:
their statements are judged as universal ones. Labels come in equal numbers in the
sampled runs. Of 16 Rademacher labels every fifth draw is so, hence what fails with
probability 1/d fails there with 5/d at most.
"""

from functools import partial

from attnflow.claims import Claim, Kind, Verdict
from attnflow.papers.vit._types import Field, Regime
from attnflow.papers.vit.seeds import PLAN as PLAN
from attnflow.schema.declarations import Request

SOME = PLAN[:5]
"""Half of them, for runs that take longer."""
FEW = PLAN[:3]
"""Three of them, for ladders, whose rungs share their random numbers."""

COURSE = ("loss", "test_loss", "test_accuracy", "label", "margin", "attention")
TABLES = ("pair_score", "pair_value", "readout_gain", "key_square", "query_square")
TESTS = ("test_margin", "test_attention", "test_pair_value")
REGIMES: tuple[Regime, ...] = ("benign", "harmful")
TARGETS = (0.1, 0.1**1.5, 0.01, 0.1**2.5, 0.001)
"""Training losses ε over two decades."""
CONDITION = (*(f"({i})" for i in range(1, 11)), "data", "initial", "w_O")
UNDER = {regime: (*CONDITION, regime) for regime in REGIMES}
"""What Theorems 4.1 and 4.2 assume, and all that is proved for them."""
ENDS_ALONE = {"holes": "it reads only the ends of runs"}
EARLY = {
    "cut": "T2 comes before a tenth of the training",
    "holes": "T2 comes before the unknown records",
}
"""Reasons why claims hold on runs that are not known in all."""
UNTIL_END = {"loss": "it only shows whether T3, where runs end, was reached"}
"""The reason why a variable that is read does not matter."""


def appendix(regime: Regime, **changes: Field) -> Request:
    """Request for Appendix A's run, trained further to ε = 0.001."""
    setting = {
        "target": TARGETS[-1],
        "steps": 70_000,
        "record": (*COURSE, *TABLES, *TESTS),
        **changes,
    }
    return Request(f"appendix-{regime}", setting, seeds=SOME)


def sampled(regime: Regime, **changes: Field) -> Request:
    """Request for the run at the theory's sizes."""
    setting = {"steps": 8000, "record": (*COURSE, *TABLES, *TESTS), **changes}
    return Request(f"theory-{regime}", setting, seeds=PLAN)


APPENDIX_RUNS = {regime: appendix(regime) for regime in REGIMES}
TRAINED_RUNS = {
    f"{regime}, w_O trained": appendix(
        regime, readout="default16-trained", target=0.01, steps=5000
    )
    for regime in REGIMES
}
"""Appendix A with the reading of w_O that has Figure 1's boundary."""
SAMPLED_RUNS = {regime: sampled(regime) for regime in REGIMES}

claim = partial(
    Claim,
    system="full-batch gradient descent of W_Q, W_K and W_V, float64, w_O fixed",
    kind=Kind.UNIVERSAL,
    under=(),
    expected=Verdict.HOLDS,
)
"""A claim about the paper's own system."""
sampled_claim = partial(
    claim,
    source="our runs, seeds 200–209",
    settings="d = 4·10¹⁸, d_h = 10¹², N = 16, M = 4, C_p = 10, ε = 0.05, labels in "
    "equal numbers; N·SNR² = 2000 (benign) or 1/4 (harmful)",
)
"""A claim about the sampled runs."""
appendix_claim = partial(
    claim,
    source="our runs, seeds 200–204",
    settings="Appendix A's sizes; η = 0.1 and w_O fixed at PyTorch's default over 16 "
    "are our reading",
)
"""A claim about Appendix A's runs."""
