"""Figure: fall of the common token's score in J, Q and C."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.figure3 import REQUESTS, name
from attnflow.papers.scansnap.figures.runs import FIGURE3_RATE
from attnflow.schema.declarations import Evidence, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EQUAL, LARGE = 0.5, 10.0
"""η_Y of the runs of Figure 3 that are drawn: η_Y/η_Z = 1 and 20."""
LEAST = 112
"""The smallest vocabulary: 101 contextual tokens, a query and ten next tokens."""
SMALL = f"M = {LEAST}"
LABELS = ("Figure 3, equal rates", "Figure 3, ratio 20", SMALL)
EARLY, LATE = 0.1, 5e3
"""Times in K/η_Y at which the systems are compared, beside t₀."""
TIMES = (f"early, at {EARLY:g} K/η_Y", "at t0", f"late, at {LATE:g} K/η_Y")


def small(system: str) -> str:
    """Name of a run with the smallest vocabulary."""
    return f"{system}, {SMALL}"


NEEDS = {
    **{
        name(system, rate): request(rate)
        for rate in (EQUAL, LARGE)
        for system, request in REQUESTS.items()
    },
    **{small(s): request(EQUAL, vocabulary=LEAST) for s, request in REQUESTS.items()},
}


def groups() -> dict[str, dict[str, str]]:
    """Panels: by title, the names of their runs by system."""
    ratio = f"{LARGE / FIGURE3_RATE:g}"
    return {
        r"$M = 1000$, $\eta_Y = \eta_Z$": {s: name(s, EQUAL) for s in REQUESTS},
        rf"$M = 1000$, $\eta_Y = {ratio}\,\eta_Z$": {
            s: name(s, LARGE) for s in REQUESTS
        },
        rf"$M = {LEAST}$, $\eta_Y = \eta_Z$": {s: small(s) for s in REQUESTS},
    }


def draw(evidence: Evidence) -> "Figure":
    """A panel for each setting, a curve for each system."""
    figure, grid = figures.panels(
        1, 3, titles=list(groups()), size=(15.2, 4.5), share_values=True
    )
    for ax, names in zip(grid[0], groups().values(), strict=True):
        _panel(ax, evidence, names)
    grid[0, 0].set_ylabel(r"fall of the common token, $-z_{\mathrm{CT}}$")
    return figure


def _panel(ax: "Axes", evidence: Evidence, names: dict[str, str]) -> None:
    theme = figures.current_theme()
    for system, key in names.items():
        run = evidence[key]
        times, fall = panels.positive(panels.common_fall(run), panels.clock(run))
        colour = theme.colour(panels.KINDS[system])
        ax.plot(times, fall, color=colour, lw=2.2, label=rf"$\mathbf{{{system}}}$")
    true = evidence[names["J"]]
    decoder, unit = panels.decoder(true), panels.clock(true)
    ax.set(xscale="log", yscale="log", xlabel=panels.CLOCK)
    ax.set_xlim(0.01, 5e3)
    ax.set_ylim(1e-8, 5)
    panels.name_time(ax, unit * decoder.peak, "γ's peak", left=True)
    panels.name_time(ax, unit * decoder.snap, "$t_0$")
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    figures.label_ends(ax, size=13)


def falls(evidence: Evidence, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Falls early, at t₀ and late, by system."""
    by_system = {}
    for system, key in names.items():
        run = evidence[key]
        fall, decoder = panels.common_fall(run), panels.decoder(run)
        times = (EARLY * decoder.clock, decoder.snap, LATE * decoder.clock)
        by_system[system] = np.array([panels.at(fall, time) for time in times])
    return by_system


def values(evidence: Evidence) -> Numbers:
    """Falls and their ratios at three times."""
    numbers: dict[str, float | Numbers] = {}
    for label, names in zip(LABELS, groups().values(), strict=True):
        tables, run = falls(evidence, names), evidence[names["J"]]
        ratios = {f"{s} over Q": tables[s] / tables["Q"] for s in "JC"}
        numbers[label] = {
            "t0 in K/η_Y": panels.decoder(run).snap * panels.clock(run),
            **{key: panels.named(TIMES, t) for key, t in (tables | ratios).items()},
        }
    return numbers


def checks(evidence: Evidence) -> dict[str, bool]:
    """Sentences on where the systems differ."""
    equal, large, least = (falls(evidence, names) for names in groups().values())
    ours = [table["C"] / table["Q"] for table in (equal, large)]
    true = [table["J"] / table["Q"] for table in (equal, large)]
    small_ratio = least["J"] / least["Q"]
    return {
        "in Figure 3's setting C is within 15% of Q from t0 on": all(
            bool((np.abs(ratio[1:] - 1) < 0.15).all()) for ratio in ours
        ),
        "there it begins 2 to 4 times as fast as Q": all(
            2 < ratio[0] < 4 for ratio in ours
        ),
        "there J is below a fiftieth of Q early, and below a tenth still at t0": all(
            bool(ratio[0] < 0.02 and ratio[1] < 0.1) for ratio in true
        ),
        "a larger η_Y/η_Z brings J nearer to Q, at the same rescaled time": bool(
            (true[1][1:] > true[0][1:]).all()
        ),
        "a smaller vocabulary brings J nearer to Q at all three times": bool(
            (small_ratio > true[0]).all()
        ),
    }


SYSTEMS = Exhibit(
    id="systems",
    kind="figure",
    title="J, Q and C on one axis: how far the common token's score falls",
    caption=(
        "System J is the true gradient of both tables, system Q attention under the "
        "quasi-static decoder, system C the scalar model with C0 = ρ0⁴/K; gradient "
        "flow on long sequences from zero, K = 10 classes with one common token. From "
        "t0 on C is a fair model of Q. Both differ from J from the start, and not only "
        "from t0 on: what couples classes in J is how much the decoder confuses them, "
        "1/M each at the start, and in Q the inverse of the features' Gram matrix. A "
        "larger η_Y/η_Z (middle) or a smaller vocabulary (right) brings J nearer."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "Ours. The paper does not say which of its statements are about which system.",
    ),
)
