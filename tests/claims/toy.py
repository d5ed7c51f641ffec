"""A claim on a run known in closed form, for the tests of the framework."""

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Correction,
    CorrectionKind,
    Exact,
    Finding,
    Kind,
    Verdict,
    per_seed,
)
from attnflow.claims import mutations as m
from attnflow.claims.stages import first_crossing, order_gap
from attnflow.schema.declarations import Recipe, Request
from tests.toy import toy_paper


@dataclass(frozen=True)
class RateSetting:
    """The setting of the toy's only experiment."""

    rate: float = 0.1


def make_paper(*, place="Section 1", **changes):
    """A paper whose own setting has the rate 1/10."""
    recipe = Recipe("flow", "A flow", RateSetting(), "tests.toy:build", place=place)
    return toy_paper(recipes=(recipe,), **changes)


def make_evidence(seeds=5):
    """`main`: two groups learned at the rates 1 and 1/10."""
    time = np.linspace(0.0, 60.0, 601)
    pace = np.array([1.0, 0.1])
    seed = np.arange(seeds)[:, None, None]
    loss = np.exp(-time[:, None] * pace * (1 + 0.01 * seed))
    run = xr.Dataset(
        {
            "loss_by_group": (("seed", "time", "group"), loss),
            "recorded": (("seed", "time"), np.ones(loss.shape[:2], bool)),
            "outcome": ("seed", np.array(["finished"] * seeds)),
            "end_time": ("seed", np.full(seeds, 60.0)),
        },
        coords={
            "seed": np.arange(seeds),
            "time": time,
            "group": ["consistent", "conflicting"],
        },
        attrs={"setting": json.dumps({"rate": 0.1}), "experiment": "flow"},
    )
    return {"main": run}


def learned(run, group):
    return first_crossing(run, f"loss_by_group[{group}]", level=0.1, direction="down")


def order_holds(evidence):
    run = evidence["main"]
    gap = order_gap([learned(run, "consistent"), learned(run, "conflicting")])
    return Finding(
        (per_seed(gap, "consistent before conflicting", strict=True),),
        {"gap": gap.tolist()},
    )


def half_time(evidence, factor):
    run = evidence["main"]
    time = learned(run.isel(seed=[0]), "conflicting").times[0]
    stated = factor * np.log(10) / json.loads(run.attrs["setting"])["rate"]
    error = abs(time - stated) / stated
    return Finding((Exact(float(error), 1e-3, "time"),), {"time": time})


def make_claim(**changes):
    options = {
        "id": "T-Order",
        "place": "Section 1",
        "statement": "Consistent samples are learned first.",
        "system": "flow",
        "needs": {"main": Request("flow"), "fixed": Request("flow", seeds=1)},
        "judged": ("main",),
        "judge": order_holds,
        "predicate": "order of the times at which the losses reach 0.1",
        "expected": Verdict.HOLDS,
        "source": "ours",
        "kind": Kind.OBSERVATION,
        "under": (),
        "mutations": m.named(
            m.swap("main", "loss_by_group", "group", ("consistent", "conflicting")),
            m.constant("main", "loss_by_group"),
            m.some_seeds(0.4, m.constant("main", "loss_by_group")),
        ),
    }
    return Claim(**{**options, **changes})


def corrected_claim(factor=2.0):
    """Printed with a wrong factor; holds with the right one."""
    return make_claim(
        id="T-Time",
        judge=lambda evidence: half_time(evidence, factor),
        kind=Kind.IDENTITY,
        expected=Verdict.FAILS,
        correction=Correction(
            CorrectionKind.CONSTANT,
            "The time is log 10 over the rate.",
            lambda evidence: half_time(evidence, 1.0),
        ),
        mends=m.named(m.setting("main", rate=0.1 * factor)),
    )
