"""Claims on symmetries between groups and heads at infinite width (Appendix C)."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims import evidence as ev
from attnflow.papers.mixture.conditions import STAGE_ONE, STAGE_TWO, THEOREM
from attnflow.schema.installation import xr

ALL = mutate.EVERY
# Both sides undergo the same operations in another order: they diverge by a few ulps
# per step, over a few hundred steps of the flow.
ROUNDING = 1e-12
GROUPS = [1, 0, 3, 2]
TABLES = ("score", "key_self_score", "query_self_score")
_claim = partial(ev.of_ladder, kind=c.Kind.IDENTITY)


def _gap(table: xr.DataArray, image: np.ndarray) -> xr.DataArray:
    """A table less its image under a symmetry, over the table's largest entry."""
    return abs(table - image) / abs(table).max()


def _signs(table: xr.DataArray, dim: str) -> xr.DataArray:
    """−1 for class tokens, 1 for group tokens."""
    return xr.where(table[dim].isin(["v1", "v2"]), -1.0, 1.0)


def _groups_exchanged(table: xr.DataArray, *dims: str) -> xr.DataArray:
    return _gap(table, table.isel(dict.fromkeys(dims, GROUPS)).values)


def _heads_exchanged(table: xr.DataArray, *dims: str) -> xr.DataArray:
    image = table.isel(head=[1, 0])
    for dim in dims:
        image = image * _signs(table, dim)
    return _gap(table, image.transpose(*table.dims).values)


def _of_samples(run: xr.Dataset, name: str, *, signs: bool) -> xr.DataArray:
    """Asymmetry of a table over samples: groups exchanged, or signs and heads."""
    table = run[name]
    samples = [str(sample) for sample in run["sample"].values]
    exchange = _exchange_signs if signs else _exchange_groups
    image = table.isel(sample=[samples.index(exchange(s)) for s in samples])
    if signs:
        image = image.isel(head=[1, 0]) if "head" in table.dims else -image
    return _gap(table, image.values)


def _exchange_groups(name: str) -> str:
    return name.translate(str.maketrans("12", "21"))


def _exchange_signs(name: str) -> str:
    group, *classes = name.split()
    flipped = [t.removeprefix("-") if t[0] == "-" else f"-{t}" for t in classes]
    return " ".join([group, *flipped])


def _initial_error(run: xr.Dataset) -> xr.DataArray:
    """Deviation of the initial tables from Lemma C.1, over ω²: 0, ω² I, ω² I."""
    start = run.isel(time=0, drop=True)
    identity = ev.omega_of(run) ** 2 * np.eye(4)
    exact = (np.zeros((4, 4)), identity, identity)
    errors = [start[name] - table for name, table in zip(TABLES, exact, strict=True)]
    return xr.concat(errors, "table") / ev.omega_of(run) ** 2


def _equal(what: str, error: partial[xr.DataArray]) -> c.Equal:
    return c.Equal(f"asymmetry of {what}", error, ROUNDING)


def _neurons(run: xr.Dataset) -> xr.DataArray:
    value = ev.at_end(run, "value", 2)
    residuals = [_groups_exchanged(value, "token"), _heads_exchanged(value, "token")]
    return xr.concat(residuals, "symmetry")


def _table(run: xr.Dataset, name: str, *, heads: bool) -> xr.DataArray:
    dims = ("token",) if name == "value" else ("key", "query")
    return (_heads_exchanged if heads else _groups_exchanged)(run[name], *dims)


def _manifold(run: xr.Dataset) -> xr.DataArray:
    """S₊ (v1 + v2) in stage 2."""
    score = ev.in_stage(run, "score", 1).sel(head="+", query=["v1", "v2"])
    return score.sum("query", skipna=False)


SYMMETRIC = (
    "negation, scaling and another order of the records keep the symmetry; the claim's "
    "own mutations exchange tokens, samples and heads"
)

SYMMETRY = (
    _claim(
        id="B-Thm4.1-sym",
        under=THEOREM,
        place="Theorem 4.1, symmetry between heads and groups",
        statement="At T3 the neurons' alignments are the same for both groups and, up "
        "to the sign of class tokens, for both heads.",
        judge=c.Equal("asymmetry of the neurons at T3", _neurons, ROUNDING),
        predicate="the rounding error of the flow's steps, over the largest alignment",
        mutations=c.named(
            mutate.noise(ALL, "value_at_end", 1e-6),
            mutate.swap(ALL, "value_at_end", "token", ("c1", "v1")),
        ),
        survives={"holes": "reads the state at T3, which is kept beside the records"},
    ),
    _claim(
        id="B-C",
        under=STAGE_ONE,
        place="Lemmas C.1, C.2, C.4; Corollaries C.3, C.5",
        statement="At infinite width neurons, scores, self-scores, attention and "
        "outputs keep the symmetry between groups and between heads for all time.",
        judge=c.All(
            (
                c.Equal("initial tables off 0 and ω² I, over ω²", _initial_error, 0.0),
                *(
                    _equal(f"{name}, {what} exchanged (Lemma {lemma})", measure)
                    for name in ("value", *TABLES)
                    for what, lemma, heads in (
                        ("groups", "C.2", False),
                        ("heads", "C.4", True),
                    )
                    for measure in (partial(_table, name=name, heads=heads),)
                ),
                *(
                    _equal(f"{name}, {what} exchanged (Corollary {lemma})", measure)
                    for name in ("head_output", "attention", "output")
                    for what, lemma, signs in (
                        ("groups", "C.3", False),
                        ("signs and heads", "C.5", True),
                    )
                    for measure in (partial(_of_samples, name=name, signs=signs),)
                ),
            )
        ),
        predicate="the rounding error of the flow's steps, over the largest value of "
        "each observable; initial tables exactly",
        mutations=c.named(
            mutate.swap(ALL, "value", "token", ("c1", "v1")),
            mutate.swap(ALL, "score", "key", ("c1", "v1")),
            mutate.noise(ALL, "query_self_score", 1e-6),
            mutate.swap(ALL, "output", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.swap(ALL, "attention", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.swap(ALL, "head_output", "sample", ("c1 v1 v2", "c2 v2 -v1")),
        ),
        inert=dict.fromkeys(
            ("value", "score", "head_output", "attention", "output"), SYMMETRIC
        ),
        survives=dict.fromkeys(
            ("untrained", "cut"),
            "the symmetry holds at every time, including the first",
        ),
    ),
    _claim(
        id="B-R9",
        origin="ours",
        under=STAGE_TWO,
        place="Theorem 4.1, near symmetry, sharpened",
        statement="In stage 2 at infinite width S₊(v1 + v2) = 0 for all time: for "
        "class queries the near symmetry is exact.",
        judge=c.Equal("S₊ (v1 + v2) in stage 2", _manifold, 1e-14),
        predicate="a few ulps of a main score of 1",
        mutations=c.named(
            mutate.noise(ALL, "score", 1e-6),
            mutate.swap(ALL, "score_at_end", "query", ("c1", "v1")),
        ),
        inert=dict.fromkeys(
            ("score", "score_at_end"),
            "an entry and its negative cancel in any order and at any scale",
        ),
        survives={"cut": "stage 2 ends before a tenth of the run's time"},
    ),
)
