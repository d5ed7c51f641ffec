"""Lemma 5.4, F(t) and N(t): in the last stage the winner's value grows like log t."""

from __future__ import annotations

import numpy as np

from attnflow.claims import All, AtLeast, AtMost, look
from attnflow.papers.vit.claims import evidence as ev
from attnflow.papers.vit.claims import measures
from attnflow.papers.vit.claims.measures import during, exp, size_of, stage_end, winner
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

CONSTANTS = {"benign": 0.07, "harmful": 20.0}


def _first(run: xr.Dataset) -> xr.DataArray:
    """The first record at T2 or later, by seed; NaN where there is none."""
    later = look.between(run, stage_end(run, "T2"), stage_end(run, "T3"))
    return run[TIME].where(later).min(TIME)


def _log_growth(run: xr.Dataset) -> xr.DataArray:
    """(e^V(t) − e^V(T2)) over unit · (t − T2), by sample."""
    start, exponential = _first(run), exp(winner(run))
    first = look.at(run, start, exponential).drop_vars(TIME, errors="ignore")
    return (exponential - first) / (measures.unit(run) * (run[TIME] - start))


def _later(run: xr.Dataset) -> xr.DataArray:
    return look.between(run, _first(run), stage_end(run, "T3"), closed="right")


_AFTER = {"when": during("T1", "T3"), "period": "from T1 to T3"}
REST = All(
    (
        AtLeast(
            "winner's value over 3M times the others", measures.lead, 1.0, **_AFTER
        ),
        AtMost("others' values", measures.largest_other, 0.1, **_AFTER),
        AtMost(
            "winner's value over 2 log(1/ε)",
            lambda run: winner(run) / (2 * np.log(1 / size_of(run).target)),
            1.0,
            **_AFTER,
        ),
    )
)
CLAIMS = (
    ev.sampled_claim(
        id="D-Lem5.4",
        place="Lemma 5.4; propositions F(t) and N(t)",
        statement="From T2 to T3 the winner's value is at least "
        "log(e^V(T2) + Cη‖μ‖²‖w_O‖²(t − T2)) with C = 0.07, harmful with σ_p²d/N for "
        "‖μ‖² and C = 20.",
        under=ev.CONDITION,
        needs=ev.SAMPLED_RUNS,
        judge=AtLeast(
            "C of the winner's value",
            _log_growth,
            CONSTANTS,
            when=_later,
            period="from T2 to T3",
        ),
        predicate=(
            "the lemma's C is any constant: ours are half of the smallest on seeds "
            "0–4; late C tends to N_y/N = 1/2, and to C_p² = 100"
        ),
    ),
    *(
        ev.sampled_claim(
            id=f"D-Prop{name}",
            place=f"Proposition {name}(t)",
            statement=f"In the {regime} regime, up to T3, all values but the winner's "
            "are at most 0.1 and a 3M-th of it, and the winner's at most 2 log(1/ε).",
            under=ev.UNDER[regime],
            needs={regime: ev.SAMPLED_RUNS[regime]},
            judge=REST,
            predicate="o(1) read as 0.1, O(log(1/ε)) as 2 log(1/ε)",
            source="our runs, seeds 200–209 (0.025 and 0.0007 at the end on seeds 0–4)",
        )
        for name, regime in (("F", "benign"), ("N", "harmful"))
    ),
)
