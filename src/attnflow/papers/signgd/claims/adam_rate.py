"""Our claim on the decay rate of Adam's loss, predicted from SignGD's."""

import numpy as np
from scipy.optimize import root_scalar

from attnflow.claims import Claim, Evidence, Finding, Scope, Seeds, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims.adam import MEMORIES, RATES, limit
from attnflow.papers.signgd.claims.evidence import ADAM, ROW_A, SETTING_A
from attnflow.papers.signgd.claims.fits import column, falls
from attnflow.papers.signgd.claims.statistics import extent, per_seed

START = 1500
"""From here on the second moment is that of a single exponential, up to β2^500."""
NEAR = 0.02


def adam_rate(rate: float, beta2: float) -> float:
    """The rate r of Adam's loss: r = rate · √((1 − β2 e^{2r})/(1 − β2)).

    For gradients that fall like e^{−rt}, √v = |g| √((1 − β2)/(1 − β2 e^{2r})), and the
    rate of the loss is proportional to the size of the steps.
    """
    if not rate > 0:
        return np.nan

    def excess(r: float) -> float:
        inside = max((1 - beta2 * np.exp(2 * r)) / (1 - beta2), 0.0)
        return rate * np.sqrt(inside) - r

    return root_scalar(excess, bracket=(0.0, limit(beta2))).root


def _judge(evidence: Evidence) -> Finding:
    signgd = evidence["a"].sel(seed=evidence["beta2=0.9"]["seed"])
    sign = column(falls(signgd, START), "rate")
    checks: list[Seeds] = []
    numbers: dict[str, list[float] | dict[str, list[float]]] = {"SignGD": extent(sign)}
    for beta2 in MEMORIES:
        rates = column(falls(evidence[f"beta2={beta2:g}"], START), "rate")
        predicted = np.array([adam_rate(rate, beta2) for rate in sign])
        ratio = rates / predicted
        checks.append(per_seed(1 - abs(ratio - 1) / NEAR, f"β2 = {beta2:g}: rate"))
        numbers[f"β2 = {beta2:g}"] = {
            "fitted": extent(rates),
            "over predicted": extent(ratio),
            "over −log(β2)/2": extent(rates / limit(beta2)),
        }
    return Finding(tuple(checks), numbers)


CLAIMS = (
    Claim(
        id="C-R-adam-rate",
        origin="ours",
        place="Appendix B.7, convergence rate",
        statement="Where SignGD's loss falls like e^{−r0 t}, Adam's with β1 = 0 falls "
        "like e^{−rt} with r = r0 √((1 − β2 e^{2r})/(1 − β2)): always below "
        "−log(β2)/2.",
        system=ADAM,
        needs={**RATES, **SETTING_A},
        judge=_judge,
        predicate="rates fitted from t = 1500 to 2000 are within 2% of the prediction "
        "from the same seed's SignGD run, for β2 = 0.9, 0.95 and 0.99, in 90% of seeds",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–202; tests/papers/signgd/test_claims_parts.py has "
        "the law on a scalar model",
        scope=Scope.BEYOND,
        conditions=f"{ROW_A}; ε = 0, or far below the gradients of the values",
        mutations=named(
            mutate.power("a", "loss", 1.2),
            mutate.power("beta2=0.9", "loss", 1.1),
            mutate.power("beta2=0.99", "loss", 0.9),
        ),
    ),
)
