"""Both theorems inside Condition 4.1.

With every constant and logarithm of the condition read as 1, d_h = c·SNR^±4 N²/ε² and
η = d_h^−½ min(‖μ‖^−2, 1/σ_p²d), benign training takes 2√c·N·SNR²/ε² steps: within
reach where ε is 0.1.
"""

import math
from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit._types import Field
from attnflow.papers.vit.claims.evidence import DESCENT, FEW, PLAN
from attnflow.papers.vit.claims.statistics import held, size_of, spread
from attnflow.papers.vit.stages.formulas import benign, harmful
from attnflow.schema.declarations import Request

FORMULAS = {"benign": benign, "harmful": harmful}
LARGER = 25.0
"""Factor c of d_h in the benign regime, where attention needs it."""


def _inside(samples: int, strength: float, *, larger: float = 1.0) -> dict[str, Field]:
    """Sizes inside the condition: d_h `larger` times its bound, d and η on theirs."""
    target = 0.1
    fourth = max(strength / samples, samples / strength) ** 2
    scarce = (samples / target) ** 2
    # Rounded up, since both are whole numbers.
    width = math.ceil(larger * fourth * scarce * (1 + 1e-9))
    return {
        "samples": samples,
        "strength": strength,
        "target": target,
        "key_width": width,
        "embed": math.ceil(width * scarce * (1 + 1e-9)),
        "rate": width**-0.5,
        "steps": 400_000,
        "records": 40,
        "dense": 10,
        "record": ("loss", "test_loss", "test_accuracy", "label", "attention"),
    }


INSIDE = {
    "benign": Request(
        "theory-benign",
        {"length": 2, **_inside(8, 200.0, larger=LARGER)},
        seeds=FEW,
    ),
    "harmful": Request("theory-harmful", _inside(16, 0.25), seeds=PLAN[:5]),
}
SMALLEST = {
    "benign": Request(
        "theory-benign", {**_inside(16, 400.0), "steps": 200_000}, seeds=FEW
    )
}
WITHIN = {
    "benign": "Condition 4.1, all items that sizes determine, constants and logarithms "
    "read as 1: N = 8, M = 2, C_p = 5√2, N·SNR² = 200, ε = 0.1, d_h = 25 SNR⁴N²/ε² = "
    "10⁸, d = N²d_h/ε² = 6.4·10¹¹, η = d_h^−½‖μ‖^−2, ‖w_O‖ = 1, σ_h² between its "
    "bounds, σ_V a tenth of its bound; N ≥ polylog(d) and ε ≤ 1/polylog(d) name no "
    "constants",
    "harmful": "Condition 4.1, all items that sizes determine, constants and "
    "logarithms read as 1: N = 16, M = 4, C_p = 10, N·SNR² = 1/4, ε = 0.1, d_h = "
    "SNR^−4N²/ε² = 1.05·10⁸, d = N²d_h/ε², η = d_h^−½/(σ_p²d), ‖w_O‖ = 1, σ_h² between "
    "its bounds, σ_V a tenth of its bound; N ≥ polylog(d) and ε ≤ 1/polylog(d) name no "
    "constants",
}


def over_formula(run: xr.Dataset, regime: str) -> np.ndarray:
    """Training time to ε over its leading order at small ε (ours), by seed."""
    steps = FORMULAS[regime](size_of(run))["T3 ours"].steps
    assert steps is not None
    target = schema.setting_of(run)["target"]
    done = run["loss_at_end"].isel(stage=-1) <= target
    return (run["end_time"].where(done) / steps).values


def _judge_inside(evidence: Evidence, regime: str) -> Finding:
    run = evidence[regime]
    ratio = over_formula(run, regime)
    loss, accuracy = (
        run[f"{name}_at_end"].isel(stage=-1) for name in ("test_loss", "test_accuracy")
    )
    target = schema.setting_of(run)["target"]
    if regime == "benign":
        test = held(1 - loss / (2 * target), "test loss at most 2ε")
    else:
        test = held(loss / 0.1 - 1, "test loss at least 0.1")
    return Finding(
        (
            held(1 - ratio / 2, "T at most twice its leading order"),
            held(ratio - 0.5, "T at least half of it"),
            test,
        ),
        {
            "T over its leading order": spread(ratio),
            "test loss": spread(loss),
            "test accuracy": spread(accuracy),
        },
    )


