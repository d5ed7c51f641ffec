"""Claims on signs, activations and near symmetry in stage 2 (Lemmas E.4 to E.6)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_TWO
from attnflow.schema.installation import xr

ALL = mutate.EVERY
TABLES = ("score", "key_self_score", "query_self_score")
RATES = tuple(f"{name}_rate" for name in TABLES)
EARLY = {"cut": "stage 2 ends before a tenth of the run's time"}
_claim = partial(ev.of_ladder, kind=c.Kind.UNIVERSAL, under=STAGE_TWO)


PAIRS = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
"""c1 + c2 and v1 + v2 in the basis c1, c2, v1, v2."""


def _sums(table: xr.DataArray) -> np.ndarray:
    """|(c1 + c2)| and |(v1 + v2)| with any token of one table, `(seed, time, …)`."""
    values = table.sel(head="+").transpose("seed", "time", "key", "query").values
    # Self-scores are symmetric: rows and columns are the same.
    sums = [PAIRS @ values, (values @ PAIRS.T).swapaxes(-1, -2)]
    return np.abs(np.concatenate(sums, axis=-2)).reshape(*values.shape[:2], -1)


def _asymmetry(run: xr.Dataset) -> np.ndarray:
    """Δ of Lemma E.4 up to T2: the largest of (c1 + c2) or (v1 + v2) with any token."""
    tables = [ev.in_stage(run, name, 1).where(run["recorded"], 0.0) for name in TABLES]
    return np.max([_sums(table).max(axis=(1, 2)) for table in tables], axis=0)


def _largest(run: xr.Dataset, names: tuple[str, ...]) -> xr.DataArray:
    """The largest of the sums that define Δ at every record, over several tables."""
    values = np.max([_sums(run[name]).max(axis=2) for name in names], axis=0)
    coords = {"seed": run["seed"], "time": run["time"]}
    return xr.DataArray(values, dims=("seed", "time"), coords=coords)


def _rate_ratio(run: xr.Dataset) -> np.ndarray:
    """The fastest of Δ's sums over the main score's rate, largest in stage 2."""
    main = ev.entry(run, "score_rate", "c1", "v1")
    in_stage = ev.during(run, 1, closed="left")
    return look.largest(_largest(run, RATES) / main, in_stage)


def _over_asymmetry(run: xr.Dataset) -> np.ndarray:
    """The fastest of Δ's sums over Δ Δp, largest in stage 2 after T1."""
    places = ("sample", "query_position", "key_position")
    attention = run["attention"].sel(head="+", drop=True)
    moved = abs(attention - 1 / 3).max(places, skipna=False)
    ratio = _largest(run, RATES) / (_largest(run, TABLES) * moved)
    # Before the first step Δp is 0; the last record may belong to stage 3.
    return look.largest(ratio, ev.during(run, 1, closed="neither"))


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


def _entries(lines: tuple) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Keys, queries and signs of both columns of some lines."""
    entries = [
        (key, f"{kind}{number}", sign * factor)
        for key, kind, sign in lines
        for number, factor in ((1, 1.0), (2, -1.0))
    ]
    keys, queries, signs = zip(*entries, strict=True)
    return (
        xr.DataArray(list(keys), dims="line"),
        xr.DataArray(list(queries), dims="line"),
        xr.DataArray(list(signs), dims="line"),
    )


def _signed(run: xr.Dataset, *, table: str, lines: tuple) -> xr.DataArray:
    """Entries with their stated signs, over the table's largest entry at T2."""
    keys, queries, signs = _entries(lines)
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


def _signed_rates(run: xr.Dataset, *, table: str, lines: tuple) -> xr.DataArray:
    """Rates with the stated signs, over the table's largest rate at the record."""
    rates = run[f"{table}_rate"].sel(head="+", drop=True)
    largest = abs(rates).max(("key", "query"), skipna=False)
    keys, queries, signs = _entries(lines)
    # At T1 self-scores do not move.
    scale = largest.where(~(largest == 0.0), 1.0)
    return rates.sel(key=keys, query=queries, drop=True) * signs / scale


def _group_queries(run: xr.Dataset) -> xr.DataArray:
    """−v1ᵀ S c1 and v2ᵀ S c1 over the main score."""
    entry = partial(ev.entry, run, "score")
    both = [-entry("v1", "c1"), entry("v2", "c1")]
    return xr.concat(both, "key") / entry("c1", "v1")


_after_t1 = partial(ev.during, number=1, closed="right")


