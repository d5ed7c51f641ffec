"""The paper's experiment at widths from 128 to 10^8, all at the same cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.claims import look
from attnflow.figures.exhibits import (
    Course,
    Curve,
    Curves,
    Panels,
    Series,
    Tables,
    ramp,
)
from attnflow.figures.exhibits.ladder import slope
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    clock_times,
    formulas,
    loss_reaches,
)
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = (128, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
RUNS = {f"m = {width}": lines.size_name("m", width) for width in WIDTHS}
"""Runs by name, with their labels."""
LEVEL = 0.01
"""The loss at which widths are compared."""
GROWTH, CHANGE = "growth of b", "change of attention"
LAST = 3
"""Number of the largest widths over which powers are fitted."""
RECORD = (
    "loss",
    "loss_by_group",
    "margin",
    "value",
    "value_rate",
    "readout_gain",
    "largest_attention_change",
)


def _request(width: int) -> Request:
    overrides = {"width": width, "law": "normal", "draw": "bartlett", "test_samples": 0}
    overrides |= {"first_record": 1e-6, "records": 201, "record": RECORD}
    quick = {"samples": 24, "length": 3, "embed": 20, "records": 121}
    return Request("flow", overrides, seeds=3, quick=quick)


def faster(run: xr.Dataset) -> float:
    """Ratio (b0 + |a|² σ0² m) / b0 of the readouts' speed to b0."""
    setting = schema.setting_of(run)
    return 1 + formulas.value_gain(setting) / formulas.readout_gain(setting)


def first_phase(run: xr.Dataset) -> np.ndarray:
    """T1 on the clock (b0 + |a|² σ0² m) t, per seed."""
    return clock_times(run, all_correct(run)) * faster(run)


def growth(run: xr.Dataset) -> np.ndarray:
    """Relative growth of b until the loss is `LEVEL`, per seed."""
    gain = run["readout_gain"].isel(head=0)
    return (_at_level(run, gain) / gain.isel(time=0) - 1).values


def attention_change(run: xr.Dataset) -> np.ndarray:
    """Largest change of an attention weight until the loss is `LEVEL`, per seed."""
    return _at_level(run, run["largest_attention_change"]).values


def _at_level(run: xr.Dataset, series: xr.DataArray) -> xr.DataArray:
    reached = replace(loss_reaches, level=LEVEL)(run)
    return look.at(run, reached, series, how="linear")


def _on_common_clock(run: xr.Dataset) -> xr.DataArray:
    """Losses on the clock (b0 + |a|² σ0² m) t."""
    loss = lines.on_clock("loss")(run)
    return loss.assign_coords(time=loss["time"] * faster(run))


def _losses(of: str | Callable[[xr.Dataset], xr.DataArray], **fields: Any) -> Course:
    return Course(
        lines=ramp(of, RUNS, kind="signal"),
        y="loss",
        scales=("log", "log"),
        ylim=(1e-7, 1.5),
        **fields,
    )


def _name_branches(ax: Axes, table: Series) -> None:
    """Label the curves of small widths, which leave the common one, at their ends."""
    colours = figures.current_theme().ramp("signal", len(RUNS))
    # Ends are close together, and wide curves run above: labels are staggered.
    for run, colour, below in zip(RUNS, colours, (-5, -16, -18), strict=False):
        loss = table[run].median("seed").dropna("time")
        end = float(loss["time"][-1]), float(loss[-1])
        style = {"xytext": (0, below), "textcoords": "offset points", "va": "top"}
        ax.annotate(RUNS[run], end, ha="right", color=colour, **style)


def _vanishing(statistic: Callable[[xr.Dataset], np.ndarray], **fields: Any) -> Curves:
    """A statistic by width, with a line of slope −1 through the largest width."""
    of = partial(runs.by_width, statistic=statistic, widths=WIDTHS)
    return Curves(
        x="width $m$",
        scales=("log", "log"),
        bars="range",
        curves=(Curve("median", of, kind="signal", style={"ls": ""}),),
        names="",
        finish=_inverse,
        **fields,
    )


