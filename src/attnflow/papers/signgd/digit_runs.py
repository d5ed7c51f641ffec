"""Requests for runs on noisy digits, one for each rule and λ (Figure 2d and claims)."""

import numpy as np

from attnflow import schema
from attnflow.papers.signgd.seeds import PLAN
from attnflow.schema.declarations import Evidence, Request

RULES = {"SignGD": "signgd", "Adam": "adam", "GD": "gd"}
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Scaled SNRs of Appendix B.1."""
SEEDS = PLAN[3:6]
"""Fresh seeds: the claims were worded after runs of the plan's first three."""
QUICK = {"records": 1, "precision": "float32", "samples": 400, "test_samples": 500}

MAP = {
    f"{rule} {share:g}": Request(
        "noisy-mnist",
        {"rule": name, "scaled_snr": share},
        seeds=SEEDS,
        quick=QUICK,
        quick_seeds=SEEDS[:1],
    )
    for rule, name in RULES.items()
    for share in SHARES
}


def ends(evidence: Evidence, rule: str, name: str) -> np.ndarray:
    """The named loss at the end of training, (scaled SNR, run)."""
    return np.array(
        [schema.last(evidence[f"{rule} {share:g}"], name).values for share in SHARES]
    )
