"""Figure: time of the snap and cost of a flow of J, for M = 10³ to 10⁹."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attnflow.figures import exhibits as ex
from attnflow.papers.scansnap.figures import readings
from attnflow.papers.scansnap.figures.runs import VOCABULARIES, joint
from attnflow.papers.scansnap.stages import ATTENTION_SNAP, series
from attnflow.papers.scansnap.stages.formulas import decoder_of
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema.declarations import Exhibit, Numbers
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

BYTES = 8
COST = 10.0
"""Largest allowed cost ratio of large to small vocabularies: timing on a busy machine
is good to a factor of 3, and M grows by ten thousand."""
NAMES = {float(size): f"M = {size:g}" for size in VOCABULARIES}
"""Names of the runs, by M."""
TIMES, COSTS = "times", "costs"
FASTEST, SECONDS, PEAK = "fastest motion in J", "seconds", readings.PEAK
_by_size = partial(ex.over_runs, setting="M", runs=NAMES)


def _snap(run: xr.Dataset) -> float:
    """Time at which the top token's score moves fastest (D2), in K/η_Y."""
    return ATTENTION_SNAP(run).times[0] / decoder_of(run).clock


def _seconds(run: xr.Dataset) -> float:
    """Wall time of a flow without tracing and compilation."""
    return run.attrs["wall_seconds"] - run.attrs["compile_seconds"]


def _speed(run: xr.Dataset) -> xr.DataArray:
    """How fast the top token's score moves, over its largest speed."""
    velocity = series.top_velocity(run).isel({SEED: 0})
    return velocity / velocity.max()


def _curve(
    name: str, of: Callable[[xr.Dataset], float], kind: str, **style: Any
) -> ex.Curve:
    label = name if kind == "theory" else ""
    return ex.Curve(name, partial(_by_size, of=of), label, kind, style=style)


def _formula(name: str, time: Callable[[Decoder], float]) -> ex.Curve:
    return _curve(name, readings.in_clock(time), "theory", **readings.FORMULA)


_panel = partial(ex.Curves, x="vocabulary $M$", xlim=(6e2, 1.6e9), bars="none")
SHOWN = ex.Panels(
    (
        ex.Course(
            title=r"$\mathbf{J}$, $\eta_Y = 10\,\eta_Z$: speed of the top token",
            x=readings.CLOCK,
            y="speed / largest speed",
            scales=("log", "linear"),
            xlim=(0.1, 1e3),
            ylim=(0, 1.05),
            lines=ex.ramp(
                readings.rescaled(_speed),
                {n: rf"$M = 10^{{{np.log10(M):.0f}}}$" for M, n in NAMES.items()},
                kind="easy",
            ),
            names={"loc": "upper right", "fontsize": 9.5},
        ),
        _panel(
            title=r"when attention snaps, with $t_0' = K\ln M/\eta_Y$",
            name=TIMES,
            y=readings.CLOCK,
            scales=("log", "linear"),
            ylim=(0, None),
            curves=(
                _curve(FASTEST, _snap, "easy", ls=""),
                _formula("$t_0$", lambda decoder: decoder.snap),
                _formula("$t_0'$", lambda decoder: decoder.scan_end),
                _formula(PEAK, lambda decoder: decoder.peak),
            ),
            remarks={"lower right": f"dots: {FASTEST}"},
        ),
        _panel(
            title="wall time of a flow",
            name=COSTS,
            y="seconds, without compilation",
            scales=("log", "log"),
            ylim=(1e-3, 1e2),
            curves=(_curve(SECONDS, _seconds, "easy", lw=1.4),),
            remarks={
                "upper left": "two tables would take\n16 MB at $M = 10^3$, 16 EB at "
                "$M = 10^9$"
            },
        ),
    ),
    size=(15.0, 4.4),
)


_kinds = partial(_by_size, of=lambda run: run.sizes["token"])
_drifts = partial(_by_size, of=lambda run: run["drift"].max(skipna=False))


def per_unit(t: ex.Tables) -> float:
    """The slope of the time of fastest motion, in K/η_Y, over ln M."""
    times = t[TIMES][FASTEST]
    if not np.isfinite(times).all():
        return float("nan")
    return float(np.polyfit(np.log(times["M"]), times, 1)[0])


def values(t: ex.Tables) -> Numbers:
    """Times of the snap, wall time, and drift of conserved sums."""
    times, seconds = t[TIMES], t[COSTS][SECONDS]
    return {
        "growth of the fastest motion per unit of ln M": per_unit(t),
        "fastest motion in K/η_Y": ex.tabulate(times[FASTEST]),
        "peak of γ in K/η_Y": ex.tabulate(times[PEAK]),
        "seconds": ex.tabulate(seconds),
        "bytes of both tables": ex.tabulate(2 * BYTES * seconds["M"] ** 2),
        "kinds of tokens": ex.tabulate(_kinds(t.runs)),
        "drift of conserved sums": ex.tabulate(_drifts(t.runs)),
    }


def _is_cheap(t: ex.Tables) -> bool:
    cost = t[COSTS][SECONDS]
    return bool(np.median(cost[-3:]) < COST * np.median(cost[:3]))


SCALING = Exhibit(
    id="scaling",
    kind="figure",
    title="From a thousand tokens to a billion: when attention snaps",
    caption=(
        "When attention snaps, against the size M of the vocabulary: system J in "
        "Figure 3's geometry (K = 10, one common token), η_Y = 10 η_Z, gradient flow "
        "to t = 1e6. Left: speed of the dominant token's score, divided by its "
        "largest speed. Middle: the time of the largest speed, with the closed form "
        "for the peak of γ and the paper's t0' and t0 (dashed): it grows as K ln "
        "M/η_Y. Right: wall time of the flow. Tokens that are equivalent in the data "
        "and at initialisation share a row, so that no array grows with M."
    ),
    needs={
        name: joint(1.0, vocabulary=int(M), score_rate=0.1, until=1e6)
        for M, name in NAMES.items()
    },
    shows=SHOWN,
    values=values,
    checks={
        "the larger M, the later attention snaps": lambda t: (
            t[TIMES][FASTEST].diff("M") > 0
        ),
        "attention snaps later by K/η_Y per unit of ln M, to 10%": lambda t: (
            abs(per_unit(t) - 1) < 0.1
        ),
        "attention snaps near γ's peak: within 15%": lambda t: (
            abs(t[TIMES][FASTEST] / t[TIMES][PEAK] - 1) < 0.15
        ),
        "the three largest vocabularies take less than ten times as long as the "
        "three smallest, by their medians": _is_cheap,
        "the number of kinds of tokens does not depend on M, and sums are conserved "
        "to 1e-6": (
            lambda t: (_kinds(t.runs) == _kinds(t.runs)[0]) & (_drifts(t.runs) < 1e-6)
        ),
    },
    silent=("This figure is ours; vocabularies, rates and time are our choice.",),
)
