"""What stage 2 makes of the attention: signs, symmetry, concentration."""

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
    source="sheet B section 7, and our run",
)
HARD, HARDER = "c1 v1 -v2", "c1 -v1 v2"


def _at_most_omega(found: dict[float, float], what: str) -> Ladder:
    """Õ(ω) along the ladder; a rounding error of probabilities counts as 1e-16."""
    size = tuple(1 / omega for omega in found)
    ratio = tuple(max(number, 1e-16) / omega for omega, number in found.items())
    return Ladder(size, ratio, "O-tilde", f"{what} over ω")


def _constant(found: dict[float, float], what: str) -> Ladder:
    size = tuple(1 / omega for omega in found)
    return Ladder(size, tuple(found.values()), "theta", what)


def _not_negative(found: dict[float, float], what: str) -> Exact:
    return Exact(max(0.0, -min(found.values())), 0.0, f"negative part of {what}")


def _concentration(run: xr.Dataset, query: str) -> float:
    """p₊ − p₋ of the group key on X_{1,+,−}, at the end of stage 2."""
    end = at_end(run, 1)
    plus, minus = (
        float(attention_map(end, HARD, head).sel(query=query, key="c1"))
        for head in "+-"
    )
    return plus - minus


def _judge_concentration(evidence: Evidence) -> Finding:
    runs = ladder(evidence)
    found = {
        query: {omega: _concentration(run, query) for omega, run in runs}
        for query in HARD.split()
    }
    return Finding(
        (
            _constant(found["v1"], "p₊ − p₋ of c1 for query v1"),
            _constant(found["-v2"], "p₊ − p₋ of c1 for query −v2"),
            _not_negative(found["c1"], "p₊ − p₋ of c1 for query c1"),
        ),
        {f"query {query}": list(values.values()) for query, values in found.items()},
    )


def _within_head(run: xr.Dataset, sample: str = HARD) -> dict[str, float]:
    """How far the two class keys' probabilities lie apart, for each query."""
    found = attention_map(at_end(run, 1), sample)
    _, one, other = sample.split()
    gap = abs(found.sel(key=one) - found.sel(key=other))
    return {str(query): float(gap.sel(query=query)) for query in found["query"].values}


def _judge_within_head(evidence: Evidence) -> Finding:
    gaps = {omega: _within_head(run) for omega, run in ladder(evidence)}
    worst = {omega: max(gap.values()) for omega, gap in gaps.items()}
    numbers = {"query c1": [gap["c1"] for gap in gaps.values()]}
    return Finding((_at_most_omega(worst, "asymmetry within a head"),), numbers)


def _exchanged(run: xr.Dataset) -> float:
    """Largest difference of the maps of X_{1,+,+} and X_{1,−,−}, v1 for −v2 there."""
    end = at_end(run, 1)
    one = attention_map(end, "c1 v1 v2")
    other = attention_map(end, "c1 -v1 -v2")
    names = ["c1", "-v2", "-v1"]
    return float(np.abs(one.values - other.sel(query=names, key=names).values).max())


def _between(run: xr.Dataset, query: str, other: str) -> float:
    """p(c1 | query) on X_{1,+,−} minus p(c1 | other) on X_{1,−,+}."""
    end = at_end(run, 1)
    first = attention_map(end, HARD).sel(query=query, key="c1")
    return float(first - attention_map(end, HARDER).sel(query=other, key="c1"))


def _same_for_both(run: xr.Dataset) -> float:
    found = attention_map(at_end(run, 1), HARD).sel(key="c1")
    return float(abs(found.sel(query="v1") - found.sel(query="-v2")))


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
        source="sheet B section 7, and our run. For query c1 the difference tends to "
        "9e-4 as ω falls",
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
        predicate="Õ by the ladder's rule over ω = 0.3 … 1e-4",
        source="sheet B section 7, and our run: very loose, the exponent is 2.2 to 2.9 "
        "for query c1, and class queries are exactly symmetric (B-R9)",
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
        "ladder's rule; both class differences are Θ(1); the group one is not negative",
        mutations=named(
            mutate.swap(ALL, "attention_at_end", "sample", (HARD, HARDER)),
            mutate.swap(ALL, "attention_at_end", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.noise(ALL, "attention_at_end", 0.01),
        ),
    ),
)
