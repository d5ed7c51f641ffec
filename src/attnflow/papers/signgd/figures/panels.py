"""Panels that the figures of `signgd` share: one neuron, values, attention, losses.

Signals are blue, noise is purple, and noise that its neuron outvotes is red; queries
are full lines, keys dashed ones. What one neuron shows is multiplied by the sign that
its query signal ends with, so that majorities are positive.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.stages import attended, series
from attnflow.papers.signgd.stages.attended import is_long
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SAMPLE, SEED, TIME, TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from attnflow.figures.axes import Scale

DASHES = (0, (3, 1.6))
SIDES = {"query_neuron": ("query", "-"), "key_neuron": ("key", DASHES)}
STAGES = ("I", "II", "III", "IV")
ACROSS = 3
LINEAR = 0.004
"""Inner products below this, the size at the start, are drawn in proportion."""
HALFWAY = 0.2
"""Where a falling attention is named."""
NOISE = r"$\langle w_s,\, y_i\xi_i\rangle$"
VALUE = r"$\langle v,\,\cdot\,\rangle$"
STEP = "step $t$"


def side_by_side(
    evidence: Evidence, panel: "Callable[[Axes, xr.Dataset], None]"
) -> "Figure":
    """The same panel for each of some runs, three in a row, with their names."""
    down = -(-len(evidence) // ACROSS)
    size = (15.2, 0.6 + 3.7 * down)
    figure, grid = figures.panels(down, ACROSS, titles=tuple(evidence), size=size)
    for ax, run in zip(grid.flat, evidence.values(), strict=False):
        panel(ax, run)
        figures.label_ends(ax)
    for ax in grid.flat[len(evidence) :]:
        ax.set_axis_off()
    return figure


def samples_and_seeds(
    ax: "Axes", curves: xr.DataArray, colour: str
) -> "tuple[Line2D, np.ndarray]":
    """The median over samples and seeds as a line in their range; and its numbers."""
    every = curves.stack(each=(SEED, SAMPLE))
    low, middle, high = every.quantile([0.0, 0.5, 1.0], dim="each").values
    times = curves[TIME].values
    ax.fill_between(times, low, high, color=colour, alpha=0.18, lw=0)
    (line,) = ax.plot(times, middle, color=colour)
    return line, middle


def one_noise(run: xr.Dataset) -> xr.Dataset:
    """The run, with one noise token per sample: in long ones the attended."""
    return attended(run) if is_long(run) else run


def direction(run: xr.Dataset, neuron: int = 0, seed: int = 0) -> float:
    """The sign that a neuron's query signal ends with."""
    last = series.signal(run, "query_neuron").isel(seed=seed, head=0, neuron=neuron)
    return float(np.sign(last.isel(time=-1)))


def noise_of(run: xr.Dataset, observable: str, neuron: int = 0) -> xr.DataArray:
    """Noise that the first seed's neuron sees: dims `time`, `token`."""
    table = series.noise(run, observable).isel(seed=0, head=0, neuron=neuron)
    return direction(run, neuron) * table


def outvoted(run: xr.Dataset, neuron: int = 0) -> np.ndarray:
    """Which samples the neuron's vote went against, before the attention moved."""
    against = stages.minority(run).isel(seed=0, head=0, neuron=neuron)
    return against.values.astype(bool)


def one_neuron(
    ax: "Axes",
    run: xr.Dataset,
    *,
    neuron: int = 0,
    between: tuple[float, float] | None = None,
) -> None:
    """Query and key noise of every sample, thin; their means and signals, bold.

    `between` two steps, or over the whole run.
    """
    run = one_noise(run)
    shown = slice(*between) if between else slice(None)
    against, toward = outvoted(run, neuron), direction(run, neuron)
    for observable in SIDES:
        noise = noise_of(run, observable, neuron).sel(time=shown)
        for kind, members in (("noise", ~against), ("hard", against)):
            if members.any():
                _group(ax, noise.isel(token=members), observable, kind)
        signal = series.signal(run, observable).isel(seed=0, head=0, neuron=neuron)
        _bold(ax, toward * signal.sel(time=shown), observable, "signal")
    figures.time_axis(ax, run.sel(time=shown), label=STEP)
    ax.set_ylabel(r"$\langle w_s,\,\cdot\,\rangle$, neuron " + str(neuron))


def _group(ax: "Axes", noise: xr.DataArray, observable: str, kind: str) -> None:
    colour = figures.current_theme().colour(kind)
    style: dict[str, Any] = {"color": colour, "lw": 0.5, "alpha": 0.4, "zorder": 2}
    ax.plot(noise[TIME], noise, ls=SIDES[observable][1], **style)
    _bold(ax, noise.mean(TOKEN), observable, kind)


