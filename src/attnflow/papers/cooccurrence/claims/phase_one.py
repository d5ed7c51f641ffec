"""Readouts, margins and loss at T1, the end of Phase 1 (Theorems 3.1, E.27)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.windows import at_t1, ladder, sizes, with_width
from attnflow.schema.installation import xr

ALL = mutate.EVERY
MARGIN = 0.1
"""The lower constant of Θ for margins at T1; the upper is its inverse."""
AT_T1 = "at T1 = 20/(σ1² m m1)"
AT_END = {"holes": "it is about T1, at which the run ends, and time 0"}
_claim = partial(templates.of_phase_one, survives=AT_END)


def _readouts(run: xr.Dataset) -> xr.DataArray:
    """G1, G2 and −G3 at T1, by seed and token."""
    value = at_t1(run, "value")
    return xr.where(value["token"] == "mu3", -value, value)


def _least_readout(run: xr.Dataset) -> np.ndarray:
    return look.least(_readouts(run))


def _margin(run: xr.Dataset) -> xr.DataArray:
    return at_t1(run, "margin")


def _first_gain(run: xr.Dataset) -> xr.DataArray:
    return run["readout_gain"].isel(head=0, time=0) / sizes(run).gain


def _growth(run: xr.Dataset) -> xr.DataArray:
    """Relative change of the readout gain by T1."""
    last = at_t1(run, "readout_gain").isel(head=0) / sizes(run).gain
    return abs(last / _first_gain(run) - 1)


def _filler_readouts(run: xr.Dataset) -> np.ndarray:
    """The largest |G| of a filler at T1 over σ0 σ1 sqrt(m m1)."""
    value = at_t1(run, "vocabulary_value")
    rest = value.drop_sel(vocabulary=["mu1", "mu2", "mu3"])
    size = sizes(run)
    return look.largest(abs(rest)) / np.sqrt(size.first * size.gain)


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-Thm3.1-i1",
        place="Theorem 3.1, item 1; Theorem E.28, item 1",
        statement="At the end of Phase 1 the readouts of both targets are at least "
        "Ω(1), and that of the common token at most −Ω(1).",
        judge=ladder(
            f"least of G1, G2, −G3 {AT_T1}", _least_readout, "Omega", constant=2.0
        ),
        source=f"{ev.THEORY_RUNS}; {ev.EARLIER}: 1.24 to 1.64",
        mutations=c.named(with_width("value_at_end", -0.1)),
    ),
    _claim(
        id="A-Thm3.1-i2",
        place="Theorem 3.1, item 2",
        statement="At the end of Phase 1 every training sample is classified "
        "correctly.",
        kind=c.Kind.UNIVERSAL,
        judge=c.AtLeast(
            f"margins {AT_T1}", _margin, 0.0, unit="difference", strict=True
        ),
        predicate="δ may be as small as 1/poly(m), so that no seed may fail",
        source=f"{ev.THEORY_RUNS}; {ev.EARLIER}: 0.44 to 0.59",
    ),
    _claim(
        id="A-Thm3.1-i4",
        place="Theorem 3.1, item 4; Theorem E.28, item 4",
        statement="At the end of Phase 1 the training loss is still Θ(1).",
        judge=ladder(
            f"loss {AT_T1}", lambda run: at_t1(run, "loss"), "theta", constant=2.0
        ),
        source=f"{ev.THEORY_RUNS}; {ev.EARLIER}: 0.25 to 0.29",
        mutations=c.named(with_width("loss_at_end", -0.1)),
    ),
    _claim(
        id="A-E.27",
        place="Theorem E.27",
        statement="At T1 all margins, the readouts of both targets and minus that of "
        "the common token are Θ(1), readouts of fillers Õ(σ0 σ1 sqrt(m m1)), and the "
        "readout gain is Θ(σ1² m m1).",
        judge=c.All(
            (
                c.AtLeast(f"margins {AT_T1}", _margin, MARGIN, unit="difference"),
                c.AtMost(
                    f"margins {AT_T1}, from above",
                    _margin,
                    1 / MARGIN,
                    unit="difference",
                ),
                ladder("least of G1, G2, −G3", _least_readout, "theta"),
                ladder(
                    "largest of G1, G2, −G3",
                    lambda run: look.largest(_readouts(run)),
                    "theta",
                ),
                ladder(
                    "largest filler readout over σ0 σ1 sqrt(m m1)",
                    _filler_readouts,
                    "O-tilde",
                ),
                ladder("b(0) over σ1² m m1", _first_gain, "theta"),
                ladder("relative change of b by T1", _growth, "o(1)"),
            )
        ),
        predicate="single margins scatter with initial outputs, which hides a slope: "
        "they are between constants of ours",
        source=ev.THEORY_RUNS,
        mutations=c.named(
            with_width("value_at_end", 0.1), with_width("readout_gain_at_end", 0.1)
        ),
    ),
)
