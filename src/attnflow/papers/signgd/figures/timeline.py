"""Figure 19: timeline of the stages, by formula and as detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.figures.exhibits import (
    Panels,
    Tables,
    Timeline,
    stage_times,
    timeline_legend,
)
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures import runs
from attnflow.papers.signgd.sizes import sizes
from attnflow.schema.declarations import Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = {
    "T1": r"$T_1$: values of noise are positive",
    "T2_SGN": r"$T_2^{\mathrm{SGN}}$: key and query noise aligned",
    "T2": r"$T_2$: stage II ends",
    "T3": r"$T_3$: signals follow the vote",
    "T4-_hi": r"$T_4^-$: outvoted keys turn",
    "2 T4-_hi": r"$2T_4^-$: outvoted queries turn",
    "T4": r"$T_4$: queries follow (99%)",
    "all follow": "all signs agree",
    "T_attn": r"$T_{\mathrm{attn}}$: signals leave the signal",
}
"""Stages from the top, with symbol and event."""
ORDER = ("T1", "T2_SGN", "T2", "T3", "T4-_hi")
"""The printed order of the formulas."""
PAPERS, LATTICES = "setting (a)", "lattice"


def on_first_rate(run: xr.Dataset) -> dict[str, dict[str, float]]:
    """Times of the stages, in steps of the first learning rate."""
    growth = sizes(schema.setting_of(run)).growth
    return {
        stage: {name: float(stages.clock_of(t, growth)) for name, t in times.items()}
        for stage, times in stage_times(stages.stage_table(run)).items()
    }


def _timeline(title: str, run: str, rows: dict[str, str]) -> Timeline:
    return Timeline(
        title=title,
        name=run,
        x="step, at the first rate",
        rows=rows,
        of=lambda evidence: on_first_rate(evidence[run]),
    )


def _legend(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    names = "the paper's formula", "detected (bar: range of seeds)"
    timeline_legend(figure, grid[0, 0], *names)


def _formulas_in_order(table: Tables, run: str) -> bool:
    formulas = [table[run][stage].get("formula", np.nan) for stage in ORDER]
    return bool((np.diff(formulas) > 0).all())


def _detected_in_order(table: Tables, run: str) -> bool:
    known = [table[run][stage] for stage in ROWS if stage not in ("T2", "T_attn")]
    return bool((np.diff([t.get("detected", np.nan) for t in known]) > 0).all())


def _over_formula(table: Tables, run: str, *names: str) -> np.ndarray:
    """Detected times over their formulas; NaN where one is unknown."""
    known = [table[run][stage] for stage in names]
    return np.array(
        [t.get("detected", np.nan) / t.get("formula", np.nan) for t in known]
    )


FIGURE19 = Exhibit(
    id="figure19",
    kind="figure",
    title="Figure 19: timeline of the four stages",
    caption=(
        "End times of the stages, by the paper's formulas (diamonds; T4⁻ is its "
        "upper bound, T4 has C3 = 4, and the constant in T_attn is read as 1) and as "
        "detected (dots: median over seeds, bars: range). Setting (a), five seeds: "
        "the formulas bound the early times from above, are out of the printed "
        "order, and T2 lies beyond the run. Disjoint supports, n = 9, m_k = 20, σ_0 "
        "= 1e-8, ten seeds: formulas and events are in the printed order, and "
        "outvoted keys turn at T4⁻, up to 7%."
    ),
    needs={PAPERS: runs.signgd(), LATTICES: runs.LATTICE},
    shows=Panels(
        (
            _timeline("Setting (a), as in the paper", PAPERS, ROWS),
            _timeline(
                r"Disjoint supports, $s = 10^6$", LATTICES, dict.fromkeys(ROWS, "")
            ),
        ),
        size=(13.6, 5.6),
        finish=_legend,
    ),
    values=lambda t: {
        f"{run}: {stage}": times
        for run, timetable in t.items()
        for stage, times in timetable.items()
    },
    stated={
        "Caption of Figure 19": {
            "the detected times are in the printed order, in both settings": (
                lambda t: [_detected_in_order(t, run) for run in t]
            )
        }
    },
    checks={
        "on the lattice the formulas are in the printed order": lambda t: (
            _formulas_in_order(t, LATTICES)
        ),
        "in setting (a) the formulas are not in the printed order": lambda t: (
            not _formulas_in_order(t, PAPERS)
        ),
        "in setting (a) T1, T2_SGN and T3 are detected before half of their formulas": (
            lambda t: _over_formula(t, PAPERS, "T1", "T2_SGN", "T3") < 0.5
        ),
        "on the lattice keys turn within 10% of the upper T4⁻, queries within 10% of "
        "twice that": lambda t: (
            abs(_over_formula(t, LATTICES, "T4-_hi", "2 T4-_hi") - 1) < 0.1
        ),
    },
    silent=(
        *runs.SILENT,
        "C3 and the constant in T_attn are not stated. We take 4 and 1.",
    ),
)