def _bold(ax: "Axes", curve: xr.DataArray, observable: str, kind: str) -> None:
    colour = figures.current_theme().colour(kind)
    look: dict[str, Any] = {"color": colour, "ls": SIDES[observable][1], "lw": 2.0}
    ax.plot(curve[TIME], curve, label=curve_name(observable, kind), **look)


def curve_name(observable: str, kind: str) -> str:
    """Such as 'query noise', or 'outvoted key'."""
    side = SIDES[observable][0]
    return f"outvoted {side}" if kind == "hard" else f"{side} {kind}"


def values(ax: "Axes", run: xr.Dataset) -> None:
    """Mean values of every noise token and of the signal, of the first seed."""
    run = one_noise(run)
    one = run.isel(seed=0, head=0)
    noise, signal = series.value_noise(one), series.value_signal(one)
    theme = figures.current_theme()
    style: dict[str, Any] = {"color": theme.colour("noise"), "lw": 0.6, "alpha": 0.5}
    ax.plot(noise[TIME], noise, **style)
    middle = noise.mean(TOKEN)
    ax.plot(middle[TIME], middle, color=theme.colour("noise"), label="noise")
    ax.plot(signal[TIME], signal, color=theme.colour("signal"), label="signal", lw=2.0)
    figures.time_axis(ax, run, label=STEP)
    ax.set_ylabel(f"mean value {VALUE}")


def attention(
    ax: "Axes", run: xr.Dataset, *, head: int = 0, scale: "Scale" = "linear"
) -> None:
    """Attention that signals and noise pay to the signal, over samples and seeds."""
    top = 0.5
    for look, kind, label in (
        (series.noise_to_signal, "noise", r"$s_{21}$"),
        (series.signal_to_signal, "signal", r"$s_{11}$"),
    ):
        every = look(run).isel(head=head)
        colour, top = figures.current_theme().colour(kind), max(top, float(every.max()))
        line, middle = samples_and_seeds(ax, every, colour)
        if middle.min() < HALFWAY:
            _beside_fall(ax, run[TIME].values, middle, (label, colour))
        else:
            line.set_label(label)
    figures.time_axis(ax, run, scale=scale, label=STEP)
    ax.set(ylim=(-0.01, min(1.1 * top, 1.02)), ylabel="attention to the signal")


def _beside_fall(
    ax: "Axes", times: np.ndarray, fall: np.ndarray, look: tuple[str, str]
) -> None:
    """A name to the right of a curve that falls."""
    place = int(np.argmax(fall < HALFWAY))
    place_of_text: dict[str, Any] = {"xytext": (5, 7), "textcoords": "offset points"}
    label, colour = look
    ax.annotate(
        label, (times[place], fall[place]), color=colour, zorder=6, **place_of_text
    )


def zero_one(accuracy: xr.DataArray) -> xr.DataArray:
    """The 0–1 loss; a mean of ones may be above 1 by rounding."""
    return (1 - accuracy).clip(min=0.0)


def losses(ax: "Axes", run: xr.Dataset) -> None:
    """Training and test loss, and the share of test samples that are wrong."""
    wrong = run.assign(zero_one=zero_one(run["test_accuracy"]))
    figures.series(ax, run, "loss", kind="train", label="training loss")
    figures.series(ax, run, "test_loss", kind="test", label="test loss")
    # Zero has no place on a logarithmic axis, but at its foot a name.
    none = float(wrong["zero_one"].isel(time=-1).max()) == 0.0
    name = "0–1 test loss" + ": 0" * none
    figures.series(ax, wrong, "zero_one", kind="other", label=name)
    ax.set_yscale("log")
    figures.number_axis(ax, "y")
    figures.time_axis(ax, run, label=STEP)
    ax.set_ylabel("loss")


def signed_axis(ax: "Axes", largest: float = 10.0) -> None:
    """Signed numbers over decades: in proportion near zero, by logarithm beyond."""
    powers = [p for p in (0.01, 0.1, 1.0, 10.0) if p <= largest]
    ticks = [*(-p for p in powers[::-1]), 0.0, *powers]
    ax.set_yscale("asinh", linear_width=LINEAR)
    ax.set_yticks(ticks, [figures.number(t) for t in ticks])
    ax.yaxis.minorticks_off()


def ends_of_stages(run: xr.Dataset) -> list[float]:
    """When stages I, II and III end, in the median over seeds; NaN where not."""
    found = (
        stages.values_positive(run),
        stages.noise_aligned(run),
        stages.signals_voted(run),
    )
    return [float("nan") if e.median is None else e.median for e in found]


def shade(ax: "Axes", run: xr.Dataset, *, named: int = 0) -> None:
    """The four stages of a run behind its curves, named from number `named` on."""
    names = [name if number >= named else "" for number, name in enumerate(STAGES)]
    figures.shade_stages(ax, ends_of_stages(run), names)
