"""Signs, activations and the near symmetry of stage 2."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Correction,
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
    is_consistent,
    ladder,
    two_stages,
    with_end,
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
TOKENS = ("c1", "c2", "v1", "v2")
BIAS = 0.5


def _tables(run: xr.Dataset) -> dict[str, np.ndarray]:
    """The positive head's tables all through stage 2, (time, key, query) each."""
    names = ("score", "key_self_score", "query_self_score")
    return {name: with_end(run.sel(head="+"), 1, name) for name in names}


def _asymmetry(tables: dict[str, np.ndarray]) -> float:
    """Δ of Lemma E.4 over all times: (c1 + c2) or (v1 + v2) against every token."""
    pairs = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    found = [np.abs(pairs @ table).max() for table in tables.values()]
    return float(max(*found, np.abs(tables["score"] @ pairs.T).max()))


def _judge_asymmetry(evidence: Evidence) -> Finding:
    found = {omega: _asymmetry(_tables(run)) for omega, run in ladder(evidence)}
    over = [number / omega**2 for omega, number in found.items()]
    size = tuple(1 / omega for omega in found)
    ratio = tuple(number / omega for omega, number in found.items())
    check = Ladder(size, ratio, "O-tilde", "Δ up to T2 over ω")
    return Finding((check,), {"Δ over ω²": over})


def _judge_run_on(evidence: Evidence) -> Finding:
    """Seeds are alike at infinite width."""
    table = evidence["run on"]["score_at_end"].isel(seed=0, stage=1).sel(head="+")
    largest = float(abs(table).max())
    sums = table.sel(key="v1") + table.sel(key="v2")
    broken = float(abs(sums.sel(query="c1")))
    check = Exact(0.3 / max(broken, 1e-9), 1.0, "0.3 over (v1 + v2)ᵀ S c1 at t = 320")
    return Finding((check,), {"(v1 + v2)ᵀ S c1": broken, "largest score": largest})


# Lemma E.5, line by line: table, key, query, sign in front of it.
SIGNS = tuple(
    (table, one, other, sign * factor)
    for table, one, kind, sign in (
        ("score", "c1", "v", 1),
        ("score", "v1", "v", -1),
        ("score", "c1", "c", 1),
        ("score", "v1", "c", -1),
        ("query_self_score", "c1", "v", 1),
        ("query_self_score", "c1", "c", 1),
        ("query_self_score", "v1", "v", 1),
        ("key_self_score", "c1", "v", -1),
        ("key_self_score", "c1", "c", 1),
    )
    for other, factor in ((f"{kind}1", 1), (f"{kind}2", -1))
)
PRINTED_LINE = (("key_self_score", "v1", "c1", 1), ("key_self_score", "v1", "c2", -1))
MEANT_LINE = (("key_self_score", "v1", "v1", 1), ("key_self_score", "v1", "v2", -1))


def _wrong_sign(table: np.ndarray, one: str, other: str, sign: int) -> float:
    """The largest entry of the wrong sign over the table's largest at the end."""
    series = table[:, TOKENS.index(one), TOKENS.index(other)]
    return float((-sign * series).max() / np.abs(table[-1]).max())


def _judge_signs(evidence: Evidence, *, last: tuple) -> Finding:
    runs = [_tables(run) for _, run in ladder(evidence)]
    found = {
        f"{name} {one} {other}": max(
            _wrong_sign(tables[name], one, other, sign) for tables in runs
        )
        for name, one, other, sign in (*SIGNS, *last)
    }
    worst = max(found, key=lambda line: found[line])
    # Entries start at 0 and are computed to the flow's tolerance relative to S.
    what = f"wrong sign of {worst}, relative to the table"
    check = Exact(max(0.0, found[worst]), 1e-10, what, counterexample=True)
    return Finding((check,), {"worst": worst, "wrong part": found[worst]})


def _judge_activation(evidence: Evidence) -> Finding:
    least = {}
    for omega, run in ladder(evidence):
        hard = run.isel(sample=np.flatnonzero(~is_consistent(run)))
        least[omega] = float(with_end(hard, 1, "head_output").min()) + BIAS
    check = Exact(max(0.0, 1 - min(least.values()) / BIAS), 1.0, "1 − (H + b)/b")
    return Finding((check,), {"least H + b": list(least.values())})


SIGNS_IN_STAGE_TWO = (
    _claim(
        id="B-E.4",
        place="Lemma E.4",
        statement="While the scores are bounded, exchanging the groups changes the "
        "sign of scores and self-scores up to Δ = Õ(ω).",
        judge=_judge_asymmetry,
        predicate="Δ, the largest over stage 2, is Õ(ω) by the ladder's rule",
        source="sheet B section 7, and our run: loose, Δ = 1.00 ω², inherited from T1",
        mutations=named(
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
            mutate.noise(ALL, "score_at_end", 0.01),
            mutate.add(ALL, "key_self_score", 0.01),
        ),
    ),
    _claim(
        id="B-E.4-range",
        origin="ours",
        place="Lemma E.4, its condition",
        statement="The lemma's bound on the scores is needed: where stage 2 runs on, "
        "group queries lose the near symmetry of the class keys.",
        needs={"run on": two_stages(0.1, T2=320.0)},
        scope=Scope.BEYOND,
        conditions="ω = 0.1, m infinite; stage 2 goes on to t = 320, S up to 4.3",
        judge=_judge_run_on,
        predicate="(v1 + v2)ᵀ S c1 is beyond 0.3 = 3ω in size at t = 320, with ω = 0.1",
        mutations=named(
            mutate.scale(ALL, "score_at_end", 0.1),
            mutate.swap(ALL, "score_at_end", "query", ("c1", "v1")),
        ),
    ),
    _claim(
        id="B-E.5",
        place="Lemma E.5",
        statement="All through stage 2 every score and self-score has a fixed sign, "
        "as listed.",
        judge=partial(_judge_signs, last=PRINTED_LINE),
        predicate="no entry of the wrong sign beyond 1e-10 of its table's largest, the "
        "flow's tolerance, for any ω of the ladder",
        expected=Verdict.HOLDS_CORRECTED,
        source="sheet B sections 7 and 8, item 5, and our run",
        correction=Correction(
            "The last line must speak of v1ᵀ A_K v1 ≥ 0 and v1ᵀ A_K v2 ≤ 0; as printed "
            "it contradicts line 8, for A_K is symmetric.",
            partial(_judge_signs, last=MEANT_LINE),
        ),
        mutations=named(
            mutate.swap(ALL, "score", "query", ("v1", "v2")),
            mutate.negate(ALL, "key_self_score"),
            mutate.swap(ALL, "query_self_score", "query", ("v1", "v2")),
        ),
    ),
    _claim(
        id="B-E.6",
        place="Lemma E.6",
        statement="The conflicting samples stay active all through stage 2.",
        judge=_judge_activation,
        predicate="H + b > 0 for both heads, every conflicting sample, every record "
        "of stage 2 and every ω",
        source="sheet B section 7, and our run. It needs stage 2 to end: later a head "
        "sticks at H + b = 0",
        mutations=named(
            mutate.add(ALL, "head_output", -1.0),
            mutate.swap(ALL, "head_output", "sample", ("c1 v1 -v2", "c1 -v1 -v2")),
        ),
    ),
)
