"""Figures 5 to 7: three, four and eight groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.claims.stages import first_crossing
from attnflow.figures.exhibits import Line, Panels, Tables
from attnflow.papers.mixture.figures.courses import (
    ALIGNMENT,
    DASHED,
    FINITE,
    GROUPS,
    SCORE,
    comes_before,
    course,
    losses,
)
from attnflow.papers.mixture.stages import (
    LEARNED,
    attention_grown,
    learned,
    neurons_aligned,
)
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.installation import xr


def _names(run: xr.Dataset, letter: str) -> list[str]:
    return [name for name in map(str, run["token"].values) if name[0] == letter]


def _alignments(run: xr.Dataset, letter: str) -> xr.DataArray:
    return run["value"].sel(head="+", token=_names(run, letter))


def _role(key: str, query: str) -> str:
    if (key[0], query[0]) != ("c", "v"):
        return "others"
    return "match" if key[1:] == query[1:] else "mismatch"


def _scores(run: xr.Dataset, role: str) -> xr.DataArray:
    """Scores of one role: same group, different groups, others; NaN elsewhere."""
    table = run["score"].sel(head="+")
    keys, queries = (map(str, table[dim].values) for dim in ("key", "query"))
    names = list(queries)
    mask = [[_role(key, query) == role for query in names] for key in keys]
    return table.where(xr.DataArray(mask, dims=("key", "query")))


def _balance(run: xr.Dataset) -> xr.DataArray:
    """The score with another group that follows from rows of sum zero."""
    match = _scores(run, "match").median(("seed", "key", "query"))
    return -match / (len(_names(run, "c")) - 1)


NEURONS = course(
    title="Neuron",
    y=ALIGNMENT,
    lines=tuple(
        Line(f"${letter}_k$", partial(_alignments, letter=letter), kind=kind)
        for letter, kind in (("v", "class"), ("c", "group"))
    ),
)
SCORES = course(
    title="Scores: key, query",
    y=SCORE,
    lines=(
        Line("others", partial(_scores, role="others")),
        Line("$c_k, v_k$", partial(_scores, role="match"), kind="match"),
        Line("$c_k, v_j$", partial(_scores, role="mismatch"), kind="mismatch"),
        Line("balance", _balance, label="", kind="theory", style=DASHED),
    ),
)


def _last_scores(table: Tables) -> np.ndarray:
    """Final scores of keys c_k and queries v_j, (seed, k, j)."""
    run = table.runs["run"]
    last = run["score_at_end"].isel(stage=-1).sel(head="+")
    rows = last.sel(key=_names(run, "c"), query=_names(run, "v"))
    return rows.transpose("seed", "key", "query").values


def _row_sums(table: Tables) -> np.ndarray:
    """Row-sum ratio max_k |Σ_j S[c_k, v_j]| / max_k |S[c_k, v_k]|, per seed."""
    scores = _last_scores(table)
    diagonal = np.abs(np.diagonal(scores, axis1=1, axis2=2)).max(axis=1)
    return np.abs(scores.sum(axis=2)).max(axis=1) / diagonal


def _mismatch_ratio(table: Tables) -> np.ndarray:
    """Minus the mean score with other groups over that with the same, per seed."""
    scores = _last_scores(table)
    count = scores.shape[1]
    diagonal = np.diagonal(scores, axis1=1, axis2=2).mean(axis=1)
    return (diagonal - scores.mean(axis=(1, 2)) * count) / diagonal / (count - 1)


def values(table: Tables) -> dict[str, Any]:
    """Learning times, and final alignments and scores."""
    run, scores = table.runs["run"], _last_scores(table)
    every = first_crossing(run, "loss", level=LEARNED, direction="down", scale="log")
    own = np.eye(scores.shape[1], dtype=bool)
    numbers: dict[str, Any] = {
        "steps to loss 0.1": {"all": every.median}
        | {group: learned(run, group).median for group in table["losses"]},
        "accuracy at the end": float(schema.last(run, "accuracy").min()),
        "alignment at the end": {
            letter: float(
                run["value_at_end"].sel(head="+", token=_names(run, letter)).median()
            )
            for letter in ("v", "c")
        },
        "score at the end": {
            "own group": float(np.median(scores[:, own])),
            "other groups": float(np.median(scores[:, ~own])),
        },
        "row sum over own score": float(np.median(_row_sums(table))),
    }
    if "longer" in table.runs:
        numbers["with L = 5 at infinite width"] = {
            f"{name} at the end": float(
                schema.last(table.runs["longer"], name).median()
            )
            for name in ("accuracy", "loss")
        }
    return numbers


def _in_turn(table: Tables) -> list[bool]:
    """Whether neurons align, then both groups of samples are learned."""
    run = table.runs["run"]
    easy, hard = (learned(run, group) for group in ("consistent", "conflicting"))
    return [comes_before(neurons_aligned(run), easy), comes_before(easy, hard)]


STATED = {
    "as with two mixtures neurons align, then consistent samples are learned, then "
    "conflicting ones": _in_turn,
    "as with two mixtures scores grow after the consistent samples are learned": (
        lambda t: comes_before(
            learned(t.runs["run"], "consistent"), attention_grown(t.runs["run"])
        )
    ),
}
CHECKS = {
    "every sample is classified correctly, in every seed": (
        lambda t: schema.last(t.runs["run"], "accuracy") > 1 - 1e-12
    ),
    "scores with a token's own group and with another group are no longer nearly "
    "symmetric": (lambda t: _mismatch_ratio(t) < 0.8),
    "training takes longer than with two groups": lambda t: comes_before(
        *(learned(t.runs[name], "conflicting") for name in ("two", "run"))
    ),
}


SILENT = (
    "The length L is not stated for more than two groups. An example in the paper has "
    "L = K + 1, and so has K = 2; we use {length}.",
    "Width, initial scale and steps are not stated: m = 64, ω = 0.1, {steps} steps, "
    "and three seeds.",
    "Consistent and conflicting samples are defined for K = 2 only. We call a sample "
    "consistent if all its distractors have the sign of the label, conflicting if none "
    "has, and mixed otherwise.",
)


def _exhibit(
    number: int,
    groups: str,
    needs: Mapping[str, Request],
    readings: Mapping[str, str],
    *,
    samples: tuple[str, ...] = tuple(GROUPS),
    more: str = "",
) -> Exhibit:
    caption = (
        f"Losses, neuron alignments and scores with {groups} groups, all weights "
        "trained together. Curves are medians over groups and three seeds, bands the "
        "range over both. Training has the same stages as "
        "with two groups, and takes longer. Scores of a group token with class tokens "
        "of other groups are no longer as large as with that of its own group; "
        "instead, the scores of a group token sum to about zero (dashed: the score "
        f"with another group that follows from this).{more}"
    )
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: {groups} groups",
        caption=caption,
        needs={**needs, "two": FINITE},
        shows=Panels((losses("Losses", samples), NEURONS, SCORES), size=(12.6, 3.9)),
        values=values,
        stated={"Appendix A.4": STATED},
        checks=CHECKS,
        silent=tuple(text.format(**readings) for text in SILENT),
    )


OUTVOTED = (
    " Two distractors that both conflict outvote a sample's own class token: that loss "
    "rises beyond log 2 before it falls."
)
# At infinite width one sample per orbit is exact: 14 samples instead of 448.
LONGER = {"L": 5, "width": "infinite", "population": "orbits", "steps": 20000.0}
FIGURE5 = _exhibit(
    5,
    "three",
    {"run": Request("k3", seeds=3)},
    {"length": "L = 4", "steps": "4000"},
    more=OUTVOTED,
)
FIGURE6 = _exhibit(
    6,
    "four",
    {
        "run": Request("k4", seeds=3),
        "longer": Request("k4", LONGER, seeds=1, quick={"steps": 8000.0}),
    },
    {"length": "L = 4, since L = 5 with b = 1/2 does not train", "steps": "5000"},
    more=OUTVOTED
    + (
        " We use L = 4. With L = K + 1 = 5 and the bias b = 1/2 training does not "
        "succeed reliably: at infinite width accuracy stays at 8/9 (also "
        "after 100 000 steps), and at width 64 one of three seeds classifies every "
        "sample after 8000. With b = 1 it succeeds."
    ),
)
FIGURE7 = _exhibit(
    7,
    "eight",
    {"run": Request("k8", seeds=3)},
    {"length": "L = 3", "steps": "10 000"},
    samples=("consistent", "conflicting"),
)
