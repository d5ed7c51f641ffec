"""Propositions D, E, H and I on scores, and their harmful versions L, M, P and Q."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Evidence, Finding, named
from attnflow.claims import mutations as mutate
from attnflow.papers.vit.claims.evidence import SAMPLED_RUNS, only, sampled_claim
from attnflow.papers.vit.claims.stage_two import stage_two
from attnflow.papers.vit.claims.statistics import (
    by_seed,
    held,
    increments,
    least,
    most,
    others,
    scores,
    size_of,
    spread,
    within,
)
from attnflow.papers.vit.stages.series import WINNER, Regime


def _score_steps(run: xr.Dataset, regime: Regime) -> xr.DataArray:
    """Increments of scores from record to record, from T1 on."""
    start, _ = stage_two(run, regime)
    later = within(run, start, run["end_time"].values)
    both = later & later.shift(time=-1, fill_value=False)
    return increments(scores(run)).where(both)


def _judge_monotone(evidence: Evidence, regime: Regime) -> Finding:
    steps = _score_steps(evidence[regime], regime)
    up = steps.isel(key_position=WINNER[regime])
    down = others(steps, regime)
    low, high = least(up), most(down)
    return Finding(
        (
            held(low, "the least change of a winner's score"),
            held(-high, "the largest change of another's, negated"),
        ),
        {"winner, least": spread(low), "others, most": spread(high)},
    )


def _judge_twice(evidence: Evidence) -> Finding:
    steps = _score_steps(evidence["harmful"], "harmful")
    ahead = least(steps.isel(key_position=1) - 2 * others(steps, "harmful"))
    check = held(ahead, "Δ of the strong noise's score less twice the others'")
    return Finding((check,), {"least": spread(ahead)})


def _judge_bounded(evidence: Evidence, regime: Regime) -> Finding:
    run, size = evidence[regime], size_of(evidence[regime])
    _, end = stage_two(run, regime)
    table = abs(scores(run)).where(run["recorded"])
    early = most(table.where(run["time"] <= by_seed(run, end)))
    late = most(table)
    half = 0.5 * np.log(size.key_width)
    times = 1 if regime == "benign" else 2
    final = half - np.log(size.target)
    return Finding(
        (
            held(1 - early / (times * half), "up to T2, over the bound"),
            held(1 - late / (times * final), "up to T3, over the bound"),
        ),
        {
            "up to T2": spread(early),
            "bound": times * half,
            "up to T3": spread(late),
            "bound at T3": times * final,
        },
    )


_claim = sampled_claim
_BOUNDS: tuple[tuple[str, str, Regime, str], ...] = (
    ("E", "I", "benign", ""),
    ("M", "Q", "harmful", "2 "),
)
CLAIMS = (
    _claim(
        id="D-PropD",
        place="Propositions D(t) and H(t)",
        statement="In the benign regime every score of the signal grows and every "
        "score of noise falls, from T1 to T3.",
        needs=only(SAMPLED_RUNS, "benign"),
        judge=partial(_judge_monotone, regime="benign"),
        predicate="entry by entry, from each record to the next; 90% of seeds",
        source="our runs, seeds 200–209",
        mutations=named(
            mutate.reverse("benign", "pair_score", "time"),
            mutate.swap("benign", "pair_score", "key_position", (0, 1)),
            mutate.noise("benign", "pair_score", 1e-3),
        ),
    ),
    _claim(
        id="D-PropL",
        place="Propositions L(t) and P(t)",
        statement="In the harmful regime every score of the strong noise grows by at "
        "least twice what others of its row grow by, from T1 to T3.",
        needs=only(SAMPLED_RUNS, "harmful"),
        judge=_judge_twice,
        predicate="entry by entry, from each record to the next; 90% of seeds",
        source="our runs, seeds 200–209",
        mutations=named(
            mutate.reverse("harmful", "pair_score", "time"),
            mutate.swap("harmful", "pair_score", "key_position", (0, 1)),
            mutate.noise("harmful", "pair_score", 1e-3),
        ),
    ),
    *(
        _claim(
            id=f"D-Prop{first}",
            place=f"Propositions {first}(t) and {second}(t)",
            statement=f"In the {regime} regime no score exceeds {words}log(d_h^½) up "
            f"to T2, and {words}log(d_h^½/ε) up to T3.",
            needs=only(SAMPLED_RUNS, regime),
            judge=partial(_judge_bounded, regime=regime),
            predicate="largest |score| of all samples at every record; 90% of seeds",
            source="our runs, seeds 200–209; at Appendix A's sizes, outside "
            "the condition, scores reach 48 to 77 where the bound is 8 to 16",
            mutations=named(
                mutate.scale(regime, "pair_score", 4.0),
                mutate.setting(regime, key_width=1000),
            ),
        )
        for first, second, regime, words in _BOUNDS
    ),
)
