"""Our claim on the decay rate of Adam's loss, predicted from SignGD's."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims import fits
from attnflow.papers.signgd.claims.adam import MEMORIES, RATES, limit
from attnflow.schema.dataset import setting_of
from attnflow.schema.installation import scipy, xr

START = 1500
"""From here on the second moment is that of a single exponential, up to β2^500."""


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

    return scipy.optimize.root_scalar(excess, bracket=(0.0, limit(beta2))).root


def _over_predicted(signgd: xr.Dataset, adam: xr.Dataset) -> np.ndarray:
    """The fitted rate of Adam's loss over that predicted from SignGD's, by seed."""
    beta2 = setting_of(adam)["beta2"]
    predicted = [adam_rate(rate, beta2) for rate in fits.rate(START, signgd)]
    return fits.rate(START, adam) / np.array(predicted)


CLAIMS = (
    c.Claim(
        id="C-R-adam-rate",
        origin="ours",
        place="Appendix B.7, convergence rate",
        statement="Where SignGD's loss falls like e^{−r0 t}, Adam's with β1 = 0 falls "
        "like e^{−rt} with r = r0 √((1 − β2 e^{2r})/(1 − β2)): always below "
        "−log(β2)/2.",
        under=(),
        kind=c.Kind.OBSERVATION,
        system=ev.ADAM,
        needs={**ev.A_FEW, **RATES},
        judge=c.All(
            tuple(
                c.Near(
                    f"β2 = {beta2:g}: rate over predicted",
                    _over_predicted,
                    1.0,
                    0.02,
                    together=True,
                    of=("a", f"beta2={beta2:g}"),
                )
                for beta2 in MEMORIES
            )
        ),
        predicate="rates fitted from t = 1500 to 2000, predicted from the same seed's "
        "SignGD run",
        expected=c.Verdict.HOLDS,
        source=(
            "our runs, seeds 200–202; tests/papers/signgd/test_claims_parts.py tests "
            "the law on a scalar model"
        ),
        settings=f"{ev.ROW_A}; ε = 0, or far below the gradients of the values",
        survives={"holes": "the unknown records end before t = 1500"},
    ),
)
