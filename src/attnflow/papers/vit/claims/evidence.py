"""Runs that claims of `vit` share, and descriptions of their conditions.

There are three kinds of evidence. *Appendix A* and *Section 6* are the paper's
experiments, which are outside Condition 4.1. The *sampled* settings meet all of its
items that sizes determine except (6), on the learning rate. *Inside*, all of them are
met, constants and logarithms read as 1: d_h is as small, and η as large, as the
condition allows.
"""

from functools import partial

from attnflow.claims import Claim, Scope, Verdict
from attnflow.papers.vit._types import Field
from attnflow.schema.declarations import Request

PLAN = tuple(range(200, 210))
"""Seeds on which claims are judged; tolerances were set on seeds 0 to 4."""
SOME = PLAN[:5]
"""Half of them, for runs that take longer."""
FEW = PLAN[:3]
"""Three of them, for ladders, whose rungs share their random numbers."""

DESCENT = "full-batch gradient descent of W_Q, W_K and W_V, float64, w_O fixed"
APPENDIX = (
    "Appendix A's sizes: d = 2048, d_h = 1024, M = 4, σ̃_p = 1 = 20σ_p, η = 0.1, w_O "
    "fixed at PyTorch's default over 16. Outside Condition 4.1: items (1), (2), (5), "
    "(6), (8) and (10) are not met"
)
SAMPLED = (
    "d = 4·10¹⁸, d_h = 10¹², N = 16, M = 4, C_p = 10, ε = 0.05, δ = 0.1, labels in "
    "equal numbers; N·SNR² = 2000 (benign) or 1/4 (harmful). Items (1), (2), (5), (7), "
    "(8) and (10) of Condition 4.1 are met, logarithms and constants read as 1. Item "
    "(6) is not: η = 0.01 (harmful 0.002) times min(‖μ‖^−2, 1/σ_p²d), where d_h^−½ = "
    "10^−6 is required"
)
COURSE = ("loss", "test_loss", "test_accuracy", "label", "margin", "attention")
TABLES = ("pair_score", "pair_value", "readout_gain", "key_square", "query_square")
TESTS = ("test_margin", "test_attention", "test_pair_value")
REGIMES = ("benign", "harmful")
TARGETS = (0.1, 0.1**1.5, 0.01, 0.1**2.5, 0.001)
"""Training losses ε over two decades."""


def appendix(regime: str, **changes: Field) -> Request:
    """Request for Appendix A's run, trained further to ε = 0.001."""
    setting = {
        "target": TARGETS[-1],
        "steps": 70_000,
        "record": (*COURSE, *TABLES, *TESTS),
        **changes,
    }
    return Request(f"appendix-{regime}", setting, seeds=SOME)


def sampled(regime: str, **changes: Field) -> Request:
    """Request for the run at the theory's sizes."""
    setting = {"steps": 8000, "record": (*COURSE, *TABLES, *TESTS), **changes}
    return Request(f"theory-{regime}", setting, seeds=PLAN)


APPENDIX_RUNS = {regime: appendix(regime) for regime in REGIMES}
SAMPLED_RUNS = {regime: sampled(regime) for regime in REGIMES}


def only(runs: dict[str, Request], regime: str) -> dict[str, Request]:
    """The request of one regime, by its name."""
    return {regime: runs[regime]}


sampled_claim = partial(
    Claim,
    system=DESCENT,
    expected=Verdict.HOLDS,
    scope=Scope.BEYOND,
    conditions=SAMPLED,
)
"""A claim about the sampled settings."""
