"""Figures 3 and 4: which token wins in score, attention and value."""

from __future__ import annotations

from functools import partial

from attnflow.claims import All, AtLeast, Kind, Near, look
from attnflow.papers.vit.claims.evidence import APPENDIX_RUNS, appendix_claim
from attnflow.papers.vit.claims.measures import STRONG, scores, size_of
from attnflow.papers.vit.stages import WINNER, loss_reached, values_at
from attnflow.schema.dims import KEY_POSITION, QUERY_POSITION, SAMPLE, TIME
from attnflow.schema.libraries import xr

EPSILON = 0.01
OVER = (SAMPLE, QUERY_POSITION)


def _lead(run: xr.Dataset, table: xr.DataArray) -> xr.DataArray:
    """A table at ε = 0.01: the winner's entry less the other's of the two."""
    won = WINNER[size_of(run).regime]
    then = look.at(run, loss_reached(EPSILON)(run), table)
    return then.isel({KEY_POSITION: won}) - then.isel({KEY_POSITION: STRONG - won})


def _attention(run: xr.Dataset) -> xr.DataArray:
    return run["attention"].isel(head=0, drop=True).mean(OVER)


def _share(run: xr.Dataset) -> xr.DataArray:
    then = look.at(run, loss_reached(EPSILON)(run), _attention(run))
    return then.isel({KEY_POSITION: WINNER[size_of(run).regime]})


_ahead = partial(AtLeast, unit="difference")
WINS = All(
    (
        _ahead(
            "lead in mean score", lambda run: _lead(run, scores(run).mean(OVER)), 5.0
        ),
        _ahead("mean attention", _share, 0.9),
        _ahead(
            "lead in mean value",
            lambda run: _lead(run, values_at(run).mean(SAMPLE)),
            2.0,
        ),
        Near(
            "mean attention before training",
            lambda run: _attention(run).isel({TIME: 0}, drop=True),
            0.25,
            0.05,
            unit="difference",
        ),
    )
)
CLAIMS = tuple(
    appendix_claim(
        id=f"D-Fig{number}",
        place=f"Figure {number}; Appendix A",
        statement=f"In the {regime} setting {words} wins in score, in attention and in "
        "value.",
        kind=Kind.OBSERVATION,
        under=(),
        needs={regime: APPENDIX_RUNS[regime]},
        judge=WINS,
        predicate="at the last record before the loss is 0.01; leads of the signal "
        "over the strong noise or the other way round, in means over samples and "
        "queries",
    )
    for number, regime, words in (
        (3, "benign", "the signal"),
        (4, "harmful", "the strong noise"),
    )
)
