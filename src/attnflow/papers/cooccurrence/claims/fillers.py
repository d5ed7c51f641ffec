"""Phase 2: readouts of fillers, and their part in outputs."""

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
from attnflow.papers.cooccurrence.claims.evidence import FLOW, noise_free
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
    source="sheet A section 7, and our run",
)
NAMED = 3


def _filler_change(course: Course) -> np.ndarray:
    """The largest |G − G(T1)| of a filler over 1/n and the lemma's second term."""
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
    """max_i |Σ_l Σ_fillers G p|, or with the bars inside, by time."""
    values = course["value"][:, NAMED:]
    pooled = course["pooled_token"][:, :, NAMED:]
    values = np.abs(values) if absolute else values
    return np.abs(np.einsum("tiv,tv->ti", pooled, values)).max(axis=1)


TIED = (10**3, 10**4, 10**5, 10**6, 5 * 10**6)
"""Widths at which n follows the logarithm that Condition 1 asks for."""


def tied_samples(width: float, length: int = 5) -> float:
    """The number n = (L log m / 4)², which is 61 at m = 512, L = 5."""
    return (length * math.log(width) / 4) ** 2


_TIED = {
    f"tied m={width}": noise_free(tied_samples(width), width=width) for width in TIED
}


def _tied_part(run: xr.Dataset) -> float:
    """The largest part of fillers in an output until the loss is 1/m."""
    rows, own = quiet_rows(run), schema.setting_of(run)
    before = rows.isel(time=np.flatnonzero(rows["loss"] >= 1 / own["width"]))
    return float(np.abs(filler_outputs(before["value"], own["length"])).max())


def _judge_fillers(evidence: Evidence) -> Finding:
    tied = {n: run for n, run in evidence.items() if n.startswith("tied")}
    fixed = {n: run for n, run in evidence.items() if n not in tied}
    sizes = tuple(float(schema.setting_of(run)["width"]) for run in tied.values())
    parts = tuple(_tied_part(run) for run in tied.values())
    own = partial(_fillers, absolute=False)
    check = ladder(fixed, own, "fillers' part at n = 60", kind="O-tilde")
    inside = worst(fixed, partial(_fillers, absolute=True), np.max)
    what = "fillers' part with n = (L log m / 4)²"
    return Finding(
        (Ladder(sizes, parts, "O", what, constant=2.0), check),
        {
            "n tied to log²m": parts,
            "n = 60": at_widths(worst(fixed, own, np.max)),
            "n = 60, bars inside": at_widths(inside),
            "n = 60, at T1": at_widths(worst(fixed, lambda c: own(c)[:1], np.max)),
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
        predicate="until the loss is 1/m: without noise the largest part by the rule "
        "for O with n = (L log m / 4)² over m = 1e3 … 5e6, since Condition 1 asks for "
        "n ≥ L² times logarithms; and with noise at n = 60 by that for Õ over m = 8192 "
        "… 1048576, where it grows like log m",
        needs={**_TIED, **LARGE_TABLES},
        conditions=f"{LARGE_CONDITION}; without noise n = (L log m / 4)²",
        source="sheet A sections 7 and 8, item 8, and our run: bounded along the "
        "theorem's own n, growing with log m at fixed n",
        mutations=named(
            with_width("value", 0.3),
            mutate.only(f"tied m={TIED[-1]}", mutate.scale(ALL, "value", 3.0)),
        ),
    ),
)
