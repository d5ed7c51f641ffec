"""The paper's experiment at widths from 128 to 10^8, all at the same cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from attnflow import figures, schema
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.clock import on_clock
from attnflow.papers.cooccurrence.figures.runs import (
    SILENT_EXPERIMENT,
    Numbers,
    at_time,
    power,
    three_numbers,
)
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    clock_times,
    formulas,
    loss_reaches,
)
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = (128, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
LEVEL = 0.01
"""The loss at which widths are compared."""
LAST = 3
"""Number of the largest widths over which powers are fitted."""
SEEDS = 3
Statistic: TypeAlias = "Callable[[xr.Dataset], np.ndarray]"
"""From a run to one number for each of its seeds."""
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
    return Request("flow", overrides, seeds=SEEDS, quick=quick)


def name(width: int) -> str:
    """Name of a run in the evidence."""
    return f"m = {width}"


def faster(run: xr.Dataset) -> float:
    """Ratio (b0 + |a|² σ0² m) / b0 of the readouts' speed to b0."""
    setting = schema.setting_of(run)
    return 1 + formulas.value_gain(setting) / formulas.readout_gain(setting)


def first_phase(run: xr.Dataset) -> np.ndarray:
    """T1 on the clock (b0 + |a|² σ0² m) t, per seed."""
    return clock_times(run, all_correct(run)) * faster(run)


def growth(run: xr.Dataset) -> np.ndarray:
    """Relative growth of b until the loss is `LEVEL`, per seed."""
    times = replace(loss_reaches, level=LEVEL)(run).times
    start = run["readout_gain"].isel(time=0, head=0).values
    return at_time(run, "readout_gain[0]", times) / start - 1


def attention_change(run: xr.Dataset) -> np.ndarray:
    """Largest change of an attention weight until the loss is `LEVEL`, per seed."""
    times = replace(loss_reaches, level=LEVEL)(run).times
    return at_time(run, "largest_attention_change", times)


def draw(evidence: Evidence) -> Figure:
    """Figure of losses on two clocks, growth of b, and change of attention."""
    titles = (
        "Loss over time",
        r"Loss over $(b_0 + |a|^2\sigma_0^2 m)\,t$",
        f"Growth of the readout gain until the loss is {LEVEL:g}",
        "Largest change of an attention until then",
    )
    figure, grid = figures.panels(2, 2, titles=titles, size=(11.4, 7.4))
    runs = {width: evidence[name(width)] for width in WIDTHS}
    _losses(grid[0, 0], runs)
    clocked = {
        width: on_clock(run, ("loss",)).pipe(_rescaled, faster(run))
        for width, run in runs.items()
    }
    _losses(grid[0, 1], clocked)
    grid[0, 0].set_xlabel("time $t$ (one epoch is 0.01)")
    grid[0, 0].set_xlim(1e-6, 300)
    grid[0, 1].set_xlabel(r"$(b_0 + |a|^2\sigma_0^2 m)\,t$")
    grid[0, 1].set_xlim(0.1, 1e6)
    _ladder(grid[1, 0], {w: growth(run) for w, run in runs.items()})
    _ladder(grid[1, 1], {w: attention_change(run) for w, run in runs.items()})
    grid[1, 0].set_ylabel("$b/b_0 - 1$")
    grid[1, 1].set_ylabel(r"$\max\,|p(t) - p(0)|$")
    for ax in grid[0]:
        figures.number_axis(ax, "x")
    figures.label_ends(grid[0, 0])
    _name_branches(grid[0, 1], clocked)
    return figure


def _name_branches(ax: Axes, runs: dict[int, xr.Dataset]) -> None:
    """Label the curves of small widths, which leave the common one, at their ends."""
    ramp = figures.current_theme().ramp("signal", len(runs))
    # Ends are close together, and wide curves run above: labels are staggered.
    lower = (-5, -24, -43)
    first = list(runs.items())[: len(lower)]
    for colour, (width, run), below in zip(ramp, first, lower, strict=False):
        recorded = run.isel(time=run["recorded"].any("seed").values)
        end = (
            float(recorded["time"][-1]),
            float(recorded["loss"].isel(time=-1).median()),
        )
        style = {"xytext": (0, below), "textcoords": "offset points", "va": "top"}
        ax.annotate(
            panels.size_name("m", width), end, ha="right", color=colour, **style
        )


def _rescaled(run: xr.Dataset, factor: float) -> xr.Dataset:
    return run.assign_coords(time=run["time"] * factor)


