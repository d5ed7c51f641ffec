"""Phase 1: when samples are classified correctly, and which losses first rise."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.claims.stages import first_crossing
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    EARLIER,
    FLOW,
    THEORY_RUNS,
    WIDTHS,
    phase_one,
    with_end,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    every_run,
    ladder,
    span,
)
from attnflow.papers.cooccurrence.stages import events

ALL = mutate.EVERY
PHASE_ONE = {f"m={width}": phase_one(width) for width in WIDTHS}
MARGIN = 0.1
"""C of Corollary E.20."""
RISE = 0.02
"""A smaller rise of the loss would not be visible in the paper's figure."""
_claim = partial(
    Claim,
    system=FLOW,
    needs=PHASE_ONE,
    scope=Scope.THEOREM,
    conditions=f"{CONDITION}; training to 20/(σ1² m m1)",
    expected=Verdict.HOLDS,
)


def _all_right(run: xr.Dataset) -> np.ndarray:
    return events.clock_times(run, events.all_correct(run))


def _judge_time(evidence: Evidence) -> Finding:
    what = "b0 times when all samples are right for good"
    check = ladder(evidence, _all_right, "O-tilde", what)
    return Finding((check,), {"b0 T1": by_width(evidence, _all_right)})


def _one_target(run: xr.Dataset) -> xr.DataArray:
    """Margins of samples with exactly one target."""
    samples = [set(str(name).split()) for name in run["sample"].values]
    alone = [("mu1" in tokens) != ("mu2" in tokens) for tokens in samples]
    return run["margin"].isel(sample=np.flatnonzero(alone))


def _one_target_right(run: xr.Dataset) -> np.ndarray:
    least = _one_target(run).min("sample", skipna=False)
    event = first_crossing(run, least, level=MARGIN, name="T'")
    return events.clock_times(run, event)


def _judge_one_target(evidence: Evidence) -> Finding:
    what = "b0 times when one-target margins reach 0.1"
    check = ladder(evidence, _one_target_right, "O", what)
    return Finding((check,), {"b0 T'": by_width(evidence, _one_target_right)})


def _rises(run: xr.Dataset) -> xr.DataArray:
    """Largest over initial loss of each type, by seed and group."""
    loss = with_end(run, "loss_by_group")
    return loss.max("time") / loss.isel(time=0)


def _one_target_rise(run: xr.Dataset) -> xr.DataArray:
    return _rises(run).sel(group=["first", "second"]).min("group")


def _judge_rise(evidence: Evidence) -> Finding:
    def beyond(run: xr.Dataset) -> xr.DataArray:
        return (_one_target_rise(run) - 1) / RISE - 1

    def both_falls(run: xr.Dataset) -> xr.DataArray:
        loss = with_end(run, "loss_by_group").sel(group="both")
        later = loss.isel(time=slice(1, None)).max("time")
        return (1 - later / loss.isel(time=0)) / RISE

    return Finding(
        (
            every_run(evidence, beyond, "both one-target losses rise by 2%"),
            every_run(evidence, both_falls, "the loss with both targets never rises"),
        ),
        {"largest over first, the lesser type": span(evidence, _one_target_rise)},
    )


def _slower(run: xr.Dataset) -> xr.Dataset:
    """Mutation: margins as if everything took sqrt(m / 512) times as long."""
    stretch = (schema.setting_of(run)["width"] / WIDTHS[0]) ** 0.5
    later = run["margin"].interp(time=run["time"] / stretch)
    return run.assign(margin=later.assign_coords(time=run["time"]))


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-Thm3.1-T1",
        place="Theorem 3.1; Theorem E.26",
        statement="Phase 1 is over by a time Õ(1/m): all samples are right for good.",
        judge=_judge_time,
        predicate="the time from which on all margins are positive, times the readout "
        "gain b0 at time 0, is Õ(1) by the ladder's rule, growing by at most 3; a "
        "point for each of 3 seeds. b0 is Θ(σ1² m m1) by A-E.27",
        source=f"{THEORY_RUNS}; {EARLIER}: 8.9 to 10.2",
        mutations=named(
            mutate.shift("m=131072", "margin", 1e-2),
            mutate.on_run("times times sqrt(m)", ALL, _slower),
            mutate.add(ALL, "margin", -1.0),
        ),
    ),
    _claim(
        id="A-E.20",
        place="Corollary E.20",
        statement="By a time O(1/m) all samples with exactly one target have a margin "
        "of some constant C.",
        judge=_judge_one_target,
        predicate="the first time with all these margins at 0.1 or more, times b0 as "
        "in A-Thm3.1-T1, is O(1) by the ladder's rule, growing by at most 3; a point "
        "for each of 3 seeds. Margins are y F; the paper has F, which should be "
        "negative here (reader's note A-N6a)",
        source=THEORY_RUNS,
        mutations=named(
            mutate.on_run("times times sqrt(m)", ALL, _slower),
            mutate.negate(ALL, "margin"),
            mutate.add(ALL, "margin", -1.0),
        ),
    ),
    _claim(
        id="A-bump",
        place="Section 4.1; Figure 1b",
        statement="The loss of samples with one target first rises, while that of "
        "samples with both falls at once.",
        judge=_judge_rise,
        predicate="in every run the losses of both one-target types rise by 2% or "
        "more over their first value, and the loss with both targets stays below its "
        "first value",
        source=f"{THEORY_RUNS}; {EARLIER}: 1.07 to 1.15. From outputs of 0 it is 1.10 "
        "at n = 60 and at most 1.16, so that initial outputs of order 1 hide it",
        mutations=named(
            mutate.constant(ALL, "loss_by_group"),
            mutate.swap(ALL, "loss_by_group", "group", ("both", "first")),
            mutate.some_seeds(0.3, mutate.constant(ALL, "loss_by_group")),
        ),
    ),
)
