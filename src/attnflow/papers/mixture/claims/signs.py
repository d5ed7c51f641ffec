"""Claims on signs, activations and near symmetry in stage 2 (Lemmas E.4 to E.6)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_TWO
from attnflow.schema.libraries import xr

ALL = mutate.EVERY
TABLES = ("score", "key_self_score", "query_self_score")
EARLY = {"cut": "stage 2 ends before a tenth of the run's time"}
_claim = partial(ev.of_ladder, kind=c.Kind.UNIVERSAL, under=STAGE_TWO)


def _asymmetry(run: xr.Dataset) -> np.ndarray:
    """Δ of Lemma E.4 up to T2: the largest of (c1 + c2) or (v1 + v2) with any token."""
    pairs = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    largest = []
    for name in TABLES:
        table = (
            ev.in_stage(run, name, 1)
            .sel(head="+")
            .transpose("seed", ..., "key", "query")
        )
        values = table.where(run["recorded"], 0.0).values
        sums = [pairs @ values, (values @ pairs.T).swapaxes(-1, -2)]
        # Self-scores are symmetric: rows and columns are the same.
        largest += [np.abs(part).reshape(len(values), -1).max(axis=1) for part in sums]
    return np.max(largest, axis=0)


def _run_on(run: xr.Dataset) -> xr.DataArray:
    """|(v1 + v2)ᵀ S c1| at the end of stage 2."""
    score = ev.at_end(run, "score", 1).sel(head="+", query="c1", key=["v1", "v2"])
    return abs(score.sum("key", skipna=False))


# Lemma E.5, line by line: key, then queries with signs + and −.
LINES = {
    "score": (("c1", "v", 1), ("v1", "v", -1), ("c1", "c", 1), ("v1", "c", -1)),
    "query_self_score": (("c1", "v", 1), ("c1", "c", 1), ("v1", "v", 1)),
    "key_self_score": (("c1", "v", -1), ("c1", "c", 1)),
}
PRINTED_LINE = (("v1", "c", 1),)
MEANT_LINE = (("v1", "v", 1),)


def _signed(run: xr.Dataset, *, table: str, lines: tuple) -> xr.DataArray:
    """Entries with their stated signs, over the table's largest entry at T2."""
    entries = [
        (key, f"{kind}{number}", sign * factor)
        for key, kind, sign in lines
        for number, factor in ((1, 1.0), (2, -1.0))
    ]
    columns = zip(*entries, strict=True)
    keys, queries, signs = (xr.DataArray(list(each), dims="line") for each in columns)
    values = ev.in_stage(run, table, 1).sel(
        head="+", key=keys, query=queries, drop=True
    )
    end = ev.at_end(run, table, 1).sel(head="+", drop=True)
    return values * signs / abs(end).max(("key", "query"), skipna=False)


def _signs(what: str, table: str, lines: tuple) -> c.AtLeast:
    """Signs up to the flow's error, since entries start at 0."""
    measure = partial(_signed, table=table, lines=lines)
    return c.AtLeast(what, measure, -1e-10, unit="difference", rounding=1e-10)


COMMON = tuple(
    _signs(f"entries of {table} with their stated sign", table, lines)
    for table, lines in LINES.items()
)
PRINTED = "last line as printed, v1ᵀ A_K c1 ≥ 0 and v1ᵀ A_K c2 ≤ 0"
_KEYS = ("key_self_score", "key_self_score_at_end")


def _mended(table: xr.DataArray) -> xr.DataArray:
    """Key self-scores whose entries of key v1 and queries c1, c2 are negated."""
    entries = (table["key"] == "v1") & table["query"].isin(["c1", "c2"])
    return (table * xr.where(entries, -1.0, 1.0)).transpose(*table.dims)


def _activation(run: xr.Dataset) -> xr.DataArray:
    """H₊ + b on the conflicting samples."""
    heads = ev.in_stage(run, "head_output", 1).sel(head="+", drop=True)
    hard = heads.isel(sample=np.flatnonzero(~ev.is_consistent(run)))
    return hard + schema.setting_of(run)["bias"]


SIGNS_IN_STAGE_TWO = (
    _claim(
        id="B-E.4",
        kind=c.Kind.ASYMPTOTIC,
        place="Lemma E.4",
        statement="While the scores are bounded, exchanging the groups changes the "
        "sign of scores and self-scores up to Δ = Õ(ω).",
        judge=ev.below_omega("Δ up to T2", _asymmetry),
        source="our runs at infinite width: loose, Δ = 1.00 ω², inherited from T1",
        mutations=c.named(
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
            mutate.noise(ALL, "score_at_end", 0.01),
            mutate.add(ALL, "key_self_score", 0.01),
        ),
        survives=EARLY,
    ),
    _claim(
        id="B-E.4-range",
        origin="ours",
        place="Lemma E.4, its condition",
        statement="The lemma's bound on the scores is needed: where stage 2 runs on to "
        "t = 320 at ω = 0.1, group queries lose the near symmetry of the class keys.",
        needs={"run on": ev.two_stages(0.1, T2=320.0)},
        settings="stage 2 continues to t = 320, S up to 4.3",
        source="our run at infinite width (deterministic)",
        judge=c.AtLeast(
            "|(v1 + v2)ᵀ S c1| at t = 320", _run_on, lambda run: 3 * ev.omega_of(run)
        ),
        predicate="3ω, with ω = 0.1",
        survives={"holes": "reads the state at t = 320, kept beside the records"},
    ),
    _claim(
        id="B-E.5",
        place="Lemma E.5",
        statement="All through stage 2 every score and self-score has a fixed sign, "
        "as listed.",
        judge=c.All((*COMMON, _signs(PRINTED, "key_self_score", PRINTED_LINE))),
        predicate="over the table's largest entry at T2; 1e-10 is the flow's tolerance",
        expected=c.Verdict.FAILS,
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "The last line must be v1ᵀ A_K v1 ≥ 0 and v1ᵀ A_K v2 ≤ 0; as printed it "
            "contradicts line 8, since A_K is symmetric.",
            c.All(
                (
                    *COMMON,
                    _signs("last line as meant", "key_self_score", MEANT_LINE),
                )
            ),
        ),
        mends=c.named(
            mutate.mapped("v1ᵀ A_K c1 and v1ᵀ A_K c2 negated", ALL, _KEYS, _mended)
        ),
        witness=c.Witness(
            "witnesses/signs.py",
            {"least of the last line": (f"omega=0.1: {PRINTED}", 0)},
        ),
    ),
    _claim(
        id="B-E.6",
        place="Lemma E.6",
        statement="The conflicting samples stay active in the positive head all "
        "through stage 2.",
        judge=c.AtLeast("H₊ + b", _activation, 0.0, unit="difference", strict=True),
        source="our runs at infinite width. It needs stage 2 to end: later a head "
        "sticks at H + b = 0",
        mutations=c.named(mutate.add(ALL, "head_output", -1.0)),
        survives=EARLY,
    ),
)
