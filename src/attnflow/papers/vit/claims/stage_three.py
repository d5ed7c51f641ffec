"""Lemma 5.4, F(t) and N(t): in the last stage the winner's value grows like log t."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Finding, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import SAMPLED_RUNS, only, sampled_claim
from attnflow.papers.vit.claims.stage_two import stage_two
from attnflow.papers.vit.claims.statistics import (
    by_seed,
    exp,
    held,
    least,
    most,
    others,
    spread,
    unit,
    winner,
    within,
)
from attnflow.papers.vit.stages.series import Regime, values_at


def _log_growth(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """(e^V(t) − e^V(T2)) over unit · (t − T2), from T2 on, by sample."""
    _, start = stage_two(run, regime)
    exponential = exp(winner(run, regime))
    early = (run["time"] < by_seed(run, start)).sum("time")
    index = early.clip(max=run.sizes["time"] - 1)
    first = exponential.isel(time=index)
    elapsed = run["time"] - first["time"]
    rate = (exponential - first.drop_vars("time")) / (unit(run, regime) * elapsed)
    return rate.where(run["recorded"] & (elapsed > 0))


def _judge_growth(evidence: Evidence, constants: dict[str, float]) -> Finding:
    checks, numbers = [], {}
    for name, run in evidence.items():
        rate = _log_growth(run, "benign" if name == "benign" else "harmful")
        low = least(rate)
        last = least(rate.isel(time=run["recorded"].sum("time") - 1))
        what = f"{name}: C at least {constants[name]:g}"
        checks.append(held(low / constants[name] - 1, what))
        numbers[name] = {"least C": spread(low), "last C": spread(last)}
    return Finding(tuple(checks), numbers)


def _judge_rest(evidence: Evidence, regime: Regime) -> Finding:
    """Winner's value at most 2 log(1/ε) and 3M times the others, which stay small."""
    run = evidence[regime]
    start, _ = stage_two(run, regime)
    later = within(run, start, run["end_time"].values)
    rest = abs(others(values_at(run), regime)).max("key_position").where(later)
    value = winner(run, regime).where(later)
    target = schema.setting_of(run)["target"]
    ratio = least(value / rest) / (3 * run.sizes["key_position"])
    high, small = most(value), most(rest)
    return Finding(
        (
            held(ratio - 1, "winner's value over 3M times the others"),
            held(1 - small / 0.1, "others at most 0.1"),
            held(1 - high / (2 * np.log(1 / target)), "winner's over 2 log(1/ε)"),
        ),
        {
            "over 3M others": spread(ratio),
            "others": spread(small),
            "winner": spread(high),
        },
    )


_claim = sampled_claim
_SIDES: tuple[tuple[str, Regime], ...] = (("F", "benign"), ("N", "harmful"))
CLAIMS = (
    _claim(
        id="D-Lem5.4",
        place="Lemma 5.4; propositions F(t) and N(t)",
        statement="From T2 to T3 the winner's value is at least "
        "log(e^V(T2) + Cη‖μ‖²‖w_O‖²(t − T2)), harmful with σ_p²d/N for ‖μ‖².",
        needs=SAMPLED_RUNS,
        judge=partial(_judge_growth, constants={"benign": 0.07, "harmful": 20.0}),
        predicate="C at least 0.07 and 20, half of the least on seeds 0–4, in every "
        "sample at every record; late C tends to N_y/N = 1/2, and to C_p² = 100; 90% "
        "of seeds",
        source="our runs, seeds 200–209",
        mutations=named(
            mutate.scale("benign", "pair_value", 0.4),
            mutate.scale("harmful", "pair_value", 0.5),
            mutate.reverse("benign", "pair_value", "key_position"),
        ),
    ),
    *(
        _claim(
            id=f"D-Prop{name}",
            place=f"Proposition {name}(t)",
            statement=f"In the {regime} regime, up to T3, all values but the winner's "
            "are o(1) and a 3M-th of it, and the winner's O(log(1/ε)).",
            needs=only(SAMPLED_RUNS, regime),
            judge=partial(_judge_rest, regime=regime),
            predicate="from T1 on: winner's value at least 3M times all others of its "
            "sample, those at most 0.1, and itself at most 2 log(1/ε); 90% of seeds",
            source="our runs, seeds 200–209 (0.025 and 0.0007 at the end on seeds 0–4)",
            mutations=named(
                mutate.add(regime, "pair_value", 0.3),
                mutate.scale(regime, "pair_value", 5.0),
                mutate.reverse(regime, "pair_value", "key_position"),
            ),
        )
        for name, regime in _SIDES
    ),
)
