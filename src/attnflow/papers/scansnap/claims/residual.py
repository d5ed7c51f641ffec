"""Claims on initial scores as a prior (Section 5) and on the residual (Section 7)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import by_run, favourites, last, score
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

# Classes 0 and 1 have one query, 2 and 3 another. Token 0 is common to classes 0 and 2,
# and so distinct within its query; tokens 1 and 2 are common within one.
TWO_QUERIES = (
    *(0.3, 0.3, 0.0, 0.4, 0.0, 0.0, 0.0),
    *(0.0, 0.3, 0.0, 0.0, 0.7, 0.0, 0.0),
    *(0.3, 0.0, 0.3, 0.0, 0.0, 0.4, 0.0),
    *(0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.7),
)
RATES = (1.0, 0.2)
RESIDUALS = {
    f"{residual}, {rate:g}": ev.flow(
        "classes",
        classes=4,
        probability=TWO_QUERIES,
        query=(0, 0, 1, 1),
        vocabulary=100,
        residual=residual,
        score_rate=rate,
        until=1e4,
        record=("score", "score_velocity"),
    )
    for residual in ("none", "normalised", "plain")
    for rate in RATES
}
WIDTHS = (0.0, 0.17, 1.0, 2.0)
PRIORS = {
    f"{width:g}": Request(
        "syn-medium",
        {
            "queries": 1,
            "length": None,
            "score_start": width,
            "value_start": 0.0,
            "every": 10,
            "record": ("attention_per_class", "score", "loss"),
        },
        seeds=ev.PLAN,
    )
    for width in WIDTHS
}


def _across(run: xr.Dataset) -> xr.DataArray:
    """Z at the end of the token that is common across queries."""
    return last(score(run, "token0"))


def _within(run: xr.Dataset) -> xr.DataArray:
    """Z at the end of the token that is common within a query."""
    return last(score(run, "token1"))


def _times_more(run: xr.Dataset, bare: xr.Dataset) -> xr.DataArray:
    return _within(run) / _within(bare)


_below, _above = (
    partial(record, measure=_across, bound=0.0, unit="difference", strict=True)
    for record in (c.AtMost, c.AtLeast)
)
LOCAL = c.All(
    (
        _below("z of a token shared across queries", of=("none, *",)),
        _above("z of the same with a residual", of=("normalised, *", "plain, *")),
        *(
            c.AtLeast(
                f"{kind}, {rate:g}: loss of a token shared within a query over that "
                "without a residual",
                _times_more,
                2.0,
                of=(f"{kind}, {rate:g}", f"none, {rate:g}"),
                together=True,
            )
            for kind in ("normalised", "plain")
            for rate in RATES
        ),
    ),
    also={"distinct within its query": by_run(_across), "common": by_run(_within)},
)


def _moved(run: xr.Dataset) -> xr.DataArray:
    """By how many indices the most attended distinct token has moved."""
    return abs(favourites(run, -1) - favourites(run, 0))


def _undecided(evidence: c.Evidence) -> dict[str, int]:
    """Seeds in which the likeliest token of the first class is not the last one."""
    return {
        name: int((favourites(run, -1).isel({"class": 0}) != 9).sum())
        for name, run in evidence.items()
    }


def _reverse_last_tokens(table: xr.DataArray) -> xr.DataArray:
    """The table with the last record's tokens in reverse order."""
    values = table.values.copy()
    axis = table.get_axis_num("token") - 1
    values[:, -1] = np.flip(table.isel(time=-1).values, axis=axis)
    return table.copy(data=values)


_claim = partial(c.Claim, kind=c.Kind.UNIVERSAL, expected=c.Verdict.HOLDS)
CLAIMS = (
    _claim(
        id="E-prior",
        place="Section 5, initial values as prior",
        statement="The distinct token with the largest P(l|n) e^{z(0)} dominates in "
        "the end.",
        under=("Eq. 10", "dominant", "momentum"),
        system=ev.STEPS,
        needs=PRIORS,
        judge=c.All(
            (c.Equal("moves of the most attended distinct token", _moved, 0.0),),
            also={"seeds in which P alone is not decisive": _undecided},
        ),
        predicate="after 100 steps, in both classes and every seed",
        source=ev.PLAN_RUNS,
        settings="Syn-Medium with one query, long sequences, heavy ball 0.9, η_Y = "
        "η_Z = 1, Y(0) = 0, z(0) uniform on ±0, 0.17, 1, 2",
        mutations=c.named(
            *(
                mutate.mapped(
                    f"the last record at {width:g} with tokens in reverse",
                    f"{width:g}",
                    "attention_per_class",
                    _reverse_last_tokens,
                )
                for width in WIDTHS[2:]
            )
        ),
        survives={"holes": "it reads only the first and the last record"},
    ),
    _claim(
        id="E-Sec7-res",
        place="Section 7, residual connection",
        statement=(
            "With the residual connection tokens are common or distinct within their "
            "query: a token shared by classes of different queries gains, and one "
            "shared by classes of the same query loses more."
        ),
        under=("Eq. 10",),
        system=ev.J,
        needs=RESIDUALS,
        judge=LOCAL,
        predicate=(
            "at t = 10⁴, the latter loses at least twice as much; LN(LN(c) + e) as "
            "in the text and LN(c + e) as in the code"
        ),
        source=ev.FLOW_RUN,
        settings="K = 4 classes of two queries, M = 100, η_Y = 1, η_Z = 1 and 0.2",
        survives={"holes": "it reads only the last record"},
    ),
)