def _inverse(ax: Axes, table: dict[str, xr.DataArray]) -> None:
    sizes = np.array(WIDTHS[2:], float)
    factor = float(table["median"].isel(width=-1).median()) * WIDTHS[-1]
    figures.theory(ax, sizes, factor / sizes)
    ax.annotate(r"$\propto 1/m$", (3e6, 2 * factor / 3e6), size="small")
    ax.margins(x=0.05, y=0.12)


PANELS = Panels(
    (
        _losses(
            "loss",
            title="Loss over time",
            x="time $t$ (one epoch is 0.01)",
            xlim=(1e-6, 300),
        ),
        _losses(
            _on_common_clock,
            title=r"Loss over $(b_0 + |a|^2\sigma_0^2 m)\,t$",
            x=r"$(b_0 + |a|^2\sigma_0^2 m)\,t$",
            xlim=(0.1, 1e6),
            names="",
            finish=_name_branches,
        ),
        _vanishing(
            growth,
            title=f"Growth of the readout gain until the loss is {LEVEL:g}",
            name=GROWTH,
            y="$b/b_0 - 1$",
        ),
        _vanishing(
            attention_change,
            title="Largest change of an attention until then",
            name=CHANGE,
            y=r"$\max\,|p(t) - p(0)|$",
        ),
    ),
    columns=2,
    size=(11.4, 7.4),
)


def _power(table: Tables, panel: str) -> float:
    """Fitted power of m over the largest widths."""
    return slope(table[panel]["median"].isel(width=slice(-LAST, None)))


def _numbers(run: xr.Dataset) -> dict[str, Any]:
    wall, compiled = (run.attrs[f"{key}_seconds"] for key in ("wall", "compile"))
    statistics = {
        "(b0 + |a|²σ0²m) T1": first_phase(run),
        "b/b0 at loss 0.01": 1 + growth(run),
        "change of attention": attention_change(run),
        "loss at the end": schema.last(run, "loss"),
    }
    return {name: runs.three_numbers(each) for name, each in statistics.items()} | {
        "seconds without compilation": float(wall) - float(compiled)
    }


def values(table: Tables) -> dict[str, Any]:
    """T1, growth of b, change of attention, final loss and seconds, by width."""
    powers = {panel: _power(table, panel) for panel in (GROWTH, CHANGE)}
    return {name: _numbers(table.runs[name]) for name in RUNS} | {
        "power of m, last three widths": powers
    }


def _first_phases(table: Tables) -> xr.DataArray:
    """T1 on the common clock from m = 1000 on, medians over seeds."""
    return runs.by_width(table.runs, first_phase, WIDTHS[1:]).median("seed")


CHECKS = {
    "from m = 1000 on, T1 on the common clock stays within a factor of 2": (
        lambda t: _first_phases(t).max() < 2 * _first_phases(t).min()
    ),
    "at the paper's width the readout gain grows more than tenfold": (
        lambda t: t[GROWTH]["median"].sel(width=128).median() > 9
    ),
    "the growth of the readout gain falls as 1/m at large widths: power −1 ± 0.1": (
        lambda t: abs(_power(t, GROWTH) + 1) < 0.1
    ),
    "the change of attention falls as 1/m too: power −1 ± 0.1": (
        lambda t: abs(_power(t, CHANGE) + 1) < 0.1
    ),
}

WIDTH_SCAN = Exhibit(
    id="width-scan",
    kind="figure",
    title="The experiment at widths from 128 to 10⁸",
    caption=(
        "Loss over time at several widths, and changes of readout gain and attention "
        "against width, in Figure 1's setting by gradient flow, with normal weights "
        "of the same variances, whose inner products are sampled directly: every "
        "width takes the same time. With PyTorch's default scales readouts move at "
        "the speed b0 + |a|²σ0²m; on that clock losses of large widths fall on one "
        "curve, which small widths leave once their readout gain b has grown. At the "
        "paper's width it grows many times over, and attention moves: the experiment "
        "is far from the regime of the theorems. Both effects vanish as 1/m. Three "
        "seeds for each width; lines are medians, bands the range over seeds."
    ),
    needs={f"m = {width}": _request(width) for width in WIDTHS},
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=(
        runs.SILENT_EXPERIMENT[0],
        "The paper shows one width, 128, by gradient descent with step 0.01.",
    ),
)
