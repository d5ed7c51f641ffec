"""Claims on the rates at T1, with which stage 2 begins (Appendix E.5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_ONE
from attnflow.schema.installation import xr

ALL = mutate.EVERY
_claim = partial(
    c.Claim,
    kind=c.Kind.IDENTITY,
    under=(*STAGE_ONE, "T1"),
    system=ev.FLOW,
    needs=ev.LADDER,
    settings=ev.SETTINGS,
    predicate="at T1; 1e-9 is the flow's error",
    expected=c.Verdict.FAILS,
)


def _at_t1(run: xr.Dataset) -> xr.DataArray:
    """The first record of stage 2."""
    return look.between(run, ev.stage_end(run, 0), ev.stage_end(run, 0))


def _at_start(what: str, error: Callable[[xr.Dataset], xr.DataArray]) -> c.Equal:
    """An identity at T1, up to the flow's error."""
    return c.Equal(what, error, 1e-9, when=_at_t1)


def _start_error(run: xr.Dataset, *, factor: float) -> xr.DataArray:
    """Relative deviation of the main score's rate at T1 from `factor · g ω² w_c`."""
    rate = ev.entry(run, "score_rate", "c1", "v1")
    return rate / (factor * 0.5 * ev.omega_of(run) ** 2 * ev.group_value(run)) - 1


def _start_ratio(run: xr.Dataset) -> xr.DataArray:
    """The rate of key v1 and query c1 over that of the main score."""
    return ev.entry(run, "score_rate", "v1", "c1") / ev.entry(
        run, "score_rate", "c1", "v1"
    )


def _negated_entry(table: xr.DataArray) -> xr.DataArray:
    is_entry = (table["key"] == "v1") & (table["query"] == "c1")
    return (table * xr.where(is_entry, -1.0, 1.0)).transpose(*table.dims)


START = (
    _claim(
        id="B-E.5.1",
        place="Appendix E.5.1; proof of Lemma E.1; Section 5.2",
        statement="At T1 the main score starts to grow at the rate "
        "(4/3)(2/3) g ω² w_c.",
        judge=_at_start(
            "rate at T1 over the printed one, less 1",
            partial(_start_error, factor=8 / 9),
        ),
        source="our runs at infinite width: only a constant is affected",
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            "The rate is (2/9) g ω² w_c: the mean over the four conflicting samples "
            "has a factor 1/4 that the printed sum lacks.",
            _at_start(
                "rate at T1 over the corrected one, less 1",
                partial(_start_error, factor=2 / 9),
            ),
        ),
        mends=c.named(mutate.scale(ALL, "score_rate", 4.0)),
        witness=c.Witness(
            "witnesses/rates.py",
            {"error": ("omega=0.1: rate at T1 over the printed one, less 1",)},
        ),
    ),
    _claim(
        id="B-E.1-sign",
        place="proof of Lemma E.1",
        statement="At T1 the score of key v1 and query c1 grows at half the rate of "
        "the main one, with a positive sign.",
        judge=_at_start(
            "ratio of the rates at T1 less a half", lambda run: _start_ratio(run) - 0.5
        ),
        source="our runs at infinite width: the lemma stands, since its proof compares "
        "absolute values",
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "It falls at half that rate, as Lemma E.5 says.",
            _at_start(
                "ratio of the rates at T1 plus a half",
                lambda run: _start_ratio(run) + 0.5,
            ),
        ),
        mends=c.named(
            mutate.mapped(
                "rate of key v1 and query c1 negated", ALL, "score_rate", _negated_entry
            )
        ),
        witness=c.Witness(
            "witnesses/rates.py",
            {"ratio less a half": ("omega=0.1: ratio of the rates at T1 less a half",)},
        ),
    ),
)
