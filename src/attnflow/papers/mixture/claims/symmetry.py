"""Claims on symmetries between groups and heads at infinite width (Appendix C)."""

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
# Both sides undergo the same operations in another order: they diverge by a few ulps
# per step, over a few hundred steps of the flow.
ROUNDING = 1e-12
_claim = partial(
    Claim,
    system=FLOW,
    needs=LADDER,
    scope=Scope.THEOREM,
    conditions=CONDITION,
    expected=Verdict.HOLDS,
    source="our runs at infinite width (deterministic), ω = 0.3 … 1e-4",
)
GROUPS = np.array([1, 0, 3, 2])
HEADS = np.array([1.0, 1.0, -1.0, -1.0])
TABLES = ("score", "key_self_score", "query_self_score")


def _residual(table: np.ndarray, image: np.ndarray, scale: np.ndarray) -> float:
    finite = np.isfinite(table)
    gap = np.abs(np.where(finite, table - image, 0.0)).max()
    return float(gap / np.nanmax(np.abs(scale)))


def _neuron_residual(values: np.ndarray) -> float:
    """Largest asymmetry of values (…, head, token) between groups and between heads."""
    groups = _residual(values, values[..., GROUPS], values)
    heads = _residual(values[..., 0, :], values[..., 1, :] * HEADS, values)
    return max(groups, heads)


def _table_residual(table: np.ndarray) -> float:
    """Largest asymmetry of a table (…, head, key, query), likewise."""
    groups = _residual(table, table[..., GROUPS, :][..., GROUPS], table)
    flipped = table[..., 1, :, :] * np.outer(HEADS, HEADS)
    return max(groups, _residual(table[..., 0, :, :], flipped, table))


def _sample_residuals(run: xr.Dataset) -> list[float]:
    """Asymmetry of outputs and attention when groups, or signs and heads, swap."""
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
    residuals = []
    for _, run in ladder(evidence):
        residuals += [_neuron_residual(run["value"].values)]
        residuals += [_table_residual(run[name].values) for name in TABLES]
        residuals += _sample_residuals(run)
    check = Exact(max(residuals), ROUNDING, "largest residual of C.1 to C.5")
    first = _initial_error(evidence)
    start = Exact(first, 0.0, "initial tables against 0 and ω² I")
    return Finding((check, start), {"residual": max(residuals)})


def _initial_error(evidence: Evidence) -> float:
    """Deviation of the initial tables from Lemma C.1: S = 0, A_K = A_Q = ω² I."""
    errors = []
    for omega, run in ladder(evidence):
        start = run.isel(time=0)
        errors.append(np.abs(start["score"].values).max())
        for name in TABLES[1:]:
            exact = omega**2 * np.eye(4)
            errors.append(np.abs(start[name].values - exact).max() / omega**2)
    return float(max(errors))


def _judge_manifold(evidence: Evidence) -> Finding:
    """S₊ (v1 + v2) throughout stage 2."""
    largest = {}
    for omega, run in ladder(evidence):
        score = with_end(run.sel(head="+"), 1, "score")
        largest[omega] = float(np.abs(score[..., 2] + score[..., 3]).max())
    check = Exact(max(largest.values()), 1e-14, "S₊ (v1 + v2) in stage 2")
    return Finding((check,), {"largest": list(largest.values())})


SYMMETRY = (
    _claim(
        id="B-Thm4.1-sym",
        place="Theorem 4.1, symmetry between heads and groups",
        statement="At T3 the neurons' alignments are the same for both groups and, up "
        "to the sign of class tokens, for both heads.",
        judge=_judge_neurons,
        predicate="residuals are at most 1e-12 of the largest alignment, the rounding "
        "error of the flow's steps",
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
        predicate="residuals are at most 1e-12 of each observable's largest value over "
        "all records of the three stages, for every ω; initial tables exactly 0 and ω² "
        "I",
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
        predicate="all entries are at most 1e-14 at every record: a few ulps of a main "
        "score of 1",
        mutations=named(
            mutate.noise(ALL, "score", 1e-6),
            mutate.swap(ALL, "score", "query", ("c1", "v1")),
        ),
    ),
)
