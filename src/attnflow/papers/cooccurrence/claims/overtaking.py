"""Phase 1: the common token overtakes the targets, one-target types stay balanced."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.neurons import largest_output
from attnflow.papers.cooccurrence.claims.windows import ladder, sizes, to_t1, with_width
from attnflow.papers.cooccurrence.conditions import THEOREM
from attnflow.schema.installation import xr

ALL = mutate.EVERY
SMALL = {f"c0={c0:g}": ev.small_outputs(c0) for c0 in ev.SMALLER}
LATER = 1.5
"""At T_half itself the ratio is 1 by definition; C > 0 is checked a little later."""
VELOCITIES = ("value_rate", "value_rate_at_end")
_claim = templates.in_theory


def _late(run: xr.Dataset, table: xr.DataArray) -> np.ndarray:
    """The least entry from 1.5 T_half to T1."""
    half = look.by_seed(run, stages.common_overtakes(run))
    return look.least(table, table["time"] >= LATER * half)


def _velocities(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """G1' and G2', by token, and −G3'."""
    rate = to_t1(run, "value_rate").isel(head=0, drop=True)
    return rate.sel(token=["mu1", "mu2"]), -rate.sel(token="mu3", drop=True)


def _excess(run: xr.Dataset) -> np.ndarray:
    """The least −G3' / max(G1', G2') − 1."""
    targets, common = _velocities(run)
    return _late(run, common / targets.max("token", skipna=False)) - 1


def _slack(run: xr.Dataset) -> np.ndarray:
    """The least 1 + G3' / (G1' + G2')."""
    targets, common = _velocities(run)
    return _late(run, 1 - common / targets.sum("token", skipna=False))


def _speed(run: xr.Dataset) -> np.ndarray:
    """The least of G1', G2' over the readout gain b."""
    return _late(run, _velocities(run)[0] / to_t1(run, "readout_gain").isel(head=0))


def _printed_speed(run: xr.Dataset) -> np.ndarray:
    """The least of G1', G2' over (σ0² + σ1²) m m1."""
    size = sizes(run)
    total = (size.first + size.inner) * size.width * size.neurons
    return _late(run, _velocities(run)[0]) / total


def _gap(run: xr.Dataset) -> np.ndarray:
    """The largest |Σ2 − Σ3| / n over F."""
    pull = to_t1(run, "pull_by_group")
    gap = pull.sel(group="first", drop=True) - pull.sel(group="second", drop=True)
    return look.largest(abs(gap)) / largest_output(run)


def _unbalanced(run: xr.Dataset) -> xr.Dataset:
    """Mutation: one of the one-target types weighs more, whatever F is."""
    names = ("pull_by_group", "pull_by_group_at_end")
    return run.assign(
        {n: run[n] * xr.where(run["group"] == "first", 1.3, 1.0) for n in names}
    )


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-L4.3",
        place="Lemma 4.3; Theorem E.19; equation (8)",
        statement="From some T_half ≤ T1 to T1, (1 + C) max(G1', G2') ≤ −G3' ≤ "
        "(1 − C)(G1' + G2') for a constant C > 0, and G1', G2' are at least "
        "Ω((σ0² + σ1²) m m1).",
        needs=ev.FIRST_PHASE,
        judge=c.All(
            (
                ladder("−G3'/max(G1', G2') − 1 from 1.5 T_half on", _excess, "Omega"),
                ladder("1 + G3'/(G1' + G2') from 1.5 T_half on", _slack, "Omega"),
                ladder("G1', G2' over b from 1.5 T_half on", _speed, "Omega"),
            ),
            also={
                "least of G1', G2' over (σ0² + σ1²) m m1": lambda evidence: [
                    float(_printed_speed(run).min()) for run in evidence.values()
                ]
            },
        ),
        predicate="at T_half itself the ratio is 1 by definition; b is Θ(σ1² m m1) by "
        "A-E.27",
        source=f"{ev.THEORY_RUNS}, judged by the velocities of the readouts "
        "themselves, as in the lemma. For class weights without noise R is at "
        "least 1.27 and U at most "
        "0.693",
        mutations=c.named(
            mutate.swap(ALL, VELOCITIES, "token", ("mu1", "mu3")),
            with_width(VELOCITIES, -0.2),
        ),
    ),
    _claim(
        id="A-E.21",
        place="Proposition E.21",
        statement="In Phase 1 the class weights of the two one-target types differ by "
        "at most n O(F), F the largest initial output.",
        under=tuple(name for name in THEOREM if name != "F(0)"),
        needs={**ev.FIRST_PHASE, **SMALL},
        judged=tuple(ev.FIRST_PHASE),
        judge=c.All(
            (
                c.AtMost("|Σ2 − Σ3|/n over F", _gap, 1.0, of=("m=*",)),
                c.Rungs(
                    "|Σ2 − Σ3|/n over F, in 1/c0, the largest of 3 seeds",
                    lambda run: float(_gap(run).max()),
                    "O",
                    lambda run: 1 / schema.setting_of(run)["c0"],
                    of=("c0=*",),
                    constant=3.0,
                ),
            )
        ),
        predicate="at m = 8192 F vanishes with c0 from 0.3 to 0.003",
        settings=f"{ev.ALONG_M}; and in F, by σ0",
        source=f"{ev.THEORY_RUNS}; {ev.EARLIER}: 0.002 to 0.017",
        mutations=c.named(
            mutate.on_run("pulls of the first target by 1.3", ALL, _unbalanced)
        ),
    ),
)
