"""Figures 1c and 4: scores of the positive head in simultaneous training."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Panels, Tables
from attnflow.papers.mixture.figures.courses import (
    FINITE,
    MAIN,
    OTHERS,
    SCORES,
    SILENT_TRAINING,
    TOKENS,
    comes_before,
    nearly_together,
)
from attnflow.papers.mixture.stages import (
    attention_grown,
    learned,
    main_score_reaches,
    plateau_left,
    stage_table,
)
from attnflow.schema.declarations import Exhibit

FIRST = (("c1", "v1"), ("c1", "v2"))
"""The main scores of key c1."""


def _last(table: Tables, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """Final scores of some pairs, (pair, seed)."""
    return np.stack([table["scores"].ends[", ".join(pair)] for pair in pairs])


def _others(table: Tables) -> np.ndarray:
    """Largest size of the scores other than the main ones, by seed."""
    return np.abs(_last(table, OTHERS)).max(axis=0)


def _smallest(table: Tables, pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """Smallest size of some scores, by seed."""
    return np.abs(_last(table, pairs)).min(axis=0)


def values(table: Tables) -> dict[str, Any]:
    """Final main scores, the largest other score, and the onset time."""
    rows = {row.name: row for row in stage_table(table.runs["run"])}
    return {
        "score at the end": {
            ", ".join(pair): float(np.median(_last(table, [pair]))) for pair in MAIN
        },
        "largest other score": float(np.median(_others(table))),
        "steps to score 0.1": {
            "measured": rows["t_onset"].detected,
            "closed form": rows["t_onset"].formula,
        },
        "steps until the conflicting loss leaves log 2": rows["t_conflict"].detected,
    }


FIGURE1C = Exhibit(
    id="figure1c",
    kind="figure",
    title="Figure 1c: main attention scores of the positive head",
    caption=(
        "Attention scores in the runs of Figure 1a; labels give the key, then the "
        "query. Attention is learned last: query v1 is attracted by the key of its "
        "own group and repelled by that of the other one. The other twelve scores "
        "are in grey."
    ),
    needs={"run": FINITE},
    shows=Panels((SCORES,), size=(7.2, 3.9)),
    values=values,
    stated={
        "Section 3.1": {
            "the score of key c1 and query v1 grows to a large positive value": (
                lambda t: t["scores"].ends["c1, v1"] > 1
            ),
            "the score of key c1 and query v2 falls to a large negative value": (
                lambda t: t["scores"].ends["c1, v2"] < -1
            ),
            "scores grow only after the consistent samples are learned": (
                lambda t: comes_before(
                    learned(t.runs["run"], "consistent"),
                    main_score_reaches(t.runs["run"]),
                )
            ),
        },
        "Section 5.2": {
            "these two scores, and their mirror images with c2, change more than all "
            "other scores": lambda t: _others(t) < _smallest(t, FIRST),
        },
    },
    checks={
        "all other scores stay below half of the main ones": (
            lambda t: _others(t) < _smallest(t, FIRST) / 2
        ),
        "the main scores grow when the loss of the conflicting samples starts to "
        "fall": (
            lambda t: nearly_together(
                plateau_left(t.runs["run"]), attention_grown(t.runs["run"]), 1.3
            )
        ),
    },
    silent=SILENT_TRAINING,
)
FIGURE4 = Exhibit(
    id="figure4",
    kind="figure",
    title="Figure 4: all scores of the positive head",
    caption=(
        "All sixteen attention scores of the positive head, in the runs of Figure 1. "
        "Four grow large: those with a group token as key and a class token as query."
    ),
    needs={"run": FINITE},
    shows=Panels((SCORES,)),
    draw=lambda t: figures.score_grid(
        t.runs["run"],
        fixed={"head": "+"},
        kinds={pair: style["kind"] for pair, style in MAIN.items()},
    ),
    values=lambda t: {
        f"key {key}": {
            query: float(np.median(_last(t, [(key, query)])))
            for query in sorted(TOKENS)
        }
        for key in sorted(TOKENS)
    },
    checks={
        "scores of c1, v1 and c2, v2 are positive, of c1, v2 and c2, v1 negative": (
            lambda t: _last(t, MAIN) * np.array([1, 1, -1, -1])[:, None] > 0
        ),
        "each of them is more than twice every other score": (
            lambda t: _smallest(t, MAIN) > 2 * _others(t)
        ),
    },
    silent=SILENT_TRAINING,
)
