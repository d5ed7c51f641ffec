"""Runs, seeds and recurring phrases that claims of `scansnap` share.

Each claim names its system: J, the true gradient of both tables; Q, attention under
the quasi-static decoder; C, the scalar model. Flows have no seed. Where seeds matter,
claims are judged on those of `PLAN`, and on the authors' own (`PUBLISHED`) where a
published number is replayed.
"""

from attnflow.papers.scansnap._types import SettingValue
from attnflow.papers.scansnap.seeds import FEW as FEW
from attnflow.papers.scansnap.seeds import ONE as ONE
from attnflow.papers.scansnap.seeds import PLAN as PLAN
from attnflow.papers.scansnap.training_map import RISING
from attnflow.schema.declarations import Request

PUBLISHED = tuple(range(1, 11))
"""The seeds of the published runs of Figure 6, with the authors' random streams."""

J = "J: the true gradient of both tables, long sequences"
Q = "Q: attention under the quasi-static decoder"
C = "C: the scalar model of one common token"
DECODER = "the decoder alone, features fixed and decorrelated (Equation 26)"
TRUE_DECODER = "the decoder alone under its true gradient, features fixed"
STEPS = "J by steps of descent"

FLOW_RUN = "our run, without random numbers"
PLAN_RUNS = f"our runs, seeds {PLAN[0]}–{PLAN[-1]}"
FEW_RUNS = f"our runs, seeds {FEW[0]}–{FEW[-1]}"
"""Where recorded verdicts come from, by the seeds of the evidence."""
SMALL = "K = 2, M = 33, 10 common tokens, one query"
FIGURE_3 = "K = 10, M = 1000, one common token, η_Z = 0.5, η_Y = 0.5, 1, 2, 5, 10"

ASSUMPTION_2 = ("2 M", "2 λ_1", "2 λ_i")
THEOREM_1 = (
    *ASSUMPTION_2,
    *("Y(0)", "M", "η_Y", "η_Y < 1", "uniform", "t"),
)
"""Names of the items of conditions that statements assume."""

RATES = (0.5, 1.0, 2.0, 5.0, 10.0)
THIN = (1.0,) * 42
"""Weights of distinct tokens beside which a common one has f² = 1/43 = 0.023."""

VELOCITY = ("score", "score_velocity")
QUASI = (
    *("mean_distinct_entropy", "score", "score_velocity", "attention_per_class"),
    *("attention_unit", "drive_integral", "drive", "gram", "common_mass"),
)


def flow(experiment: str, **overrides: SettingValue) -> Request:
    """Request for a run without random numbers."""
    return Request(experiment, overrides, seeds=ONE)


def small(system: str, *, until: float, score_rate: float, ratio: float) -> Request:
    """Request for a flow of J or Q in Syn-Small's geometry with one query."""
    overrides: dict[str, SettingValue] = {
        "until": until,
        "score_rate": score_rate,
        "value_rate": ratio * score_rate,
    }
    if system == "Q":
        overrides |= {"system": "Q", "record": QUASI}
    return flow("syn-small-flow", **overrides)


def thin(system: str, *, classes: int, vocabulary: int) -> Request:
    """Request for a flow with one common token of f² = 0.023, until 10⁴ K/η_Y."""
    return flow(
        "figure3-q" if system == "Q" else "figure3",
        classes=classes,
        vocabulary=vocabulary,
        until=1e4 * classes,
        distinct=THIN,
        score_rate=1.0,
        record=("score",),
    )


FIGURE_3_J = {f"J, {rate:g}": flow("figure3", value_rate=rate) for rate in RATES}
FIGURE_3_Q = {
    f"Q, {rate:g}": flow("figure3-q", value_rate=rate, record=QUASI) for rate in RATES
}
FIGURE_3_C = {f"C, {rate:g}": flow("figure3-c", value_rate=rate) for rate in RATES}
THIN_SIZES = ((2, 1000), (10, 1000), (10, 10**6))
LAWS_Q = {
    f"Q, ratio {ratio:g}": small("Q", until=1e5, score_rate=1 / ratio, ratio=ratio)
    for ratio in (1.0, 10.0)
}
ALL_MET = {
    "classes": 3,
    "vocabulary": 10**8,
    "distinct": RISING,
    "value_rate": 0.5,
    "score_rate": 0.05,
    "until": 6e4,
}
"""Identical classes that meet Assumptions 1 and 2 at every record."""
MET_Q = {"Q, Assumption 2": flow("figure3-q", **ALL_MET, record=QUASI)}
