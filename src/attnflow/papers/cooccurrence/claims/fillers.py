"""Readouts of fillers in Phase 2, and their contribution to outputs."""

import math
from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Finding, Ladder, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.courses import (
    LARGE_CONDITION,
    LARGE_TABLES,
    LARGE_WIDTHS,
    Course,
    at_widths,
    ladder,
    over_logs,
    worst,
)
from attnflow.papers.cooccurrence.claims.evidence import FLOW, THEORY_RUNS, noise_free
from attnflow.papers.cooccurrence.claims.ladders import with_width
from attnflow.papers.cooccurrence.claims.quiet import filler_outputs, quiet_rows

ALL = mutate.EVERY
_claim = partial(
    Claim,
    system=FLOW,
    needs=LARGE_WIDTHS,
    scope=Scope.THEOREM,
    conditions=LARGE_CONDITION,
    expected=Verdict.HOLDS,
    source=THEORY_RUNS,
)
NAMED = 3


def _filler_change(course: Course) -> np.ndarray:
    """Largest |G − G(T1)| of a filler over the lemma's bound, by time."""
    values = course["vocabulary_value"][:, NAMED:]
    m, first = course.width, course.key_norm
    second = course.length * (first / m**0.5 + 1 / m) + first
    bound = 1 / course.samples + course.neurons * second / course.gain
    return np.abs(values - values[0]).max(axis=1) / bound


def _judge_filler_change(evidence: Evidence) -> Finding:
    what = "change of fillers' readouts over their bound"
    check = ladder(evidence, _filler_change, what, kind="O-tilde")
    return Finding((check,), over_logs(evidence, _filler_change, 1))


def _fillers(course: Course, *, absolute: bool) -> np.ndarray:
    """max_i |Σ_l Σ_fillers G p| by time; with `absolute`, of |G|."""
    values = course["value"][:, NAMED:]
    pooled = course["pooled_token"][:, :, NAMED:]
    values = np.abs(values) if absolute else values
    return np.abs(np.einsum("tiv,tv->ti", pooled, values)).max(axis=1)


TIED = (10**3, 10**4, 10**5, 10**6, 5 * 10**6)
"""Widths at which n grows with the logarithm that Condition 1 asks for."""


def tied_samples(width: float, length: int = 5) -> float:
    """Number of samples n = (L log m / 4)²: 61 at m = 512, L = 5."""
    return (length * math.log(width) / 4) ** 2


_TIED = {
    f"tied m={width}": noise_free(tied_samples(width), width=width) for width in TIED
}


def _tied_part(run: xr.Dataset) -> float:
    """Largest contribution of fillers to an output until the loss is 1/m."""
    rows, setting = quiet_rows(run), schema.setting_of(run)
    before = rows.isel(time=np.flatnonzero(rows["loss"] >= 1 / setting["width"]))
    return float(np.abs(filler_outputs(before["value"], setting["length"])).max())


def _judge_fillers(evidence: Evidence) -> Finding:
    tied = {n: run for n, run in evidence.items() if n.startswith("tied")}
    fixed = {n: run for n, run in evidence.items() if n not in tied}
    sizes = tuple(float(schema.setting_of(run)["width"]) for run in tied.values())
    parts = tuple(_tied_part(run) for run in tied.values())
    series = partial(_fillers, absolute=False)
    check = ladder(fixed, series, "fillers' part at n = 60", kind="O-tilde")
    inside = worst(fixed, partial(_fillers, absolute=True), np.max)
    what = "fillers' part with n = (L log m / 4)²"
    return Finding(
        (Ladder(sizes, parts, "O", what, constant=2.0), check),
        {
            "n tied to log²m": parts,
            "n = 60": at_widths(worst(fixed, series, np.max)),
            "n = 60, bars inside": at_widths(inside),
            "n = 60, at T1": at_widths(worst(fixed, lambda c: series(c)[:1], np.max)),
        },
    )


CLAIMS: tuple[Claim, ...] = (
    _claim(
        id="A-F.14",
        place="Lemma F.14",
        statement="In phase 2 readouts of fillers change by at most "
        "Õ(1/n + m1 (L (σ0² √m + 1/m) + σ0² m) / (σ1² m m1)).",
        judge=_judge_filler_change,
        predicate="the largest over fillers, phase 2 and seeds over this bound, by the "
        "rule for Õ with powers of log m up to 2; one is needed",
        mutations=named(
            with_width("vocabulary_value", 0.5),
            mutate.power(ALL, "vocabulary_value", 8.0),
        ),
    ),
    _claim(
        id="A-F.15",
        place="Corollary F.15; Definition F.1",
        statement="In phase 2 fillers contribute O(1) to every output: "
        "|Σ_l Σ_fillers G p| is bounded.",
        judge=_judge_fillers,
        predicate="until the loss is 1/m: without noise the largest contribution by "
        "the rule for O with n = (L log m / 4)² over m = 1e3 … 5e6, since Condition 1 "
        "asks for n ≥ L² times logarithms; and with noise at n = 60 by that for Õ over "
        "m = 8192 … 1048576, where it grows like log m",
        needs={**_TIED, **LARGE_TABLES},
        conditions=f"{LARGE_CONDITION}; without noise n = (L log m / 4)²",
        source=f"{THEORY_RUNS}, and runs without noise (reader's note A-N8b): bounded "
        "for the theorem's n, growing with log m at fixed n",
        mutations=named(
            with_width("value", 0.3),
            mutate.only(f"tied m={TIED[-1]}", mutate.scale(ALL, "value", 3.0)),
        ),
    ),
)