def _losses(ax: Axes, runs: dict[int, xr.Dataset]) -> None:
    ramp = figures.current_theme().ramp("signal", len(runs))
    for colour, (width, run) in zip(ramp, runs.items(), strict=True):
        label = panels.size_name("m", width)
        figures.series(ax, run, "loss", colour=colour, label=label)
    ax.set(xscale="log", yscale="log", ylim=(1e-7, 1.5), ylabel="loss")
    figures.number_axis(ax, "y")


def _ladder(ax: Axes, by_width: dict[int, np.ndarray]) -> None:
    """Draw each seed as a dot, and a line of slope −1 through the largest width."""
    theme = figures.current_theme()
    style = {"marker": "o", "ls": "", "ms": 5, "mec": theme.paper, "mew": 0.5}
    for width, values in by_width.items():
        ax.plot([width] * len(values), values, color=theme.colour("signal"), **style)
    sizes = np.array(WIDTHS[2:], float)
    last = float(np.median(by_width[WIDTHS[-1]]))
    figures.theory(ax, sizes, last * WIDTHS[-1] / sizes)
    ax.annotate(r"$\propto 1/m$", (3e6, 2 * last * WIDTHS[-1] / 3e6), size="small")
    ax.set(xscale="log", yscale="log", xlabel="width $m$")
    ax.margins(x=0.05, y=0.12)
    for which in ("x", "y"):
        figures.number_axis(ax, which)


def _medians(evidence: Evidence, statistic: Statistic) -> np.ndarray:
    return np.array([np.median(statistic(evidence[name(width)])) for width in WIDTHS])


def _power(evidence: Evidence, statistic: Statistic) -> float:
    """Fitted power of m over the largest widths."""
    return power(np.array(WIDTHS[-LAST:]), _medians(evidence, statistic)[-LAST:])


def values(evidence: Evidence) -> dict[str, Numbers]:
    """T1, growth of b, change of attention, final loss and seconds, by width."""
    numbers: dict[str, Numbers] = {}
    for width in WIDTHS:
        run = evidence[name(width)]
        wall, compiled = (run.attrs[f"{key}_seconds"] for key in ("wall", "compile"))
        numbers[name(width)] = {
            "(b0 + |a|²σ0²m) T1": three_numbers(first_phase(run)),
            "b/b0 at loss 0.01": three_numbers(1 + growth(run)),
            "change of attention": three_numbers(attention_change(run)),
            "loss at the end": three_numbers(schema.last(run, "loss").values),
            "seconds without compilation": float(wall) - float(compiled),
        }
    numbers["power of m, last three widths"] = {
        "growth of b": _power(evidence, growth),
        "change of attention": _power(evidence, attention_change),
    }
    return numbers


def checks(evidence: Evidence) -> dict[str, bool]:
    """Which statistics are constant over widths, and which vanish."""
    first = _medians(evidence, first_phase)[1:]
    growths = _medians(evidence, growth)
    return {
        "from m = 1000 on, T1 on the common clock stays within a factor of 2": bool(
            first.max() < 2 * first.min()
        ),
        "at the paper's width the readout gain grows more than tenfold": bool(
            growths[0] > 9
        ),
        "its growth falls as 1/m at large widths: power −1 ± 0.1": (
            abs(_power(evidence, growth) + 1) < 0.1
        ),
        "so does the change of attention: power −1 ± 0.1": (
            abs(_power(evidence, attention_change) + 1) < 0.1
        ),
    }


WIDTH_SCAN = Exhibit(
    id="width-scan",
    kind="figure",
    title="The experiment at widths from 128 to 10⁸",
    caption=(
        "Figure 1's setting by gradient flow, with normal weights of the same "
        "variances, whose inner products are sampled directly: every width takes the "
        "same time. With PyTorch's default scales readouts move at the speed b0 + "
        "|a|²σ0²m; on that clock losses of large widths fall on one curve, which small "
        "widths leave once their readout gain b has grown. At the paper's width it "
        "grows many times over, and attention moves: the experiment is far from the "
        "regime of the theorems. Both effects vanish as 1/m. Three seeds for each "
        "width; lines are medians, bands the range over seeds."
    ),
    needs={name(width): _request(width) for width in WIDTHS},
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        SILENT_EXPERIMENT[0],
        "The paper shows one width, 128, by gradient descent with step 0.01.",
    ),
)
