"""Claims on signs, activations and near symmetry in stage 2 (Lemmas E.4 to E.6)."""

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
    source="our runs at infinite width (deterministic), ω = 0.3 … 1e-4",
)
TOKENS = ("c1", "c2", "v1", "v2")
BIAS = 0.5


def _tables(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Scores and self-scores of the positive head in stage 2, (time, key, query)."""
    names = ("score", "key_self_score", "query_self_score")
    return {name: with_end(run.sel(head="+"), 1, name) for name in names}


def _asymmetry(tables: dict[str, np.ndarray]) -> float:
    """Δ of Lemma E.4: the largest entry of (c1 + c2) or (v1 + v2) with any token."""
    pairs = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    sums = [np.abs(pairs @ table).max() for table in tables.values()]
    return float(max(*sums, np.abs(tables["score"] @ pairs.T).max()))


def _judge_asymmetry(evidence: Evidence) -> Finding:
    asymmetries = {omega: _asymmetry(_tables(run)) for omega, run in ladder(evidence)}
    over = [number / omega**2 for omega, number in asymmetries.items()]
    size = tuple(1 / omega for omega in asymmetries)
    ratio = tuple(number / omega for omega, number in asymmetries.items())
    check = Ladder(size, ratio, "O-tilde", "Δ up to T2 over ω")
    return Finding((check,), {"Δ over ω²": over})


def _judge_run_on(evidence: Evidence) -> Finding:
    """Asymmetry when stage 2 runs on; at infinite width all seeds are equal."""
    table = evidence["run on"]["score_at_end"].isel(seed=0, stage=1).sel(head="+")
    largest = float(abs(table).max())
    sums = table.sel(key="v1") + table.sel(key="v2")
    asymmetry = float(abs(sums.sel(query="c1")))
    check = Exact(
        0.3 / max(asymmetry, 1e-9), 1.0, "0.3 over (v1 + v2)ᵀ S c1 at t = 320"
    )
    return Finding((check,), {"(v1 + v2)ᵀ S c1": asymmetry, "largest score": largest})


# Lemma E.5, line by line: table, key, query, and the sign it must have.
SIGNS = tuple(
    (table, key, query, sign * factor)
    for table, key, kind, sign in (
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
    for query, factor in ((f"{kind}1", 1), (f"{kind}2", -1))
)
PRINTED_LINE = (("key_self_score", "v1", "c1", 1), ("key_self_score", "v1", "c2", -1))
MEANT_LINE = (("key_self_score", "v1", "v1", 1), ("key_self_score", "v1", "v2", -1))


def _wrong_sign(table: np.ndarray, key: str, query: str, sign: int) -> float:
    """Largest value of the wrong sign, relative to the table's largest entry at T2."""
    series = table[:, TOKENS.index(key), TOKENS.index(query)]
    return float((-sign * series).max() / np.abs(table[-1]).max())


def _judge_signs(evidence: Evidence, *, last: tuple) -> Finding:
    runs = [_tables(run) for _, run in ladder(evidence)]
    wrong = {
        f"{name} {key} {query}": max(
            _wrong_sign(tables[name], key, query, sign) for tables in runs
        )
        for name, key, query, sign in (*SIGNS, *last)
    }
    worst = max(wrong, key=lambda line: wrong[line])
    # Entries start at 0 and are accurate to the flow's tolerance relative to S.
    what = f"wrong sign of {worst}, relative to the table"
    check = Exact(max(0.0, wrong[worst]), 1e-10, what, counterexample=True)
    return Finding((check,), {"worst": worst, "wrong part": wrong[worst]})


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
        predicate="the maximum of Δ over stage 2 is Õ(ω) by the ladder rule",
        source="our runs at infinite width: loose, Δ = 1.00 ω², inherited from T1",
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
        conditions="ω = 0.1, m infinite; stage 2 continues to t = 320, S up to 4.3",
        source="our run at infinite width (deterministic)",
        judge=_judge_run_on,
        predicate="|(v1 + v2)ᵀ S c1| is above 0.3 = 3ω at t = 320, with ω = 0.1",
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
        predicate="no entry has the wrong sign by more than 1e-10 of its table's "
        "largest entry, the flow's tolerance, for any ω of the ladder",
        expected=Verdict.HOLDS_CORRECTED,
        correction=Correction(
            "The last line must be v1ᵀ A_K v1 ≥ 0 and v1ᵀ A_K v2 ≤ 0; as printed it "
            "contradicts line 8, since A_K is symmetric.",
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
        source="our runs at infinite width. It needs stage 2 to end: later a head "
        "sticks at H + b = 0",
        mutations=named(
            mutate.add(ALL, "head_output", -1.0),
            mutate.swap(ALL, "head_output", "sample", ("c1 v1 -v2", "c1 -v1 -v2")),
        ),
    ),
)
