"""Map of `scansnap`: entropy over both learning rates, as in Figure 6."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnflow.figures.swept import Curve, Level, Map, boundary
from attnflow.figures.swept.map import law
from attnflow.papers.scansnap.figures.runs import SYN_MEDIUM_SILENT
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr

ENTROPY = "mean_distinct_entropy"
CUT = Level(1.9)
"""An entropy in the middle of Figure 6's panels; ten equal tokens have ln 10 = 2.3."""


def entropies(evidence: Evidence) -> xr.DataArray:
    """Entropy of attention on distinct tokens after training."""
    table = evidence["map"][ENTROPY]
    return table.transpose("score_rate", "ratio", "queries", "seed")


def _curves(evidence: Evidence, panel: int) -> tuple[Curve, ...]:
    """Line of constant ratio, along which Theorem 4's flow has constant entropy."""
    label = r"one $\eta_Y/\eta_Z$: by Theorem 4's flow one entropy"
    middle = float(np.exp(np.log(evidence["map"]["ratio"]).mean()))
    return (
        Curve(label, lambda ratio, _: np.log(ratio) - np.log(middle), judged=False),
    )


def _laws(evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Power law of the ratio at an entropy of 1.9 in η_Z; by Theorem 4 constant."""
    one_query = entropies(evidence).isel(queries=0)
    return {"η_Y/η_Z at an entropy of 1.9, by η_Z": law(boundary(CUT, one_query))}


def _checks(evidence: Evidence) -> dict[str, bool]:
    means = entropies(evidence).mean("seed")
    rates = means["score_rate"].values
    first = means.sel(score_rate=rates[-1]) - means.sel(score_rate=rates[0])
    late = means.isel(ratio=-1) - means.sel(ratio=2.0, method="nearest")
    return {
        "entropy is lower at the largest η_Z than at the least, in four of five "
        "columns or more": bool((first < 0).mean() >= 0.8),
        "entropy rises from ratio 2 to the largest, in four of five rows or more": bool(
            (late > 0).mean() >= 0.8
        ),
    }


FIGURE6 = Map(
    id="map-rates",
    title="Figure 6 as a sweep: entropy over η_Z and η_Y/η_Z",
    caption=(
        "Entropy of attention on distinct tokens after 100 steps of heavy ball, mean "
        "over seeds (our own random numbers), over the two axes of Figure 6 and "
        "beyond its ends. By Theorem 4's flow entropy would depend on the ratio alone, "
        "and be constant along the dashed line. The map shows whether it is, or "
        "whether η_Z matters too."
    ),
    sweeps={
        "map": SweepRequest(
            "syn-medium",
            {
                "score_rate": "0.25..4:9:log",
                "ratio": "0.5..16:11:log",
                "queries": [1, 3, 10],
                "every": 100,
            },
            (ENTROPY,),
            seeds=5,
            quick={
                "score_rate": "1.5..4:3:log",
                "ratio": "0.5..16:5:log",
                "queries": [1],
                "batch": 64,
            },
            quick_seeds=2,
        )
    },
    table=entropies,
    label="entropy on distinct tokens",
    names={
        "score_rate": r"$\eta_Z$",
        "ratio": r"$\eta_Y/\eta_Z$",
        "queries": "queries",
    },
    curves=_curves,
    over="queries",
    kind="easy",
    more=_laws,
    checks=_checks,
    silent=SYN_MEDIUM_SILENT,
)

MAPS = (FIGURE6.exhibit(),)
