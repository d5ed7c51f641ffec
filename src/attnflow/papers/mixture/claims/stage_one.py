"""Claims on stage 1: alignment of the neurons with class and group tokens."""

import math
from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.claims.evidence import (
    at_end,
    is_consistent,
    labels,
    loss_slopes,
)
from attnflow.schema.declarations import Request

RUNS = {f"T1={t:g}": Request("stage1", {"T1": t}, seeds=1) for t in (3.0, 10.0, 100.0)}
# rtol = 1e-13 for each of at most 401 steps between records.
FLOW_ERROR = 401 * 1e-13
# A sum of 8 terms, each of a few operations on numbers of order 1.
ROUNDING = 64 * float(np.finfo(float).eps)

_claim = partial(
    Claim,
    system="gradient flow of stage 1 at infinite width",
    needs=RUNS,
    scope=Scope.THEOREM,
    conditions="m infinite, w(0) = 0, b = 1/2; T1 = 3, 10, 100",
    expected=Verdict.HOLDS,
    source="our runs at infinite width (deterministic), T1 = 3, 10, 100",
)


def _runs(evidence: Evidence) -> list[xr.Dataset]:
    return [run.isel(seed=0) for run in evidence.values()]


def _bias(run: xr.Dataset) -> float:
    return schema.setting_of(run)["bias"]


def _active(run: xr.Dataset) -> np.ndarray:
    """Activation pattern: whether each ReLU is on, with dims (time, sample, head)."""
    heads = run["head_output"].transpose("time", "sample", "head")
    return heads.values + _bias(run) > 0


def _judge_closed_form(evidence: Evidence) -> Finding:
    errors, alignments = [], []
    for run in _runs(evidence):
        v, c = formulas.stage_one(run["time"].values, _bias(run))
        exact = xr.DataArray(np.stack([c, c, v, v], axis=1), dims=("time", "token"))
        errors.append(abs(run["value"].sel(head="+") - exact).max())
        alignments.append(at_end(run, -1)["value"].sel(head="+").values)
    size = np.abs(np.log10(np.maximum(np.array(alignments), 1e-99))).max()
    return Finding(
        (
            Exact(float(max(errors)), FLOW_ERROR, "closed form of w·v and w·c"),
            Exact(float(size), 2.0, "decades of w·v, w·c at T1 from 1"),
        ),
        {"alignment at T1": np.array(alignments)[:, [0, 2]], "error": max(errors)},
    )


def _judge_switch(evidence: Evidence) -> Finding:
    times = np.array([float(run["stage_end"][0]) for run in _runs(evidence)])
    formula = np.array([formulas.switch_time(_bias(run)) for run in _runs(evidence)])
    error = np.abs(times - formula).max()
    check = Exact(float(error), FLOW_ERROR, "T_half against b + (e^{2b} − 1)/2")
    return Finding((check,), {"T_half": times[0], "formula": formula[0]})