def _judge_slow(evidence: Evidence) -> Finding:
    run = evidence["benign"]
    steps = benign(size_of(run))["T3 ours"].steps
    assert steps is not None
    loss = run["loss_at_end"].isel(stage=-1)
    share = schema.last(run, "attention").isel(key_position=0)
    mean = share.mean(("sample", "head", "query_position"))
    return Finding(
        (
            held(run["end_time"] / (2 * steps) - 1, "twice the leading order, and on"),
            held(loss / schema.setting_of(run)["target"] - 1, "loss still above ε"),
        ),
        {
            "steps over the leading order": spread(run["end_time"] / steps),
            "loss": spread(loss),
            "mean attention to the signal": spread(mean),
        },
    )


_claim = partial(Claim, system=DESCENT, expected=Verdict.HOLDS)
CLAIMS = (
    *(
        _claim(
            id=f"D-Thm{number}-in",
            place=f"Theorem {number}; Condition 4.1",
            statement=statement,
            needs={regime: INSIDE[regime]},
            judge=partial(_judge_inside, regime=regime),
            predicate=f"T between half and twice its leading order at small ε, {order} "
            f"(ours, with every constant); test loss {test} there; 90% of seeds",
            source=source,
            scope=Scope.THEOREM,
            conditions=WITHIN[regime],
            mutations=named(
                mutate.scale(regime, "test_loss_at_end", factor),
                mutate.scale(regime, "end_time", 3.0),
                mutate.setting(regime, rate=1e-6),
            ),
        )
        for number, regime, statement, order, test, factor, source in (
            (
                "4.1",
                "benign",
                "Inside Condition 4.1 benign training reaches ε in "
                "Θ(1/(ηε‖μ‖²‖w_O‖²)) steps, and the test loss is small.",
                "2/(ηε‖μ‖²‖w_O‖²)",
                "at most 2ε",
                4.0,
                "our runs, seeds 200–202 (1.12 times on seeds 0–2); not so with M = 4 "
                "and d_h at its bound, see D-Thm4.1-const",
            ),
            (
                "4.2",
                "harmful",
                "Inside Condition 4.1 harmful training reaches ε in "
                "Θ(N/(ηεσ_p²d‖w_O‖²)) steps, and the test loss is Θ(1).",
                "N/(ηεσ̃_p²d‖w_O‖²)",
                "at least 0.1",
                0.1,
                "our runs, seeds 200–204 (1.54 times on seeds 0–1)",
            ),
        )
    ),
    _claim(
        id="D-Thm4.1-const",
        place="Theorem 4.1; Condition 4.1",
        statement="The constants hidden in Condition 4.1 matter: with all of them read "
        "as 1, N·SNR² = 400 and M = 4, benign training has not reached ε after twice "
        "the leading order.",
        origin="ours",
        needs=SMALLEST,
        judge=_judge_slow,
        predicate="ε = 0.1 not reached in 2.5 times 2/(ηε‖μ‖²‖w_O‖²) steps; 90% of "
        "seeds (loss 0.112, mean attention to the signal 0.64 on seeds 0–1)",
        source="our runs, seeds 200–202",
        scope=Scope.THEOREM,
        conditions=WITHIN["benign"]
        .replace(
            "N = 8, M = 2, C_p = 5√2, N·SNR² = 200",
            "N = 16, M = 4, C_p = 10, N·SNR² = 400",
        )
        .replace("25 SNR⁴N²/ε² = 10⁸", "SNR⁴N²/ε² = 1.6·10⁷")
        .replace("6.4·10¹¹", "4.1·10¹¹"),
        mutations=named(
            mutate.scale("benign", "loss_at_end", 0.8),
            mutate.scale("benign", "end_time", 0.5),
        ),
    ),
)
