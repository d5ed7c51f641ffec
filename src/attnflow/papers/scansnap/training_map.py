"""Runs of the map of J against Q, which figures and claims share.

Flows of both systems at η_Y/η_Z = 1 to 10⁴ up to η_Y t/K = 10⁸, on identical classes
that meet Assumption 2 and on ones that do not.
"""

from __future__ import annotations

from attnflow import schema
from attnflow.papers.scansnap._types import Setting, SettingValue
from attnflow.papers.scansnap.seeds import ONE, PLAN
from attnflow.papers.scansnap.stages.formulas import classes_of
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

RATIOS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
"""ν = η_Y/η_Z."""
CLOCKS = tuple(10.0**power for power in range(9))
"""Times η_Y t/K at which the systems are compared."""
VALUE_RATE = 0.5
"""η_Y, which Theorem 1 has below 1."""
RISING = tuple(round(0.14 * i, 2) for i in range(1, 11))
"""Weights of distinct tokens beside which a common one has f² = 0.117."""
FEW = tuple(round(0.0778 * i, 4) for i in range(1, 11))
"""Weights of distinct tokens beside which a common one has f² = 0.3."""

MET = "Assumption 2 met"
FIGURE_3 = "Figure 3"
STRONG = "strong correlation"
SMALL = "Syn-Small"
GEOMETRIES: dict[str, Setting] = {
    MET: {"classes": 3, "vocabulary": 10**6, "distinct": RISING},
    FIGURE_3: {"classes": 10, "vocabulary": 1000},
    STRONG: {"classes": 5, "vocabulary": 1000, "distinct": FEW},
    SMALL: {"classes": 2, "vocabulary": 33, "common": 10},
}
"""Identical classes by name: K, M and the tokens of a class."""
MET_SIZES = (
    f"η_Y = {VALUE_RATE:g}, η_Y/η_Z = 1 … 10⁴, η_Y t/K to 10⁸; K = 3, M = 10⁶, ρ = "
    "0.117, where Assumption 2 is met at every record"
)
UNMET_SIZES = (
    "Figure 3's classes (K = 10, M = 1000, ρ = 0.21), K = 5, M = 1000, ρ = 0.3, and "
    "Syn-Small's (K = 2, M = 33, ρ = 0.72)"
)
SIZES = f"{MET_SIZES}; for comparison {UNMET_SIZES}"


def name_of(system: str, geometry: str, ratio: float) -> str:
    """Name of a run in the evidence."""
    return f"{system}, {geometry}, {ratio:g}"


def request(system: str, geometry: str, ratio: float) -> Request:
    """Request for a flow of the map, with ten records a decade from 10⁻³ K/η_Y on."""
    sizes = GEOMETRIES[geometry]
    overrides: dict[str, SettingValue] = {
        **sizes,
        "value_rate": VALUE_RATE,
        "score_rate": VALUE_RATE / ratio,
        "until": CLOCKS[-1] * sizes["classes"] / VALUE_RATE,
        "records": 112,
        "record": ("score", "score_velocity", "attention_unit", "gram"),
    }
    experiment = "figure3" if system == "J" else "figure3-q"
    return Request(experiment, overrides, seeds=ONE)


def runs_of(*systems: str, geometry: str) -> dict[str, Request]:
    """Requests for flows of some systems at all ratios, by name."""
    return {
        name_of(system, geometry, ratio): request(system, geometry, ratio)
        for ratio in RATIOS
        for system in systems
    }


EVERY = {
    name: run
    for geometry in GEOMETRIES
    for name, run in runs_of("J", "Q", geometry=geometry).items()
}
"""Requests for all flows of the map."""
LATE = (1.0, 100.0, 1e4, 1e6, 1e8)
COUPLINGS = {
    "couplings, met": Request(
        "couplings",
        {
            "classes": (3, 3),
            "vocabularies": (10000, 1000000),
            "correlations": (0.1, 0.1),
            "clocks": LATE,
        },
        seeds=ONE,
    ),
    "couplings, unmet": Request("couplings", {"clocks": LATE}, seeds=ONE),
}
"""Requests for couplings with features fixed, the limit of a large η_Y/η_Z."""


def _draws(**overrides: SettingValue) -> Request:
    sizes: dict[str, SettingValue] = {
        "common": (0.1, 0.2),
        "vocabulary": 10**8,
        "value_rate": VALUE_RATE,
        "until": 6e8,
    }
    return Request("random-classes", {**sizes, **overrides}, seeds=PLAN)


DRAWS = {
    "met": _draws(ratios=RATIOS[1:]),
    "met, equal rates": _draws(ratios=RATIOS[:1]),
    "random": Request("random-classes", seeds=PLAN),
}
"""Requests for random, unequal classes: that meet Assumption 2, and that do not."""


def common_score(run: xr.Dataset) -> xr.DataArray:
    """The common token's score by seed and clock η_Y t/K, from the first record on."""
    setting = schema.setting_of(run)
    score = run["score"].isel(query=0).sel(token="common0", drop=True)
    clock = score["time"] * setting["value_rate"] / classes_of(setting)
    scores = score.assign_coords(time=clock).rename(time="clock")
    return scores.isel(clock=slice(1, None))


def over_q(joint: xr.Dataset, quasi_static: xr.Dataset) -> xr.DataArray:
    """The common token's score in J over that in Q, at the times of the map."""
    ratio = common_score(joint) / common_score(quasi_static).values
    nearest = ratio.sel(clock=list(CLOCKS), method="nearest")
    return nearest.assign_coords(clock=list(CLOCKS))
