"""Maps of `mixture`: required width over (ω, m), and learning rates over ω."""

from __future__ import annotations

import numpy as np

from attnflow.figures.swept import Curve, Level, Map, RateMap, boundary
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr

LEARNED = "loss@0.1"
"""The first time at which the loss is 0.1."""
NEAR = 0.01
"""Relative deviation of that time from infinite width's at a width that is enough."""
ENOUGH = Level(NEAR, scale="log")
_LONG = {"steps": 4000.0, "records": 801}
# Drawing Gram factors gives one shape, hence one program, for all widths.
_DRAWN = {"draw": "bartlett"}
SILENT = (
    "Width and ω are not stated: they are swept, or m = 128. The paper's learning "
    "rate is 0.1.",
)


def deviations(evidence: Evidence) -> xr.DataArray:
    """Relative deviation |T_m/T_∞ − 1| of the time T at which the loss is 0.1."""
    limit = evidence["infinite"][LEARNED].isel(seed=0, drop=True)
    deviation = abs(evidence["finite"][LEARNED] / limit - 1)
    return deviation.transpose("omega", "width", "seed")


def _curves(evidence: Evidence, panel: float | str | None) -> tuple[Curve, ...]:
    label = r"$m = \omega^{-2}$, one of Appendix G's poly$(1/\omega)$"
    return (Curve(label, lambda m, omega: -np.log(m) - 2 * np.log(omega)),)


def _by_width(evidence: Evidence) -> float:
    """The log-log slope of the mean deviation in the width, over all ω."""
    mean = deviations(evidence).mean(("seed", "omega"))
    return float(np.polyfit(np.log(mean["width"]), np.log(mean), 1)[0])


def _checks(evidence: Evidence) -> dict[str, bool]:
    fit = boundary(ENOUGH, deviations(evidence))
    return {
        "deviations fall as m^(−1/2): slope −0.5 ± 0.1": bool(
            abs(_by_width(evidence) + 0.5) < 0.1
        ),
        "the width that is enough does not grow as ω falls: its exponent in ω is "
        "positive": bool(fit.exponent_interval[0] > 0),
    }


WIDTH = Map(
    id="map-width",
    title="How wide is wide enough, over width and initial scale",
    caption=(
        "Relative deviation of the time at which the loss is 0.1 from that at infinite "
        "width, mean over seeds; simultaneous training by gradient descent, learning "
        "rate 0.1. Dots: where the deviation is 1%, with a fitted power law. Dashed: a "
        "bound such as Appendix G's poly(1/ω)/√m, by which the required width would "
        "grow with 1/ω. The map shows whether it does."
    ),
    sweeps={
        "finite": SweepRequest(
            "figure1",
            {
                "omega": "0.01..1:13:log",
                "width": [2**k for k in range(4, 15)],
                **_LONG,
                **_DRAWN,
            },
            (LEARNED,),
            seeds=8,
            quick={
                "omega": "0.1..1:4:log",
                "width": [16, 64, 256, 1024],
                "steps": 2000.0,
                "records": 201,
            },
            quick_seeds=6,
        ),
        "infinite": SweepRequest(
            "figure1",
            {"omega": "0.01..1:13:log", "width": "infinite", **_LONG},
            (LEARNED,),
            quick={"omega": "0.1..1:4:log", "steps": 2000.0, "records": 201},
        ),
    },
    table=deviations,
    label=r"$|T_m/T_\infty - 1|$, mean over seeds",
    names={"omega": r"initial scale $\omega$", "width": "width $m$"},
    curves=_curves,
    level=ENOUGH,
    limits=(0.0, 0.1),
    kind="match",
    more=lambda evidence: {"slope in the width": _by_width(evidence)},
    checks=_checks,
    silent=SILENT,
)

RATES = RateMap(
    "figure1",
    time=200.0,
    counts=(8, 16, 32, 45, 64, 91, 128, 181, 256, 512, 1024),
    key="omega",
    values="0.03..3:9:log",
    named=r"initial scale $\omega$",
    settings=_DRAWN,
    seeds=4,
    quick_counts=(8, 16, 32, 64, 256),
    quick_values=[0.1, 0.3, 1.0],
)


LEAVES = RATES.map(
    "map-rates",
    about="over ω, at width 128.",
    within=(0.1, 2.0),
    silent=SILENT,
)

MAPS = tuple(map.exhibit() for map in (WIDTH, LEAVES))
