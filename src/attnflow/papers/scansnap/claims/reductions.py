"""Claims of ours on exact identities of gradient flow in J: E-R-4 and E-R-6."""

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import FLOW_RUN, NO_SEED, J, flow
from attnflow.papers.scansnap.claims.snapping import SCALED_J

BALANCE = {
    "balance": flow(
        "classes",
        record=("score", "value_square", "attention_unit", "backprop"),
        records=4001,
        until=50.0,
        score_rate=0.7,
    )
}


def _judge_scaling(evidence: Evidence) -> Finding:
    ends = [run["score"].isel(seed=0).values for run in evidence.values()]
    size = np.abs(ends[0]).max()
    error = max(float(np.abs(scores - ends[0]).max() / size) for scores in ends)
    check = Exact(error, 1e-8, "scores at the same η_Y t, over the largest")
    return Finding((check,), {"apart": error})


def _judge_balance(evidence: Evidence) -> Finding:
    run = evidence["balance"]
    setting = schema.setting_of(run)
    first_seed = run.isel(seed=0)
    unit, back = first_seed["attention_unit"].values, first_seed["backprop"].values
    level = (unit * back).sum(axis=2, keepdims=True)
    right = -(unit**2 * level).mean(axis=1)
    square = first_seed["value_square"].values / (2 * setting["value_rate"])
    left = first_seed["score"].values[:, 0] / setting["score_rate"] - square
    area = np.trapezoid(right, first_seed["time"].values, axis=0)
    error = float(np.abs((left[-1] - left[0]) / area - 1).max())
    check = Exact(error, 1e-4, "the change against the integral, relative")
    return Finding((check,), {"relative error": error, "change": area.tolist()})


_claim = partial(
    Claim, system=J, expected=Verdict.HOLDS, scope=Scope.BEYOND, origin="ours"
)
CLAIMS = (
    _claim(
        id="E-R-4",
        place="Section 6",
        statement="A flow depends on η_Y, η_Z and t through η_Y t and η_Y/η_Z alone: "
        "larger rates at a fixed ratio are a later time and nothing else.",
        needs=SCALED_J,
        judge=_judge_scaling,
        predicate="all scores at the same η_Y t for η_Y = η_Z = 0.1, 0.3, 1, 3 agree "
        "to 1e-8 of the largest (the flow's rtol is 1e-10 per step)",
        source=FLOW_RUN,
        conditions=f"K = 10, M = 1000, one common token, to η_Y t = 10⁵; {NO_SEED}",
        mutations=named(
            mutate.scale("J, 3", "score", 1.001),
            mutate.shift("J, 1", "score", 100.0),
        ),
    ),
    _claim(
        id="E-R-6",
        place="Lemma 1",
        statement="d/dt [z_l/η_Z − |Y_l|²/(2η_Y)] = −(1/K) Σ_n f_nl² (f_n · g_n) for "
        "every token, with one query.",
        needs=BALANCE,
        judge=_judge_balance,
        predicate="the change to t = 50 against the trapezoidal rule on 4001 records, "
        "to 1e-4 (second order in a step of 0.003 in ln t)",
        source=FLOW_RUN,
        conditions=f"K = 2, M = 100, one common token, η_Y = 1, η_Z = 0.7; {NO_SEED}",
        mutations=named(
            mutate.scale("balance", "value_square", 1.01),
            mutate.setting("balance", score_rate=0.07),
        ),
    ),
)
