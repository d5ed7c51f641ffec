"""Claims on attention at the end of stage 2: concentration and near symmetry."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims.evidence import (
    CONDITION,
    FLOW,
    LADDER,
    at_end,
    attention_map,
    ladder,
)

ALL = mutate.EVERY
_claim = partial(
    Claim,
    system=FLOW,
    needs=LADDER,
    scope=Scope.THEOREM,
    conditions=CONDITION,
    expected=Verdict.HOLDS,
    source="our runs at infinite width (deterministic), ω = 0.3 … 1e-4",
)
HARD, HARDER = "c1 v1 -v2", "c1 -v1 v2"


def _at_most_omega(values: dict[float, float], what: str) -> Ladder:
    """Check of Õ(ω), with values clipped below at 1e-16, rounding of probabilities."""
    size = tuple(1 / omega for omega in values)
    ratio = tuple(max(number, 1e-16) / omega for omega, number in values.items())
    return Ladder(size, ratio, "O-tilde", f"{what} over ω")


def _constant(values: dict[float, float], what: str) -> Ladder:
    size = tuple(1 / omega for omega in values)
    return Ladder(size, tuple(values.values()), "theta", what)


def _not_negative(values: dict[float, float], what: str) -> Exact:
    return Exact(max(0.0, -min(values.values())), 0.0, f"negative part of {what}")


def _concentration(run: xr.Dataset, query: str) -> float:
    """Attention difference p₊ − p₋ of the group key on X_{1,+,−}, at T2."""
    end = at_end(run, 1)
    plus, minus = (
        float(attention_map(end, HARD, head).sel(query=query, key="c1"))
        for head in "+-"
    )
    return plus - minus


def _judge_concentration(evidence: Evidence) -> Finding:
    runs = ladder(evidence)
    gaps_by_query = {
        query: {omega: _concentration(run, query) for omega, run in runs}
        for query in HARD.split()
    }
    return Finding(
        (
            _constant(gaps_by_query["v1"], "p₊ − p₋ of c1 for query v1"),
            _constant(gaps_by_query["-v2"], "p₊ − p₋ of c1 for query −v2"),
            _not_negative(gaps_by_query["c1"], "p₊ − p₋ of c1 for query c1"),
        ),
        {
            f"query {query}": list(gaps.values())
            for query, gaps in gaps_by_query.items()
        },
    )


def _within_head(run: xr.Dataset, sample: str = HARD) -> dict[str, float]:
    """Difference of attention between the two class keys, for each query."""
    attention = attention_map(at_end(run, 1), sample)
    _, first, second = sample.split()
    gap = abs(attention.sel(key=first) - attention.sel(key=second))
    return {
        str(query): float(gap.sel(query=query)) for query in attention["query"].values
    }


def _judge_within_head(evidence: Evidence) -> Finding:
    gaps = {omega: _within_head(run) for omega, run in ladder(evidence)}
    worst = {omega: max(gap.values()) for omega, gap in gaps.items()}
    numbers = {"query c1": [gap["c1"] for gap in gaps.values()]}
    return Finding((_at_most_omega(worst, "asymmetry within a head"),), numbers)


def _exchanged(run: xr.Dataset) -> float:
    """Largest difference of the maps of X_{1,+,+} and X_{1,−,−}, v1 matched to −v2."""
    end = at_end(run, 1)
    positive = attention_map(end, "c1 v1 v2")
    negative = attention_map(end, "c1 -v1 -v2")
    names = ["c1", "-v2", "-v1"]
    return float(
        np.abs(positive.values - negative.sel(query=names, key=names).values).max()
    )


def _between(run: xr.Dataset, query: str, other: str) -> float:
    """p(c1 | query) on X_{1,+,−} minus p(c1 | other) on X_{1,−,+}."""
    end = at_end(run, 1)
    first = attention_map(end, HARD).sel(query=query, key="c1")
    return float(first - attention_map(end, HARDER).sel(query=other, key="c1"))


def _same_for_both(run: xr.Dataset) -> float:
    attention = attention_map(at_end(run, 1), HARD).sel(key="c1")
    return float(abs(attention.sel(query="v1") - attention.sel(query="-v2")))


def _judge_maps(evidence: Evidence) -> Finding:
    runs = ladder(evidence)
    consistent = {omega: _exchanged(run) for omega, run in runs}
    within = {
        omega: max(
            *_within_head(run).values(),
            _within_head(run, HARDER)["c1"],
            _same_for_both(run),
        )
        for omega, run in runs
    }
    gaps = [
        {omega: _between(run, query, other) for omega, run in runs}
        for query, other in (("v1", "-v1"), ("-v2", "v2"), ("c1", "c1"))
    ]
    return Finding(
        (
            _at_most_omega(consistent, "difference of the consistent maps"),
            _at_most_omega(within, "asymmetry on conflicting samples"),
            _constant(gaps[0], "p(c1 | v1) on +− minus −+"),
            _constant(gaps[1], "p(c1 | −v2) on +− minus −+"),
            _not_negative(gaps[2], "p(c1 | c1) on +− minus −+"),
        ),
        {"consistent": list(consistent.values()), "within": list(within.values())},
    )


ATTENTION = (
    _claim(
        id="B-Thm4.1-conc",
        place="Theorem 4.1, concentration on the group key",
        statement="On X_{1,+,−} the positive head attends to the group key by Θ(1) "
        "more than the negative one from both class queries, and not less from the "
        "group query.",
        judge=_judge_concentration,
        predicate="the differences for queries v1 and −v2 are Θ(1) over ω = 0.3 … "
        "1e-4; that for query c1 is never negative",
        source="our runs at infinite width. For query c1 the difference tends to 9e-4 "
        "as ω falls",
        mutations=named(
            mutate.swap(ALL, "attention_at_end", "head", ("+", "-")),
            mutate.replace(ALL, "attention_at_end", 1 / 3),
            mutate.swap(ALL, "attention_at_end", "sample", (HARD, HARDER)),
        ),
    ),
    _claim(
        id="B-Thm4.1-near",
        place="Theorem 4.1, near symmetry within a head; Section 5.2",
        statement="On X_{1,+,−} the positive head attends to both class keys alike, up "
        "to Õ(ω), from every query.",
        judge=_judge_within_head,
        predicate="Õ(ω) by the ladder rule over ω = 0.3 … 1e-4",
        source="our runs at infinite width: very loose, the exponent in ω is 2.2 to "
        "2.9 for query c1, and class queries are exactly symmetric (B-R9)",
        mutations=named(
            mutate.noise(ALL, "attention_at_end", 0.01),
            mutate.swap(ALL, "attention_at_end", "key_position", (0, 1)),
        ),
    ),
    _claim(
        id="B-E.7",
        place="Theorem E.7",
        statement="At T2 the maps of X_{1,+,+} and X_{1,−,−} agree up to Õ(ω) with the "
        "class tokens exchanged, and those of X_{1,+,−} and X_{1,−,+} differ by Θ(1) "
        "on the group key and are otherwise symmetric up to Õ(ω).",
        judge=_judge_maps,
        predicate="all nine consistent differences and all asymmetries are Õ(ω) by the "
        "ladder rule; both class differences are Θ(1); the group one is not negative",
        mutations=named(
            mutate.swap(ALL, "attention_at_end", "sample", (HARD, HARDER)),
            mutate.swap(ALL, "attention_at_end", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.noise(ALL, "attention_at_end", 0.01),
        ),
    ),
)
