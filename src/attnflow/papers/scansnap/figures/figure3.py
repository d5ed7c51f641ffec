"""Figure 3: growth of the dominant token by η_Y, in C, Q and J side by side."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.figures.runs import (
    FIGURE3_SILENT,
    VALUE_RATES,
    joint,
    quasi,
    rate_name,
    scalar,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REQUESTS = {"C": scalar, "Q": quasi, "J": joint}
AXES = {
    "C": r"bound $e^{2B(t)}$ on $\chi$",
    "Q": r"growth $\chi_l(t) - 1$",
    "J": r"growth $\chi_l(t) - 1$",
}
SNAPPED = 5 / 8
"""Share of the final ln χ at t₀ that separates C and Q from J."""


def name(system: str, rate: float) -> str:
    """Name of a run in the evidence."""
    return f"{system}, {rate_name(rate)}"


def draw(evidence: Evidence) -> "Figure":
    """A panel for each system; a dot at t₀."""
    titles = [panels.system_name(letter) for letter in REQUESTS]
    figure, grid = figures.panels(1, 3, titles=titles, size=(13.6, 4.3))
    for ax, system in zip(grid[0], REQUESTS, strict=True):
        _panel(ax, evidence, system)
    panels.remark(grid[0, 0], (0.05, 0.95), "dots: $t_0$")
    return figure


def _panel(ax: "Axes", evidence: Evidence, system: str) -> None:
    ramp = figures.current_theme().ramp(panels.KINDS[system], len(VALUE_RATES))
    for colour, rate in zip(ramp, VALUE_RATES, strict=True):
        run = evidence[name(system, rate)]
        exponent = panels.growth_exponent(run)
        times, values = panels.positive(exponent)
        label = rf"$\eta_Y = {rate:g}$"
        transform = np.exp if system == "C" else np.expm1
        ax.plot(times, transform(values), color=colour, lw=1.9, label=label)
        snap = panels.decoder(run).snap
        panels.dot(ax, snap, transform(panels.at(exponent, snap)), colour)
    ax.set(xscale="log", xlabel=panels.TIME, ylabel=AXES[system])
    last = evidence[name(system, VALUE_RATES[0])]["time"].values[-1]
    ax.set_xlim(0.5, float(last))
    if system == "C":
        ax.set_yscale("log")
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    figures.label_ends(ax, size=10.5)


def exponents(evidence: Evidence, system: str) -> np.ndarray:
    """Final ln χ, by η_Y."""
    runs = [evidence[name(system, rate)] for rate in VALUE_RATES]
    return np.array([float(panels.growth_exponent(run)[-1]) for run in runs])


def at_snap(evidence: Evidence, system: str) -> np.ndarray:
    """Exponent ln χ at t₀, by η_Y."""
    runs = [evidence[name(system, rate)] for rate in VALUE_RATES]
    return np.array(
        [panels.at(panels.growth_exponent(r), panels.decoder(r).snap) for r in runs]
    )


def half_times(evidence: Evidence, system: str) -> np.ndarray:
    """Time at which half of the final ln χ is reached, by η_Y."""
    runs = [evidence[name(system, rate)] for rate in VALUE_RATES]
    curves = [panels.growth_exponent(run) for run in runs]
    return np.array([panels.reach(c, 0.5 * float(c.values[-1])) for c in curves])


def values(evidence: Evidence) -> Numbers:
    """Growth at the end and at t₀, by η_Y."""
    names = [rate_name(rate) for rate in VALUE_RATES]
    joint_runs = [evidence[name("J", rate)] for rate in VALUE_RATES]
    snaps = [panels.decoder(run).snap for run in joint_runs]
    numbers: dict[str, float | Numbers] = {"t0": panels.named(names, snaps)}
    for system in REQUESTS:
        tables = {
            "growth at the end": np.exp(exponents(evidence, system)),
            "growth at t0": np.exp(at_snap(evidence, system)),
            "time of half of the exponent": half_times(evidence, system),
        }
        numbers[system] = {text: panels.named(names, t) for text, t in tables.items()}
    return numbers


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Sentences of the paper, on the systems that it simulates."""
    end = {system: exponents(evidence, system) for system in "CQ"}
    half = {system: half_times(evidence, system) for system in "CQ"}
    sentences = {
        "the smaller η_Y is, the larger the growth ends (in C and in Q)": all(
            bool((np.diff(exponent) < 0).all()) for exponent in end.values()
        ),
        "the smaller η_Y is, the later the transition: half of the exponent is there "
        "later (in C and in Q)": all(
            bool((np.diff(time) < 0).all()) for time in half.values()
        ),
    }
    return {"Section 6, on Figure 3": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own, on the true gradient and on how far the systems differ."""
    end = {system: exponents(evidence, system) for system in REQUESTS}
    share = {system: at_snap(evidence, system) / end[system] for system in REQUESTS}
    return {
        "in J, which training follows, the order is reversed": bool(
            (np.diff(end["J"]) > 0).all() and (end["J"] > 0).all()
        ),
        "in C and Q more than five eighths of the exponent are there at t0": all(
            bool((share[system] > SNAPPED).all()) for system in "CQ"
        ),
        "in J less than that is there at t0, the less the larger η_Y": bool(
            (share["J"] < SNAPPED).all() and (np.diff(share["J"]) < 0).all()
        ),
        "the bound of C exceeds the growth in Q by more than a factor of 10 in the "
        "exponent, and Q that in J by more than a factor of 5": bool(
            (end["C"] > 10 * end["Q"]).all() and (end["Q"] > 5 * end["J"]).all()
        ),
    }


FIGURE3 = Exhibit(
    id="figure3",
    kind="figure",
    title="Figure 3: growth of the dominant token, by η_Y, in C, Q and J",
    caption=(
        "K = 10, M = 1000, η_Z = 0.5; dots mark t0 = 2(1 + ω1)K ln M/η_Y. Left, system "
        "C: the bound exp(2B) of the scalar model. Middle, system Q: the growth factor "
        "χ under the quasi-static decoder, with time in samples. Right, system J: the "
        "same where both tables follow the true gradient. Claimed: a smaller η_Y snaps "
        "later and grows more. C and Q show that. In J, what training does, growth is "
        "tiny, goes on past t0, and the order of the curves is reversed. Scales differ."
    ),
    needs={
        name(system, rate): request(rate)
        for system, request in REQUESTS.items()
        for rate in VALUE_RATES
    },
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=FIGURE3_SILENT,
)
