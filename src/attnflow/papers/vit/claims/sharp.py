"""The word "sharp": both theorems' hypotheses hold where N · SNR² is of order 1."""

from __future__ import annotations

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims import evidence as ev
from attnflow.papers.vit.claims.condition import FLOW
from attnflow.papers.vit.claims.ladders import (
    ENDS_ONLY,
    IN_LOSS,
    LEARNED,
    SAMPLES,
    TARGETS,
)
from attnflow.papers.vit.claims.measures import at_target, size_of
from attnflow.papers.vit.sizes import inside
from attnflow.schema.declarations import Request

BOTH = {
    f"N·SNR²=1, ε={e:.2g}": Request(
        "theory-benign", inside(SAMPLES, 1.0, e), seeds=ev.FEW
    )
    for e in TARGETS
}
ABOVE = {f"N·SNR²=400, {name}": run for name, run in IN_LOSS["benign"].items()}


def _test_loss(runs: dict[str, Request]) -> c.Rungs:
    return c.Rungs(
        "test loss where the training loss is ε",
        lambda run: at_target(run, "test_loss"),
        "o(1)",
        lambda run: 1 / size_of(run).target,
        of=tuple(runs),
    )


CLAIMS = (
    ev.claim(
        id="D-sharp",
        place="Theorems 4.1 and 4.2; Section 4",
        statement="Where N·SNR² = Ω(1), its constant read as 1, the test loss is o(1): "
        "at N·SNR² = 1, where N^−1·SNR^−2 = Ω(1) is met too.",
        origin="ours",
        kind=c.Kind.ASYMPTOTIC,
        system=FLOW,
        under=ev.UNDER["benign"],
        needs={**BOTH, **ABOVE},
        judge=_test_loss(BOTH),
        predicate="ε from 0.018 to 1.8·10^−4, with d_h and d tied to it; constants of "
        "both Ω(1) read as 1",
        expected=c.Verdict.FAILS,
        source=(
            "our runs, seeds 200–202; note D-N15a. With the constants of both Ω(1) "
            "left open the theorems contradict each other wherever N·SNR² = Θ(1): "
            "what is judged is Theorem 4.1 with the constant read as 1, a reading "
            "that is ours and not printed"
        ),
        settings="all items met, of Theorem 4.2 too: N = 64, M = 2, C_p² = 50, d_h = "
        "SNR^−4N²/ε², d = N²d_h/ε²; N·SNR² = 1, and 400 for the correction",
        survives=ev.ENDS_ALONE,
        correction=c.Correction(
            c.CorrectionKind.CONDITION,
            "With N·SNR² ≥ 8C_p² = 200M in place of Ω(1). Figure `sharp` has the "
            "transition near 1.6C_p².",
            _test_loss(ABOVE),
        ),
        inert=ENDS_ONLY,
        mutations=c.named(mutate.replace(mutate.EVERY, "test_loss_at_end", 0.5)),
        mends=c.named(LEARNED),
        witness=c.Witness(
            "witnesses/both_hypotheses.py",
            {"test loss": ("test loss where the training loss is ε", 0)},
        ),
    ),
)
