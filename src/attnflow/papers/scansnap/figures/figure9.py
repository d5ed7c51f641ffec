"""Figure 9: B(t) of the scalar model C at a fixed ratio of learning rates."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.figures import exhibits as ex
from attnflow.papers.scansnap.figures import readings
from attnflow.papers.scansnap.stages.formulas import decoder_of, scale_of
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

RATES = {rate: f"η_Z = {rate:g}" for rate in (0.1, 0.3, 1.0, 3.0)}
"""Names of the runs, by η_Z."""
B = "B"


def closed_form(run: xr.Dataset) -> xr.DataArray:
    """B(t) in closed form, with the constant for which B(0) = 0."""
    scale, drive = scale_of(schema.setting_of(run)), readings.common_fall(run)
    return drive.copy(data=decoder_of(run).drive_integral(drive[TIME].values, scale))


LEFT = ex.Course(
    title=r"$\mathbf{C}$, $\eta_Y/\eta_Z = 1$: dots at $t_0$",
    name=B,
    x=readings.TIME,
    y=r"$B(t) = -z_{\mathrm{CT}}(t)$",
    scales=("log", "linear"),
    xlim=(1, None),
    ylim=(0, None),
    lines=ex.ramp(
        readings.common_fall,
        {name: rf"$\eta_Z = {rate:g}$" for rate, name in RATES.items()},
        kind="hard",
    ),
)
RIGHT = ex.Course(
    title="the same over rescaled time: one curve",
    x=readings.CLOCK,
    scales=("log", "linear"),
    xlim=(0.05, None),
    ylim=(0, None),
    lines=(
        # Longer curves below, so that each can be seen to lie on them.
        *ex.ramp(
            readings.rescaled(readings.common_fall),
            dict.fromkeys(RATES.values(), ""),
            kind="hard",
            style={"lw": 2.4, "marker": "o", "markevery": [-1], "ms": 5},
        )[::-1],
        ex.Line(
            "closed form",
            readings.rescaled(closed_form),
            run=RATES[3.0],
            kind="theory",
            style=readings.FORMULA,
        ),
    ),
    marks=readings.MARKS,
    names="upper left",
)


def at_snap(t: ex.Tables) -> xr.DataArray:
    """B(t₀) by η_Z."""
    return ex.over_runs(t.runs, "η_Z", RATES, readings.at_snap(readings.common_fall))


def at_end(t: ex.Tables) -> xr.DataArray:
    """B at the last record, by η_Z."""
    return ex.over_runs(t.runs, "η_Z", RATES, lambda run: readings.common_fall(run)[-1])


def error(t: ex.Tables) -> float:
    """The largest distance of a run to the closed form."""
    errors = [readings.common_fall(r) - closed_form(r) for r in t.runs.values()]
    return float(np.max([np.abs(error.values).max() for error in errors]))


FIGURE9 = Exhibit(
    id="figure9",
    kind="figure",
    title="Figure 9: B(t) at a fixed ratio of learning rates",
    caption=(
        "B(t) in system C, the scalar model, at K = 10, M = 1000, η_Y = η_Z. Left: "
        "B(t0) is the same for all rates, and larger rates are ahead later. Right: "
        "over η_Y t/K all are one curve, each ending (dot) where its time ends, so "
        "that a larger rate at a fixed ratio amounts to a later time. Dashed: ¼ ln(1 "
        "+ 4Γ/C0), the printed closed form with the constant that makes it begin at "
        "zero."
    ),
    needs={
        name: Request("figure9", {"score_rate": rate, "value_rate": rate}, 1)
        for rate, name in RATES.items()
    },
    shows=ex.Panels(
        (LEFT, RIGHT),
        size=(11.6, 4.4),
        finish=lambda figure, grid, t: readings.dot_snaps(grid[0, 0], t[B], t.runs),
    ),
    values=lambda t: {
        "B at t0": ex.tabulate(at_snap(t)),
        "B at the end": ex.tabulate(at_end(t)),
        "largest distance to the closed form": error(t),
    },
    stated={
        "Caption of Figure 9": {
            # Between 201 records over eight decades, lines over log t err by
            # (Δ ln t)²/8.
            "B(t0) is the same for all learning rates": lambda t: (
                np.ptp(at_snap(t).values) < 1e-3 * at_snap(t).mean()
            )
        },
        "Appendix F": {
            "differences arise after t0, where the larger η_Z is ahead": lambda t: (
                at_end(t).diff("η_Z") > 0
            )
        },
    },
    checks={
        "past t0 B grows by less than a quarter": lambda t: (
            (at_end(t) < 1.25 * at_snap(t)) & (at_end(t) > at_snap(t))
        ),
        "B agrees with the closed form, with the corrected constant, to "
        "1e-7": lambda t: error(t) < 1e-7,
    },
    silent=(
        "C0 and the rates are not stated. C0 = ρ0⁴/K of one common token of weight 1 "
        "and ten distinct ones, 2.352; η_Z = 0.1, 0.3, 1, 3 at η_Y/η_Z = 1.",
    ),
)
