"""Symmetries between groups and heads, exact at infinite width."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture.claims.evidence import (
    CONDITION,
    FLOW,
    LADDER,
    at_end,
    ladder,
    with_end,
)

ALL = mutate.EVERY
# Both sides go through the same operations in another order: their difference grows
# by a few ulps a step, over a few hundred steps of the flow.
ROUNDING = 1e-12
_claim = partial(
    Claim,
    system=FLOW,
    needs=LADDER,
    scope=Scope.THEOREM,
    conditions=CONDITION,
    expected=Verdict.HOLDS,
    source="sheet B section 7, and our run",
)
GROUPS = np.array([1, 0, 3, 2])
HEADS = np.array([1.0, 1.0, -1.0, -1.0])
TABLES = ("score", "key_self_score", "query_self_score")


def _residual(one: np.ndarray, other: np.ndarray, scale: np.ndarray) -> float:
    known = np.isfinite(one)
    gap = np.abs(np.where(known, one - other, 0.0)).max()
    return float(gap / np.nanmax(np.abs(scale)))


def _neuron_residual(values: np.ndarray) -> float:
    """Between groups and between heads, of values with dims (…, head, token)."""
    groups = _residual(values, values[..., GROUPS], values)
    heads = _residual(values[..., 0, :], values[..., 1, :] * HEADS, values)
    return max(groups, heads)


def _table_residual(table: np.ndarray) -> float:
    """Likewise, of a table with dims (…, head, key, query)."""
    groups = _residual(table, table[..., GROUPS, :][..., GROUPS], table)
    flipped = table[..., 1, :, :] * np.outer(HEADS, HEADS)
    return max(groups, _residual(table[..., 0, :, :], flipped, table))


def _sample_residuals(run: xr.Dataset) -> list[float]:
    """Corollaries C.3 and C.5: exchange the groups, or the signs and the heads."""
    names = [str(name) for name in run["sample"].values]
    groups = [names.index(_exchange_groups(name)) for name in names]
    signs = [names.index(_exchange_signs(name)) for name in names]
    heads = run["head_output"].transpose("time", "sample", "head").values
    maps = run["attention"].transpose("time", "head", "sample", ...).values
    output = run["output"].values
    return [
        _residual(heads, heads[:, groups], heads),
        _residual(heads[..., 0], heads[:, signs, 1], heads),
        _residual(maps, maps[:, :, groups], maps),
        _residual(maps[:, 0], maps[:, 1][:, signs], maps),
        _residual(output, output[:, groups], output),
        _residual(output, -output[:, signs], output),
    ]


def _exchange_groups(name: str) -> str:
    return name.translate(str.maketrans("12", "21"))


def _exchange_signs(name: str) -> str:
    group, *classes = name.split()
    flipped = [t.removeprefix("-") if t[0] == "-" else f"-{t}" for t in classes]
    return " ".join([group, *flipped])


def _judge_neurons(evidence: Evidence) -> Finding:
    worst = 0.0
    for _, run in ladder(evidence):
        value = at_end(run, 2)["value"].transpose("head", "token").values
        worst = max(worst, _neuron_residual(value))
    check = Exact(worst, ROUNDING, "asymmetry of the neurons at T3")
    return Finding((check,), {"asymmetry": worst})


def _judge_all(evidence: Evidence) -> Finding:
    found = []
    for _, run in ladder(evidence):
        found += [_neuron_residual(run["value"].values)]
        found += [_table_residual(run[name].values) for name in TABLES]
        found += _sample_residuals(run)
    check = Exact(max(found), ROUNDING, "largest residual of C.1 to C.5")
    first = _initial_error(evidence)
    start = Exact(first, 0.0, "initial tables against 0 and ω² I")
    return Finding((check, start), {"residual": max(found)})


def _initial_error(evidence: Evidence) -> float:
    """Lemma C.1: scores start at 0, self-scores at ω² on the diagonal."""
    errors = []
    for omega, run in ladder(evidence):
        start = run.isel(time=0)
        errors.append(np.abs(start["score"].values).max())
        for name in TABLES[1:]:
            wanted = omega**2 * np.eye(4)
            errors.append(np.abs(start[name].values - wanted).max() / omega**2)
    return float(max(errors))


def _judge_manifold(evidence: Evidence) -> Finding:
    """(v1 + v2) as a query, of the positive head, all through stage 2."""
    found = {}
    for omega, run in ladder(evidence):
        score = with_end(run.sel(head="+"), 1, "score")
        found[omega] = float(np.abs(score[..., 2] + score[..., 3]).max())
    check = Exact(max(found.values()), 1e-14, "S₊ (v1 + v2) in stage 2")
    return Finding((check,), {"largest": list(found.values())})


SYMMETRY = (
    _claim(
        id="B-Thm4.1-sym",
        place="Theorem 4.1, symmetry between heads and groups",
        statement="At T3 the neurons' alignments are the same for both groups and, up "
        "to the sign of class tokens, for both heads.",
        judge=_judge_neurons,
        predicate="residuals at most 1e-12 of the largest alignment: rounding over the "
        "flow's steps",
        mutations=named(
            mutate.noise(ALL, "value_at_end", 1e-6),
            mutate.swap(ALL, "value_at_end", "token", ("c1", "v1")),
            mutate.mapped(
                "neurons of the positive head negated",
                ALL,
                "value_at_end",
                lambda a: a * xr.where(a["head"] == "+", -1.0, 1.0),
            ),
        ),
    ),
    _claim(
        id="B-C",
        place="Lemmas C.1, C.2, C.4; Corollaries C.3, C.5",
        statement="At infinite width neurons, scores, self-scores, attention and "
        "outputs keep the symmetry between groups and between heads for all time.",
        judge=_judge_all,
        predicate="residuals at most 1e-12 of each quantity's largest value over all "
        "records of the three stages, for every ω; initial tables exactly 0 and ω² I",
        mutations=named(
            mutate.swap(ALL, "score", "key", ("c1", "v1")),
            mutate.noise(ALL, "query_self_score", 1e-6),
            mutate.swap(ALL, "output", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.swap(ALL, "attention", "sample", ("c1 v1 v2", "c1 v1 -v2")),
            mutate.swap(ALL, "head_output", "sample", ("c1 v1 v2", "c2 v2 -v1")),
            mutate.setting(ALL, omega=0.2),
        ),
    ),
    _claim(
        id="B-R9",
        origin="ours",
        place="Theorem 4.1, near symmetry, sharpened",
        statement="In stage 2 at infinite width S₊(v1 + v2) = 0 for all time: for "
        "class queries the near symmetry is exact.",
        judge=_judge_manifold,
        predicate="at most 1e-14 at every record: a few ulps of a main score of 1",
        source="sheet B section 4, R9, and our run",
        mutations=named(
            mutate.noise(ALL, "score", 1e-6),
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
        ),
    ),
)