def _rates(run: xr.Dataset, pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Recorded rates of the neurons, and those that Lemmas 5.2 and 5.3 give.

    They are taken at the records whose ReLUs have the `pattern` (sample, head). Under
    uniform attention a consistent sample adds g/8 to the rate of each of its tokens;
    the conflicting ones cancel.
    """
    rows = (_active(run) == pattern).all(axis=(1, 2))
    matching = run.isel(time=np.flatnonzero(rows))
    names = [str(name).split() for name in run["sample"].values]
    tokens = [str(token) for token in run["token"].values]
    counts = np.array([[_count(name, token) for token in tokens] for name in names])
    sign = labels(run)[:, None] * np.array([1.0, -1.0])
    weight = np.where(pattern, sign, 0.0) * is_consistent(run)[:, None]
    expected = np.einsum("tn,nh,nk->thk", loss_slopes(matching) / 8, weight, counts)
    recorded = matching["value_rate"].transpose("time", "head", "token").values
    return recorded, expected


def _count(sample: list[str], token: str) -> float:
    return float(sample.count(token)) - float(sample.count(f"-{token}"))


def _judge_rates(evidence: Evidence, *, switched: bool) -> Finding:
    errors, rows = [], 0
    for run in _runs(evidence):
        on = np.ones((run.sizes["sample"], 2), bool)
        if switched:
            on = _stated_pattern(run)
        recorded, expected = _rates(run, on)
        rows += len(recorded)
        errors.append(np.abs(recorded - expected).max(initial=0.0))
    error = max(errors) if rows else math.nan
    check = Exact(float(error), ROUNDING, f"rates of the neurons in {rows} records")
    return Finding((check,), {"error": error, "records": rows})


def _stated_pattern(run: xr.Dataset) -> np.ndarray:
    """Activation pattern: each head is off on consistent samples of the other label."""
    sign = labels(run)[:, None] * np.array([1.0, -1.0])
    return ~(is_consistent(run)[:, None] & (sign < 0))


def _judge_pattern(evidence: Evidence) -> Finding:
    wrong, rows = 0, 0
    for run in _runs(evidence):
        # The switching time is known only up to FLOW_ERROR.
        late = run["time"] > float(run["stage_end"][0]) + 1e-6
        active = _active(run)[late.values]
        wrong += int((active != _stated_pattern(run)).sum())
        rows += active.size
    check = Exact(
        float(wrong), 0.0, f"activations, of {rows}, that differ from the stated ones"
    )
    return Finding((check,), {"otherwise": wrong, "of": rows})


def _judge_outputs(evidence: Evidence) -> Finding:
    conflicting, consistent = [], []
    for run in _runs(evidence):
        margin = labels(run) * at_end(run, -1)["output"].values
        consistent.append(margin[is_consistent(run)].min())
        conflicting.append(np.abs(margin[~is_consistent(run)]).max())
    least = min(consistent)
    return Finding(
        (
            Exact(float(max(conflicting)), 16 * ROUNDING, "output on conflicting"),
            Exact(1 / least if least > 0 else math.inf, 10.0, "1 / y f on consistent"),
        ),
        {"y f on consistent": consistent, "conflicting": max(conflicting)},
    )


_OTHER_BIAS = mutate.setting(mutate.EVERY, bias=0.49)

STAGE_ONE = (
    _claim(
        id="B-Thm4.1-T1",
        place="Theorem 4.1; Corollary D.7",
        statement="After a stage 1 of length T1 = Θ(1) the neurons' alignment with "
        "class and group tokens is positive and of order 1.",
        judge=_judge_closed_form,
        predicate="at every record w·v and w·c equal our closed form (by the Wright "
        "omega function) to 4e-11 = rtol · records; at T1 both are within a factor 100 "
        "of 1",
        mutations=named(
            mutate.scale(mutate.EVERY, "value", 1.000001),
            mutate.constant(mutate.EVERY, "value"),
            mutate.swap(mutate.EVERY, "value", "token", ("c1", "v1")),
            _OTHER_BIAS,
        ),
    ),
    _claim(
        id="B-D.3",
        place="Corollary D.3",
        statement="The heads switch off on the consistent samples of the other label "
        "at a time T_half = Θ(1): b + (e^{2b} − 1)/2, as we find.",
        judge=_judge_switch,
        predicate="the event is at the formula's time to 4e-11 = rtol · records",
        mutations=named(mutate.scale(mutate.EVERY, "stage_end", 1.000001), _OTHER_BIAS),
    ),
    _claim(
        id="B-L5.2",
        place="Lemma 5.2; Lemmas D.1, D.2",
        statement="While every ReLU is active the neurons grow along the class tokens "
        "at the mean pull of the consistent samples, and not at all along the group "
        "tokens.",
        judge=partial(_judge_rates, switched=False),
        predicate="recorded rates equal (1/8) Σ g to 1.5e-14, the rounding of such a "
        "sum, at every record where all ReLUs are on",
        mutations=named(
            mutate.scale(mutate.EVERY, "value_rate", 1.000001),
            mutate.swap(mutate.EVERY, "value_rate", "token", ("c1", "v1")),
            mutate.swap(mutate.EVERY, "output", "sample", ("c1 v1 v2", "c1 v1 -v2")),
        ),
    ),
    _claim(
        id="B-L5.3",
        place="Lemma 5.3; Lemmas D.4, D.5",
        statement="Once a head is off on the consistent samples of the other label, "
        "the remaining ones drive its neurons along class and group tokens alike.",
        judge=partial(_judge_rates, switched=True),
        predicate="recorded rates equal (1/8) Σ g over the active samples to 1.5e-14, "
        "at every record where the ReLUs have the stated pattern",
        mutations=named(
            mutate.scale(mutate.EVERY, "value_rate", 1.000001),
            mutate.swap(mutate.EVERY, "value_rate", "token", ("c1", "v1")),
            mutate.swap(mutate.EVERY, "value_rate", "head", ("+", "-")),
        ),
    ),
    _claim(
        id="B-D.6",
        place="Corollary D.6",
        statement="From T_half to T1 each head is off on the consistent samples of the "
        "other label and on for all others.",
        judge=_judge_pattern,
        predicate="at every record after T_half all signs of H + b are the stated ones",
        source="our runs at infinite width. Later they switch on again: in stage 3 "
        "about 25 after T2, and in simultaneous training",
        mutations=named(
            mutate.swap(mutate.EVERY, "head_output", "head", ("+", "-")),
            mutate.constant(mutate.EVERY, "head_output"),
            mutate.add(mutate.EVERY, "head_output", 1.0),
        ),
    ),
    _claim(
        id="B-D.8",
        place="Theorem D.8",
        statement="At T1 the output on conflicting samples is 0, and on consistent "
        "ones it has the label's sign and is Ω(1).",
        judge=_judge_outputs,
        predicate="|f| ≤ 2e-13 (rounding of H up to 4) on conflicting samples; y f ≥ "
        "1/10 on consistent ones, for T1 = 3, 10, 100",
        mutations=named(
            mutate.add(mutate.EVERY, "output_at_end", 1e-9),
            mutate.negate(mutate.EVERY, "output_at_end"),
            mutate.scale(mutate.EVERY, "output_at_end", 0.01),
        ),
    ),
)
