"""Figure: fall of the common token's score in J, Q and C."""

import numpy as np

from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.scansnap.figures import readings
from attnflow.papers.scansnap.figures.figure3 import SYSTEMS
from attnflow.papers.scansnap.figures.runs import rate_name
from attnflow.schema.declarations import Exhibit, Numbers

LEAST = 112
"""The smallest vocabulary: 101 contextual tokens, a query and ten next tokens."""
EQUAL, RATIO, SMALL = "Figure 3, equal rates", "Figure 3, ratio 20", f"M = {LEAST}"
PANELS = {
    EQUAL: (r"$M = 1000$, $\eta_Y = \eta_Z$", rate_name(0.5), (0.5, {})),
    RATIO: (r"$M = 1000$, $\eta_Y = 20\,\eta_Z$", rate_name(10.0), (10.0, {})),
    SMALL: (rf"$M = {LEAST}$, $\eta_Y = \eta_Z$", SMALL, (0.5, {"vocabulary": LEAST})),
}
"""By panel: its title, name of its runs, η_Y and what else differs from Figure 3."""
EARLY, LATE = 0.1, 5e3
"""Times in K/η_Y at which the systems are compared, beside t₀."""
TIMES = (f"early, at {EARLY:g} K/η_Y", "at t0", f"late, at {LATE:g} K/η_Y")


def _course(panel: str) -> Course:
    title, run, _ = PANELS[panel]
    return Course(
        title=title,
        name=panel,
        x=readings.CLOCK,
        y=r"fall of the common token, $-z_{\mathrm{CT}}$",
        scales=("log", "log"),
        xlim=(0.01, 5e3),
        ylim=(1e-8, 5),
        lines=tuple(
            Line(
                letter,
                readings.rescaled(readings.common_fall),
                run=f"{letter}, {run}",
                label=rf"$\mathbf{{{letter}}}$",
                kind=readings.KINDS[letter],
                style={"lw": 2.2},
            )
            for letter in SYSTEMS
        ),
        marks=readings.MARKS,
    )


def _snap(panel: Series) -> float:
    """t₀ in K/η_Y."""
    return panel.marks[readings.SNAP].times[0]


def falls(panel: Series) -> dict[str, np.ndarray]:
    """Falls early, at t₀ and late, by system."""
    times = (EARLY, _snap(panel), LATE)
    return {s: np.array([readings.at(z, t) for t in times]) for s, z in panel.items()}


def _over_q(panel: Series, system: str) -> np.ndarray:
    return falls(panel)[system] / falls(panel)["Q"]


def values(t: Tables) -> Numbers:
    """Falls and their ratios at three times."""
    return {
        name: {"t0 in K/η_Y": _snap(panel)}
        | {s: readings.named(TIMES, fall) for s, fall in falls(panel).items()}
        | {f"{s} over Q": readings.named(TIMES, _over_q(panel, s)) for s in "JC"}
        for name, panel in t.items()
    }


SYSTEMS_FIGURE = Exhibit(
    id="systems",
    kind="figure",
    title="J, Q and C on one axis: how far the common token's score falls",
    caption=(
        "How far the common token's score falls in three systems. System J is the "
        "true gradient of both tables, system Q attention under the quasi-static "
        "decoder, system C the scalar model with C0 = ρ0⁴/K; gradient flow on long "
        "sequences from zero tables, K = 10 classes with one common token. From t0 "
        "on C is a fair model of Q. Both differ from J from the start, and not only "
        "from t0 on: what couples classes in J is how much the decoder confuses "
        "them, 1/M each at the start, and in Q the inverse of the features' Gram "
        "matrix. A larger η_Y/η_Z (middle) or a smaller vocabulary (right) brings J "
        "nearer."
    ),
    needs={
        f"{letter}, {run}": request(rate, **others)
        for _, run, (rate, others) in PANELS.values()
        for letter, (*_, request) in SYSTEMS.items()
    },
    shows=Panels(tuple(map(_course, PANELS)), size=(15.2, 4.5), share_values=True),
    values=values,
    checks={
        "in Figure 3's setting C is within 15% of Q from t0 on": lambda t: [
            np.abs(_over_q(t[name], "C")[1:] - 1) < 0.15 for name in (EQUAL, RATIO)
        ],
        "there C starts 2 to 4 times as fast as Q": lambda t: [
            2 < _over_q(t[name], "C")[0] < 4 for name in (EQUAL, RATIO)
        ],
        "there J is below a fiftieth of Q early, and still below a tenth at t0": (
            lambda t: [
                _over_q(t[name], "J")[:2] < (0.02, 0.1) for name in (EQUAL, RATIO)
            ]
        ),
        "a larger η_Y/η_Z brings J nearer to Q, at the same rescaled time": lambda t: (
            _over_q(t[RATIO], "J")[1:] > _over_q(t[EQUAL], "J")[1:]
        ),
        "a smaller vocabulary brings J nearer to Q at all three times": lambda t: (
            _over_q(t[SMALL], "J") > _over_q(t[EQUAL], "J")
        ),
    },
    silent=(
        "This figure is ours. The paper does not say which of its statements are "
        "about which system.",
    ),
)
