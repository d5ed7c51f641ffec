"""Concentration of initial attention, signs and single products (Appendices D, H)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Measurement,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import PLAN, WIDTHS
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
NEURONS = (8, 64, 512)
DRAWN = {"drawn": Request("concentration", {"widths": WIDTHS}, seeds=PLAN)}
ALONE = {"widths": (1024,), "lone_widths": (1,), "lone_draws": 1}
COUNTS = {
    f"m1={count}": Request(
        "concentration",
        {**ALONE, "samples": 12, "draws": 1, "neurons": count},
        seeds=1,
    )
    for count in NEURONS
}
DRAWS = "our draws, seeds 200–202"
SIZES = (
    "normal weights of standard deviations 0.3/sqrt(L m) and 0.3/sqrt(m1), distinct "
    "fillers; n = 60, L = 5, m1 = 64, d = 163, m = 512 … 131072; δ = 0.1 and 0.5"
)
_claim = partial(
    Claim,
    system="initial weights",
    needs=DRAWN,
    expected=Verdict.HOLDS,
    scope=Scope.THEOREM,
    conditions=SIZES,
)


def flat(run: xr.Dataset, name: str, what: str) -> Ladder:
    """Ladder of kind O over the widths, with a point for every seed."""
    table = run[name].transpose("seed", "width")
    size = np.broadcast_to(table["width"].values.astype(float), table.shape)
    values = tuple(table.values.ravel().tolist())
    return Ladder(
        tuple(size.ravel().tolist()), values, "O", what, constant=3.0, seeds=len(table)
    )


def _judge_attention(evidence: Evidence) -> Finding:
    run = evidence["drawn"]
    check = flat(run, "attention_gap", "L m · largest deviation of p from 1/L")
    return Finding(
        (check,), {"m max(L p − 1)": run["attention_gap"].mean("seed").values}
    )


def _judge_counts(evidence: Evidence) -> Finding:
    share = {
        name: float((run["count_failure"] / run["delta"]).max(skipna=False))
        for name, run in evidence.items()
    }
    check = Exact(max(share.values()), 1.0, "failure / δ", counterexample=True)
    return Finding((check,), {f"failure / δ, {name}": r for name, r in share.items()})


def _judge_lone(evidence: Evidence) -> Finding:
    run = evidence["drawn"]
    checks: list[Measurement] = []
    numbers = {}
    draws = schema.setting_of(run)["lone_draws"] * run.sizes["seed"]
    for kind in ("norm", "product"):
        exact = run[f"{kind}_failure"]
        share = float((exact / exact["delta"]).max(skipna=False))
        checks.append(Exact(share, 1.0, f"{kind}: failure / δ", counterexample=True))
        numbers[f"largest failure / δ, {kind}"] = share
        expected = exact.isel(seed=0)
        # Four standard deviations of a share, and one draw.
        room = 4 * np.sqrt(expected / draws) + 1 / draws
        off = abs(run[f"{kind}_broken"].mean("seed") - expected) / room
        checks.append(Exact(float(off.max(skipna=False)), 1.0, f"{kind}: as drawn"))
    return Finding(tuple(checks), numbers)


def grows(name: str) -> mutate.NamedMutation:
    """Mutation that multiplies a variable by m^0.25."""

    def change(table: xr.DataArray) -> xr.DataArray:
        return table * (table["width"] / WIDTHS[0]) ** 0.25

    return mutate.mapped(f"{name} times m to the power 0.25", "drawn", name, change)


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-D.2",
        place="Corollary D.2",
        statement="Attention starts within Õ(1/(Lm)) of 1/L.",
        judge=_judge_attention,
        predicate="L m · max |p − 1/L|, the mean of 50 draws, is O(1) along the widths "
        "by the ladder's rule, growing by at most 3 (the logarithm is of d/δ, which is "
        "fixed); a point for each of 3 seeds",
        source=f"{DRAWS}: 0.056 = 0.62 c0² at every width",
        mutations=named(
            grows("attention_gap"), mutate.noise("drawn", "attention_gap", 1.0)
        ),
    ),
    _claim(
        id="A-D.6",
        place="Lemma D.6",
        statement="Each sign has m1 (1/2 ± sqrt(2 log(4/δ)/m1)) of the neurons, with "
        "probability 1 − δ.",
        needs=COUNTS,
        judge=_judge_counts,
        predicate="the exact failure probability, by the binomial law, is at most δ, "
        "for m1 = 8, 64, 512 and δ = 0.01, 0.1, 0.5",
        conditions="none except that both signs are equally likely",
        source="the binomial law, nothing is drawn: at most 5e-5 of δ; Hoeffding's "
        "inequality needs only a quarter of the squared deviation",
        mutations=named(
            mutate.scale(ALL, "count_failure", 1e5),
            mutate.replace("m1=64", "count_failure", 0.6),
        ),
    ),
    _claim(
        id="A-H.2",
        place="Lemma H.2",
        statement="For w, u of N(0, I/m), both |w|² − 1 and w·u are below "
        "sqrt(4/m log(2/δ)) + 4/m log(2/δ) in absolute value, with probability 1 − δ.",
        judge=_judge_lone,
        predicate="exact failure probabilities (chi squared; a normal law mixed by "
        "chi) are at most δ for m = 1 … 1000 and δ = 0.01, 0.1, 0.5; shares in 12 000 "
        "draws agree with them within four standard deviations and one draw",
        conditions="none except normal entries",
        source=f"{DRAWS}: at most 0.15 of δ",
        mutations=named(
            mutate.scale("drawn", "norm_failure", 100.0),
            mutate.replace("drawn", "product_failure", 0.6),
            mutate.add("drawn", "norm_broken", 0.05),
        ),
    ),
)
