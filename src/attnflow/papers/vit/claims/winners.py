"""Figures 3 and 4: which token wins in score, attention and value."""

from functools import partial

import xarray as xr

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import APPENDIX, APPENDIX_RUNS, DESCENT, only
from attnflow.papers.vit.claims.statistics import (
    STRONG,
    at,
    gaps,
    held,
    least,
    scores,
    spread,
    time_of_loss,
)
from attnflow.papers.vit.stages import series
from attnflow.papers.vit.stages.series import Regime

EPSILON = 0.01


def _judge_winner(evidence: Evidence, regime: Regime) -> Finding:
    """Winner's score, attention and value at ε = 0.01, and initial attention."""
    run, won = evidence[regime], series.WINNER[regime]
    then = at(run, time_of_loss(run, EPSILON))
    over = ("sample", "query_position")
    lost = STRONG - won
    ahead = scores(then).mean(over)
    values = (then["label"] * then["pair_value"].isel(head=0)).mean("sample")
    share = then["attention"].isel(head=0).mean(over)
    early = run["attention"].isel(time=0, head=0).mean(over)

    def lead(table: xr.DataArray) -> xr.DataArray:
        return table.isel(key_position=won) - table.isel(key_position=lost)

    return Finding(
        (
            held(lead(ahead) - 5, "scores at least 5 ahead in the mean"),
            held(share.isel(key_position=won) - 0.9, "attention at least 0.9"),
            held(lead(values) - 2, "values at least 2 ahead in the mean"),
            held(0.05 - abs(early - 0.25).max("key_position"), "1/M before training"),
        ),
        {
            "attention": spread(share.isel(key_position=won)),
            "value": spread(values.isel(key_position=won)),
            "value of the loser": spread(values.isel(key_position=lost)),
            "score ahead": spread(lead(ahead)),
            "least gap of scores": spread(least(gaps(then, regime))),
        },
    )


_claim = partial(Claim, system=DESCENT, scope=Scope.EXPERIMENT, conditions=APPENDIX)
_FIGURES: tuple[tuple[str, Regime, str], ...] = (
    ("Fig3", "benign", "the signal"),
    ("Fig4", "harmful", "the strong noise"),
)
CLAIMS = (
    *(
        _claim(
            id=f"D-{figure}",
            place=f"{figure[:3]}ure {figure[3:]}; Appendix A",
            statement=f"In the {regime} setting {words} wins in score, in attention "
            "and in value.",
            needs=only(APPENDIX_RUNS, regime),
            judge=partial(_judge_winner, regime=regime),
            predicate="at ε = 0.01, in the mean over samples and queries: its score is "
            "5 ahead of the other's, its attention 0.9 or more, its value 2 ahead; "
            "before training all attention is 1/4 ± 0.05; 90% of seeds",
            expected=Verdict.HOLDS,
            source="our runs, seeds 200–204",
            mutations=named(
                mutate.reverse(regime, "attention", "key_position"),
                mutate.constant(regime, "pair_score"),
                mutate.scale(regime, "pair_value", 0.2),
            ),
        )
        for figure, regime, words in _FIGURES
    ),
)
