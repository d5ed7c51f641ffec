"""Readouts, margins and loss at T1, the end of Phase 1 (Theorems 3.1, E.27)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import (
    CONDITION,
    EARLIER,
    END_OF_PHASE_ONE,
    FLOW,
    THEORY_RUNS,
    WIDTHS,
    at_end,
    phase_one,
)
from attnflow.papers.cooccurrence.claims.ladders import (
    by_width,
    every_run,
    ladder,
    per_gain,
    span,
    variances,
    with_width,
)

ALL = mutate.EVERY
PHASE_ONE = {f"m={width}": phase_one(width) for width in WIDTHS}
MARGIN = 0.1
"""The lower constant of Θ for margins at T1; the upper is its inverse."""
AT_T1 = f"at T1 = {END_OF_PHASE_ONE:g}/(σ1² m m1)"
_claim = partial(
    Claim,
    system=FLOW,
    needs=PHASE_ONE,
    scope=Scope.THEOREM,
    conditions=f"{CONDITION}; T1 = 20/(σ1² m m1)",
    expected=Verdict.HOLDS,
)


def _readouts(run: xr.Dataset) -> xr.DataArray:
    """G1, G2 and −G3 at T1, by seed and token."""
    value = at_end(run)["value"].isel(head=0)
    return xr.where(value["token"] == "mu3", -value, value)


def _least_readout(run: xr.Dataset) -> xr.DataArray:
    return _readouts(run).min("token")


def _largest_readout(run: xr.Dataset) -> xr.DataArray:
    return _readouts(run).max("token")


def _loss(run: xr.Dataset) -> xr.DataArray:
    return at_end(run)["loss"]


def _least_margin(run: xr.Dataset) -> xr.DataArray:
    return at_end(run)["margin"].min("sample")


def _largest_margin(run: xr.Dataset) -> xr.DataArray:
    return at_end(run)["margin"].max("sample")


def _gain(run: xr.Dataset) -> xr.DataArray:
    return at_end(run)["readout_gain"].isel(head=0) * per_gain(run)


def _first_gain(run: xr.Dataset) -> xr.DataArray:
    return run["readout_gain"].isel(head=0, time=0) * per_gain(run)


def _growth(run: xr.Dataset) -> xr.DataArray:
    """Relative change of the readout gain by T1."""
    return abs(_gain(run) / _first_gain(run) - 1)


def _filler_readouts(run: xr.Dataset) -> xr.DataArray:
    """The largest |G| of a filler at T1 over σ0 σ1 sqrt(m m1)."""
    value = at_end(run)["vocabulary_value"].isel(head=0)
    rest = value.drop_sel(vocabulary=["mu1", "mu2", "mu3"])
    first, inner = variances(run)
    setting = schema.setting_of(run)
    size = np.sqrt(first * inner * setting["width"] * setting["neurons"])
    return abs(rest).max("vocabulary") / size


def _judge_readouts(evidence: Evidence) -> Finding:
    what = f"least of G1, G2, −G3 {AT_T1}"
    check = ladder(evidence, _least_readout, "Omega", what, constant=2.0)
    return Finding((check,), {"least of G1, G2, −G3": span(evidence, _least_readout)})


def _judge_margins(evidence: Evidence) -> Finding:
    check = every_run(evidence, _least_margin, f"least margin {AT_T1}")
    return Finding((check,), {"least margin": by_width(evidence, _least_margin)})


def _judge_loss(evidence: Evidence) -> Finding:
    check = ladder(evidence, _loss, "theta", f"loss {AT_T1}", constant=2.0)
    return Finding((check,), {"loss": span(evidence, _loss)})


def _judge_end(evidence: Evidence) -> Finding:
    low = every_run(evidence, lambda run: _least_margin(run) - MARGIN, "margins ≥ 0.1")
    high = every_run(
        evidence, lambda run: 1 / MARGIN - _largest_margin(run), "margins ≤ 10"
    )
    what = "largest filler readout over σ0 σ1 sqrt(m m1)"
    return Finding(
        (
            low,
            high,
            ladder(evidence, _least_readout, "theta", "least of G1, G2, −G3"),
            ladder(evidence, _largest_readout, "theta", "largest of G1, G2, −G3"),
            ladder(evidence, _filler_readouts, "O-tilde", what),
            ladder(evidence, _first_gain, "theta", "b(0) over σ1² m m1"),
            ladder(evidence, _growth, "o(1)", "relative change of b by T1"),
        ),
        {
            "margins": [
                span(evidence, _least_margin)[0],
                span(evidence, _largest_margin)[1],
            ],
            "G1, G2, −G3": [
                span(evidence, _least_readout)[0],
                span(evidence, _largest_readout)[1],
            ],
            "fillers over σ0 σ1 √(m m1)": span(evidence, _filler_readouts),
            "b over σ1² m m1": by_width(evidence, _gain),
        },
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-Thm3.1-i1",
        place="Theorem 3.1, item 1; Theorem E.28",
        statement="At the end of Phase 1 the readouts of both targets are at least "
        "Ω(1), and that of the common token at most −Ω(1).",
        judge=_judge_readouts,
        predicate=f"the least of G1, G2, −G3 {AT_T1} is Ω(1) by the ladder's rule, "
        "falling by at most 2; a point for each of 3 seeds",
        source=f"{THEORY_RUNS}; {EARLIER}: 1.24 to 1.64",
        mutations=named(
            mutate.swap(ALL, "value_at_end", "token", ("mu1", "mu3")),
            with_width("value_at_end", -0.1),
            mutate.scale("m=131072", "value_at_end", 0.3),
        ),
    ),
    _claim(
        id="A-Thm3.1-i2",
        place="Theorem 3.1, item 2; Theorem E.28",
        statement="At the end of Phase 1 every training sample is classified rightly.",
        judge=_judge_margins,
        predicate=f"all margins are positive {AT_T1}, in every run",
        source=f"{THEORY_RUNS}; {EARLIER}: 0.44 to 0.59",
        mutations=named(
            mutate.negate(ALL, "margin_at_end"),
            mutate.some_seeds(0.3, mutate.add(ALL, "margin_at_end", -1.0)),
            mutate.only("m=512", mutate.add(ALL, "margin_at_end", -1.0)),
        ),
    ),
    _claim(
        id="A-Thm3.1-i4",
        place="Theorem 3.1, item 4; Theorem E.28",
        statement="At the end of Phase 1 the training loss is still Θ(1).",
        judge=_judge_loss,
        predicate=f"the loss {AT_T1} is Θ(1) by the ladder's rule, within a factor 2; "
        "a point for each of 3 seeds",
        source=f"{THEORY_RUNS}; {EARLIER}: 0.25 to 0.29",
        mutations=named(
            with_width("loss_at_end", -0.1),
            with_width("loss_at_end", 0.1),
            mutate.scale("m=131072", "loss_at_end", 0.1),
        ),
    ),
    _claim(
        id="A-E.27",
        place="Theorem E.27",
        statement="At T1 all margins, the readouts of both targets and minus that of "
        "the common token are Θ(1), readouts of fillers Õ(σ0 σ1 sqrt(m m1)), and the "
        "readout gain is Θ(σ1² m m1).",
        judge=_judge_end,
        predicate=f"{AT_T1}: every margin of every run between 0.1 and 10 (single "
        "margins scatter with initial outputs, which hides a slope); G1, G2, −G3 and "
        "b(0)/(σ1² m m1) by the ladder's rule for Θ, fillers for Õ, within a factor 3, "
        "and b changes by o(1) of itself; a point for each of 3 seeds",
        source=THEORY_RUNS,
        mutations=named(
            mutate.scale(ALL, "margin_at_end", 0.2),
            with_width("value_at_end", 0.1),
            with_width("vocabulary_value_at_end", 0.5),
            with_width("readout_gain_at_end", 0.1),
        ),
    ),
)