def activation(run: xr.Dataset) -> xr.DataArray:
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
        source=(
            "our runs at infinite width: the bound is loose, Δ = 1.00 ω², already at T1"
        ),
        mutations=c.named(
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
            mutate.noise(ALL, "score_at_end", 0.01),
            mutate.add(ALL, "key_self_score", 0.01),
        ),
        survives=EARLY,
    ),
    _claim(
        id="B-E.4-ratio",
        kind=c.Kind.ASYMPTOTIC,
        place="Lemma E.4, ratio of the derivatives",
        statement="While the scores are bounded, Δ grows at most at Õ(ω) times the "
        "main score's rate, at every time.",
        judge=ev.below_omega("|dΔ/dt| over the main score's rate", _rate_ratio),
        predicate=(
            "the fastest of the sums whose maximum is Δ, which bounds |dΔ/dt|; the "
            "main score's rate at the same time, which T' must mean"
        ),
        source="our runs at infinite width: loose, at most 0.58 ω²",
        mutations=c.named(
            mutate.swap(ALL, "score_rate", "query", ("c1", "v1")),
            mutate.noise(ALL, "score_rate", 0.01),
            mutate.add(ALL, "key_self_score_rate", 0.01),
            mutate.add(ALL, "query_self_score_rate", 0.01),
        ),
        survives=EARLY,
    ),
    _claim(
        id="B-E.4-eq15",
        kind=c.Kind.ASYMPTOTIC,
        place="proof of Lemma E.4, equation 15",
        statement="|dΔ/dt| is O(Δ Δp), where Δp is the largest change of an attention "
        "probability from 1/3.",
        judge=ev.along_omega("|dΔ/dt| over Δ Δp", _over_asymmetry, "O"),
        predicate="the fastest of the sums whose maximum is Δ; largest in (T1, T2)",
        source="our runs at infinite width: at most 0.16",
        mutations=c.named(
            ev.times_omega(RATES, -0.5),
            ev.times_omega(TABLES, 0.5),
            mutate.add(ALL, "key_self_score_rate", 1e-4),
            mutate.add(ALL, "query_self_score_rate", 1e-4),
        ),
        survives=EARLY,
    ),
    _claim(
        id="B-E.4-range",
        origin="ours",
        place="Lemma E.4, its condition",
        statement=(
            "The lemma's bound on the scores is needed: if stage 2 is continued to t "
            "= 320 at ω = 0.1, group queries lose the near symmetry of the class "
            "keys."
        ),
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
        id="B-E.5-growth",
        place="proof of Lemma E.5",
        statement="All through stage 2 the derivative of every score and self-score "
        "has the sign that the lemma lists for the variable itself, with the lemma's "
        "last line as meant (B-E.5).",
        judge=c.All(
            tuple(
                c.AtLeast(
                    f"derivatives of {table} with the stated sign",
                    partial(_signed_rates, table=table, lines=lines),
                    -1e-10,
                    when=partial(ev.during, number=1, closed="left"),
                    unit="difference",
                    rounding=1e-10,
                )
                for table, lines in {
                    **LINES,
                    "key_self_score": (*LINES["key_self_score"], *MEANT_LINE),
                }.items()
            )
        ),
        predicate="over the table's largest rate at the time; 1e-10 is the flow's "
        "tolerance",
        survives=EARLY,
    ),
    _claim(
        id="B-5.2-group",
        place="Section 5.2, group queries",
        statement="In stage 2, for a group query the score of its own class key is "
        "negative and that of the other positive, strictly.",
        judge=c.AtLeast(
            "−S[v1,c1] and S[v2,c1] over S[c1,v1]",
            _group_queries,
            0.0,
            when=_after_t1,
            period="after T1, where all are 0",
            unit="difference",
            strict=True,
        ),
        source="our runs at infinite width (deterministic), ω = 0.3 … 1e-4",
        mutations=c.named(mutate.swap(ALL, "score", "key", ("v1", "v2"))),
        survives=EARLY,
    ),
    _claim(
        id="B-E.6",
        place="Lemma E.6",
        statement="The conflicting samples stay active in the positive head all "
        "through stage 2.",
        judge=c.AtLeast("H₊ + b", activation, 0.0, unit="difference", strict=True),
        source=(
            "our runs at infinite width. This needs stage 2 to end: later a head "
            "sticks at H + b = 0"
        ),
        mutations=c.named(mutate.add(ALL, "head_output", -1.0)),
        survives=EARLY,
    ),
)
