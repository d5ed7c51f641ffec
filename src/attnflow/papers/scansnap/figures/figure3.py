"""Figure 3: growth of the dominant token by η_Y, in C, Q and J side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow.figures.exhibits import Course, Panels, Tables, over_runs, ramp, tabulate
from attnflow.papers.scansnap.figures import readings, runs
from attnflow.papers.scansnap.stages.formulas import decoder_of
from attnflow.schema.declarations import Exhibit, Numbers
from attnflow.schema.installation import xr

GROWTH = r"growth $\chi_l(t) - 1$"
SYSTEMS = {
    "C": ("scalar model", r"bound $e^{2B(t)}$ on $\chi$", np.exp, runs.scalar),
    "Q": ("quasi-static decoder", GROWTH, np.expm1, runs.quasi),
    "J": ("both tables trained", GROWTH, np.expm1, runs.joint),
}
"""By letter: name, axis, what is drawn of the exponent ln χ, and requests for runs."""
SNAPPED = 5 / 8
"""Share of the final ln χ at t₀ that separates C and Q from J."""


def names(system: str) -> dict[float, str]:
    """Names of a system's runs in the evidence, by η_Y."""
    return {rate: f"{system}, {runs.rate_name(rate)}" for rate in runs.VALUE_RATES}


def _course(letter: str) -> Course:
    title, axis, shown, _ = SYSTEMS[letter]
    return Course(
        title=rf"$\mathbf{{{letter}}}$: {title}",
        name=letter,
        x=readings.TIME,
        y=axis,
        scales=("log", "log" if letter == "C" else "linear"),
        xlim=(0.5, None),
        lines=ramp(
            lambda run: shown(readings.growth_exponent(run)),
            {name: rf"$\eta_Y = {rate:g}$" for rate, name in names(letter).items()},
            kind=readings.KINDS[letter],
        ),
        remarks={"upper left": "dots: $t_0$"} if letter == "C" else {},
    )


def _dot_snaps(figure: object, grid: np.ndarray, t: Tables) -> None:
    for ax, curves in zip(grid[0], t.values(), strict=True):
        readings.dot_snaps(ax, curves, t.runs)


def _by_rate(
    t: Tables, system: str, of: Callable[[xr.Dataset], float | xr.DataArray]
) -> xr.DataArray:
    return over_runs(t.runs, "η_Y", names(system), of)


def _half_time(run: xr.Dataset) -> float:
    """Time at which half of the final ln χ is reached."""
    exponent = readings.growth_exponent(run)
    return readings.reach(exponent, 0.5 * float(exponent[-1]))


end = partial(_by_rate, of=lambda run: readings.growth_exponent(run)[-1])
at_snap = partial(_by_rate, of=readings.at_snap(readings.growth_exponent))
half_times = partial(_by_rate, of=_half_time)


def values(t: Tables) -> Numbers:
    """t₀, and growth at the end and at t₀, by η_Y."""
    snaps = _by_rate(t, "J", lambda run: decoder_of(run).snap)
    return {"t0": tabulate(snaps)} | {
        system: {
            "growth at the end": tabulate(xr.ufuncs.exp(end(t, system))),
            "growth at t0": tabulate(xr.ufuncs.exp(at_snap(t, system))),
            "time of half of the exponent": tabulate(half_times(t, system)),
        }
        for system in SYSTEMS
    }


def _share(t: Tables, system: str) -> xr.DataArray:
    return at_snap(t, system) / end(t, system)


FIGURE3 = Exhibit(
    id="figure3",
    kind="figure",
    title="Figure 3: growth of the dominant token, by η_Y, in C, Q and J",
    caption=(
        "Growth of the dominant token over time, for several η_Y; K = 10, M = 1000, "
        "η_Z = 0.5, and dots mark t0 = 2(1 + ω1)K ln M/η_Y. Left, system C: the "
        "bound exp(2B) of the scalar model. Middle, system Q: the growth factor χ "
        "under the quasi-static decoder, with time in samples. Right, system J: the "
        "same when both tables follow the true gradient. Claimed: with a smaller η_Y "
        "attention snaps later and grows more. C and Q show that. In J, which is "
        "actual training, growth is tiny and continues past t0, and the order of the "
        "curves is reversed. Scales differ."
    ),
    needs={
        name: request(rate)
        for letter, (*_, request) in SYSTEMS.items()
        for rate, name in names(letter).items()
    },
    shows=Panels(tuple(map(_course, SYSTEMS)), size=(13.6, 4.3), finish=_dot_snaps),
    values=values,
    stated={
        "Section 6, on Figure 3": {
            "the smaller η_Y is, the larger the growth ends (in C and in Q)": (
                lambda t: [end(t, system).diff("η_Y") < 0 for system in "CQ"]
            ),
            "the smaller η_Y is, the later the transition: half of the final "
            "exponent is reached later (in C and in Q)": (
                lambda t: [half_times(t, system).diff("η_Y") < 0 for system in "CQ"]
            ),
        }
    },
    checks={
        "in J, which training follows, the order is reversed": lambda t: (
            np.diff(end(t, "J"), prepend=0.0) > 0
        ),
        "in C and Q more than five eighths of the final exponent are reached by t0": (
            lambda t: [_share(t, system) > SNAPPED for system in "CQ"]
        ),
        "in J less than that is reached by t0, and the less the larger η_Y": lambda t: (
            np.diff(_share(t, "J"), prepend=SNAPPED) < 0
        ),
        "the bound of C exceeds the growth in Q by more than a factor of 10 in the "
        "exponent, and Q that in J by more than a factor of 5": lambda t: [
            end(t, "C") > 10 * end(t, "Q"),
            end(t, "Q") > 5 * end(t, "J"),
        ],
    },
    silent=runs.FIGURE3_SILENT,
)
