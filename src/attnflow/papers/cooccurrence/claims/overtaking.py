"""Phase 1: the common token overtakes the targets, one-target types stay balanced."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    EARLIER,
    FLOW,
    SMALLER,
    THEORY_RUNS,
    WIDTHS,
    at_end,
    balance_ratio,
    class_weights,
    phase_one,
    small_outputs,
    velocity_ratio,
    velocity_share,
    with_end,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    every_run,
    ladder,
    small_ladder,
    span,
    variances,
    with_width,
)
from attnflow.papers.cooccurrence.stages import events

ALL = mutate.EVERY
PHASE_ONE = {f"m={width}": phase_one(width) for width in WIDTHS}
SMALL = {f"c0={c0:g}": small_outputs(c0) for c0 in SMALLER}
LATER = 1.5
"""At T_half itself the ratio is 1 by definition; C > 0 is checked a little later."""
_claim = partial(
    Claim,
    system=FLOW,
    scope=Scope.THEOREM,
    conditions=f"{CONDITION}; T1 = 20/(σ1² m m1)",
    expected=Verdict.HOLDS,
)


def _late(run: xr.Dataset) -> xr.DataArray:
    """Velocities of G1, G2, G3 from 1.5 T_half on, NaN before, with a run's dims."""
    rate = with_end(run, "value_rate")
    half = xr.DataArray(events.common_overtakes(run).times, dims="seed")
    return rate.where(rate["time"] >= LATER * half)


def _excess(run: xr.Dataset) -> xr.DataArray:
    """The least −G3' / max(G1', G2') − 1."""
    return velocity_ratio(_as_run(_late(run))).min("time") - 1


def _slack(run: xr.Dataset) -> xr.DataArray:
    """The least 1 + G3' / (G1' + G2')."""
    return 1 - velocity_share(_as_run(_late(run))).max("time")


def _targets(run: xr.Dataset) -> xr.DataArray:
    """G1' and G2' by seed, time and token, from 1.5 T_half on."""
    return _late(run).isel(head=0).sel(token=["mu1", "mu2"])


def _speed(run: xr.Dataset) -> xr.DataArray:
    """The least of G1', G2' over the readout gain b."""
    gain = with_end(run, "readout_gain").isel(head=0)
    return (_targets(run) / gain).min(["time", "token"])


def _printed_speed(run: xr.Dataset) -> xr.DataArray:
    """The least of G1', G2' over (σ0² + σ1²) m m1."""
    setting = schema.setting_of(run)
    size = sum(variances(run)) * setting["width"] * setting["neurons"]
    return _targets(run).min(["time", "token"]) / size


def _as_run(rate: xr.DataArray) -> xr.Dataset:
    return xr.Dataset({"value_rate": rate})


def _half(run: xr.Dataset) -> np.ndarray:
    return events.clock_times(run, events.common_overtakes(run))


def _weights_ratio(run: xr.Dataset) -> xr.DataArray:
    """R of the class weights at T1."""
    ends = at_end(run).assign_attrs(run.attrs)
    return balance_ratio(class_weights(ends))


def _judge_overtaking(evidence: Evidence) -> Finding:
    since = "from 1.5 T_half on"
    return Finding(
        (
            ladder(evidence, _excess, "Omega", f"−G3'/max(G1', G2') − 1 {since}"),
            ladder(evidence, _slack, "Omega", f"1 + G3'/(G1' + G2') {since}"),
            ladder(evidence, _speed, "Omega", f"G1', G2' over b {since}"),
        ),
        {
            "b0 T_half": span(evidence, _half),
            "C of the lower bound": span(evidence, _excess),
            "C of the upper bound": span(evidence, _slack),
            "G1', G2' over (σ0² + σ1²) m m1": by_width(evidence, _printed_speed),
            "R of class weights at T1": span(evidence, _weights_ratio),
        },
    )


def _gap(run: xr.Dataset) -> xr.DataArray:
    """The largest |Σ2 − Σ3| / n over F."""
    pull = with_end(run, "pull_by_group")
    gap = pull.sel(group="first", drop=True) - pull.sel(group="second", drop=True)
    first = abs(run["margin"].isel(time=0)).max("sample")
    return abs(gap).max("time") / first


def _judge_gap(evidence: Evidence) -> Finding:
    wide = {name: run for name, run in evidence.items() if name in PHASE_ONE}
    small = {name: run for name, run in evidence.items() if name in SMALL}

    def below(run: xr.Dataset) -> xr.DataArray:
        return 1 - _gap(run)

    return Finding(
        (
            every_run(wide, below, "|Σ2 − Σ3|/n at most F"),
            small_ladder(small, _gap, "|Σ2 − Σ3|/n over F, in 1/c0"),
        ),
        {"all widths": span(wide, _gap), "all c0": span(small, _gap)},
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-L4.3",
        place="Lemma 4.3; Theorem E.19; equation (8)",
        statement="From some T_half ≤ T1 to T1, (1 + C) max(G1', G2') ≤ −G3' ≤ "
        "(1 − C)(G1' + G2') for a constant C > 0, and G1', G2' are at least "
        "Ω((σ0² + σ1²) m m1).",
        needs=PHASE_ONE,
        judge=_judge_overtaking,
        predicate="from 1.5 T_half on (at T_half itself the ratio is 1 by definition) "
        "both constants and the least target velocity over the readout gain b, which "
        "is Θ(σ1² m m1) by A-E.27, are Ω(1) by the ladder's rule, falling by at most "
        "3; a point for each of 3 seeds",
        source=f"{THEORY_RUNS}, which judge the readouts' own velocities, as the lemma "
        "does. For class weights without noise R is at least 1.27 and U at most 0.693",
        mutations=named(
            mutate.swap(
                ALL, ("value_rate", "value_rate_at_end"), "token", ("mu1", "mu3")
            ),
            mutate.scale("m=131072", "value_rate_at_end", 0.2),
            with_width(("value_rate", "value_rate_at_end"), -0.2),
        ),
    ),
    _claim(
        id="A-E.21",
        place="Proposition E.21",
        statement="In Phase 1 the class weights of the two one-target types differ by "
        "at most n O(F), F the largest initial output.",
        needs={**PHASE_ONE, **SMALL},
        judge=_judge_gap,
        predicate="|Σ2 − Σ3|/n is at most F in every run (5 widths, 3 seeds); over F "
        "it is O(1) as F vanishes, by the ladder's rule in 1/c0 from c0 = 0.3 to "
        "0.003 at m = 8192, the largest of 3 seeds growing by at most 3",
        source=f"{THEORY_RUNS}; {EARLIER}: 0.002 to 0.017",
        mutations=named(
            mutate.swap(
                ALL,
                ("pull_by_group", "pull_by_group_at_end"),
                "group",
                ("both", "first"),
            ),
            mutate.scale("m=8192", "margin", 1e-3),
            mutate.replace("c0=0.003", "pull_by_group", 0.1),
            mutate.scale("c0=0.003", "pull_by_group", 100.0),
        ),
    ),
)
