"""Claims on Lemma 4.2 and Table 2 (Stage II): key and query noise align in sign."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import TABLES, at, formula, share_among
from attnflow.papers.signgd.stages import series, two_cycles
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.installation import xr

TOP = f"s={1e10:.0e}"
PRINTED = ((486, 1, 0, 25), (244, 4, 9, 250), (223, 10, 4, 221), (37, 2, 3, 481))
"""Table 2: rows at 0, columns at t = 10, both as K+Q+, K+Q−, K−Q+, K−Q−."""
TABLE = {"ten": Request("setting-a", {"steps": 10, "test_samples": 0}, seeds=ev.MANY)}


def _signs(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Signs of query noise and of key noise."""
    query, key = (series.signs(series.noise(run, name)) for name in TABLES)
    return query, key


def _then(run: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """Signs of query noise and of key noise at T2_SGN."""
    return _signs(at(run, formula(run, "T2_SGN"), *TABLES))


def _aligned(run: xr.Dataset) -> np.ndarray:
    """The fraction of pairs with key and query noise of one sign at T2_SGN, by seed."""
    query, key = _then(run)
    return series.positive_share(key * query).values


def _share_kept(run: xr.Dataset) -> xr.DataArray:
    """Of pairs that start with one sign, the fraction with it at T2_SGN, by seed."""
    query, key = _signs(run.isel(time=0, drop=True))
    return share_among(_then(run)[0] * query, key * query > 0)


def _mean_share_kept(run: xr.Dataset) -> float:
    return float(_share_kept(run).mean(skipna=False))


def _to_plus(run: xr.Dataset) -> xr.DataArray:
    """Of pairs that start with opposite signs, the fraction that is positive then."""
    query, key = _signs(run.isel(time=0, drop=True))
    return share_among(_then(run)[0], key * query < 0)


def _near_half(name: str, within: float) -> c.Near:
    what = f"{name}: share of opposite pairs that become positive"
    return c.Near(what, _to_plus, 0.5, within, unit="difference", of=(name,))


def _cells(run: xr.Dataset) -> np.ndarray:
    """Counts of pairs by signs at the start and at t = 10, (seed, 4, 4)."""
    groups = []
    for time in (0.0, 10.0):
        query, key = _signs(run.sel(time=time))
        groups.append((2 * (key < 0) + (query < 0)).stack(pair=series.PAIR).values)
    start, later = groups
    cell = 4 * start + later
    return np.stack([np.bincount(row, minlength=16).reshape(4, 4) for row in cell])


def _judge_table(evidence: Evidence) -> c.Finding:
    run = evidence["ten"]
    cells = _cells(run)
    mean, deviation = cells.mean(axis=0), cells.std(axis=0, ddof=1)
    # A cell that never varies has no scale: any other printed number is then far.
    away = np.abs(np.array(PRINTED) - mean) / np.where(deviation > 0, deviation, 1e-9)
    one_sign = series.aligned(run).sel(time=10.0)
    farthest = float(away.max()) if one_sign.notnull().all() else np.nan
    return c.Finding(
        (
            c.Exact(farthest, 3.0, "printed cells from the mean, in deviations"),
            c.per_seed(one_sign - 0.95, "pairs of one sign at t = 10"),
        ),
        {"mean": mean, "deviation": deviation, "printed, in deviations": away},
    )


CLAIMS = (
    ev.on_disjoint(
        id="C-L4.2",
        place="Lemma 4.2",
        statement=(
            "At T2_SGN key noise and query noise of every pair (neuron, sample) have "
            "the same sign, with probability 1 − δ."
        ),
        kind=c.Kind.PROBABILITY,
        delta=ev.DELTA_LATTICE,
        judged=tuple(ev.IDEAL),
        needs={**ev.SETTING_A, **ev.IDEAL},
        judge=c.All(
            (
                c.AtLeast(
                    "share of pairs of one sign at T2_SGN",
                    _aligned,
                    1.0,
                    of=tuple(ev.IDEAL),
                ),
            ),
            also={
                "in setting (a)": lambda e: c.look.extent(_aligned(e["a"])),
                "pairs in two-cycles": lambda e: two_cycles(e["odd"]).values,
            },
        ),
        predicate="δ is left open, and read as Theorem 3.2's n^−1/3",
        source=(
            "our runs: seeds 200–219 of the lattice, 200–209 of setting (a). An "
            "earlier version asked for 98% of pairs; now all, as printed"
        ),
        settings=f"{ev.LATTICE}. Setting (a) is shown for comparison",
        inert={
            "attention": "it only counts two-cycles, which are printed and not judged"
        },
        survives={"holes": "the unknown records begin after T2_SGN"},
    ),
    ev.on_ladder(
        id="C-L4.2-1",
        place="Lemma 4.2, first case",
        statement="Pairs that start with equal signs keep them up to T2_SGN.",
        judge=c.All(
            (
                c.FromSizeOn(
                    "share of equal signs that are kept",
                    _share_kept,
                    "support",
                    least=1.0,
                ),
            ),
            also={
                "mean share at the lowest support": lambda e: _mean_share_kept(
                    e["s=1e+06"]
                )
            },
        ),
        expected=c.Verdict.INCONCLUSIVE,
        source=(
            "our runs, seeds 200–204 (0.94 at 10⁶, 0.998 at 10¹⁰ on seeds 0–4). An "
            "earlier version judged the correction as if it were the printed "
            "statement"
        ),
        correction=c.Correction(
            c.CorrectionKind.WEAKER,
            "98% of them keep their signs, averaged over seeds, at all sufficiently "
            "large supports; initial signals turn the rest.",
            c.FromSizeOn(
                "share of equal signs that are kept, averaged over seeds",
                _mean_share_kept,
                "support",
                least=0.98,
            ),
        ),
        mutations=c.named(mutate.later(mutate.EVERY, "query_neuron", -1.0)),
        witness=c.Witness(
            "witnesses/lattice.py",
            {"equal signs kept": ("mean share at the lowest support",)},
        ),
    ),
    ev.on_disjoint(
        id="C-L4.2-2",
        place="Lemma 4.2, second case; Lemma E.6",
        statement="Of pairs that start with opposite signs, half become positive and "
        "half negative.",
        kind=c.Kind.UNIVERSAL,
        needs={**ev.SETTING_A, TOP: ev.RUNGS[TOP]},
        judge=c.All((_near_half("a", 0.08), _near_half(TOP, 0.16))),
        predicate="within 0.08 in setting (a), where a seed has a thousand such pairs "
        "(0.03 on seeds 0–4), and within 0.16, three standard deviations for 90 pairs, "
        "on the lattice",
        source="our runs: seeds 200–209 of setting (a), 200–204 of the lattice",
        settings=f"{ev.ROW_A}. And {ev.LADDER}, at the top",
        survives={"holes": "the unknown records begin after T2_SGN"},
    ),
    c.Claim(
        id="C-Tab2",
        place="Table 2",
        statement=(
            "At t = 10 the signs of key and query noise, by their initial signs, are "
            "as counted in Table 2: nearly all pairs have key and query noise of the "
            "same sign, and pairs that start so keep their sign."
        ),
        under=(),
        kind=c.Kind.OBSERVATION,
        system=ev.SIGNGD,
        needs=TABLE,
        judge=_judge_table,
        predicate="over 20 seeds, no printed cell is further than three standard "
        "deviations from the mean; at least 95% of pairs have one sign in 90% of seeds "
        "(0.977 ± 0.007 on those judged)",
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–219",
        settings=ev.ROW_A,
        survives={"holes": "it reads only the first and the last record"},
    ),
)
