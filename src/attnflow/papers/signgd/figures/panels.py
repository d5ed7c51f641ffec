"""Panels that the figures of `signgd` share: one neuron, values, attention, losses.

Signals are blue, noise is purple, and outvoted noise is red; queries are solid lines,
keys dashed. Inner products of a neuron are multiplied by the final sign of its query
signal, so that majorities are positive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.stages import series, with_attended_noise
from attnflow.papers.signgd.stages.attended_tokens import is_long
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SAMPLE, SEED, TIME, TOKEN
from attnflow.schema.libraries import xr

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
"""Inner products below this, the initial size, are on a linear scale."""
HALFWAY = 0.2
"""The level at which a falling attention curve has its label."""
NOISE = r"$\langle w_s,\, y_i\xi_i\rangle$"
VALUE = r"$\langle v,\,\cdot\,\rangle$"
STEP = "step $t$"


def side_by_side(
    evidence: Evidence, panel: Callable[[Axes, xr.Dataset], None]
) -> Figure:
    """A figure with the same panel for each run, three in a row, titled by name."""
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
    ax: Axes, curves: xr.DataArray, colour: str
) -> tuple[Line2D, np.ndarray]:
    """Plot the median over samples and seeds, and their range."""
    stacked = curves.stack(each=(SEED, SAMPLE))
    low, middle, high = stacked.quantile([0.0, 0.5, 1.0], dim="each").values
    times = curves[TIME].values
    ax.fill_between(times, low, high, color=colour, alpha=0.18, lw=0)
    (line,) = ax.plot(times, middle, color=colour)
    return line, middle


def one_noise(run: xr.Dataset) -> xr.Dataset:
    """The run with one noise token per sample: in long samples the attended one."""
    return with_attended_noise(run) if is_long(run) else run


def direction(run: xr.Dataset, neuron: int = 0, seed: int = 0) -> float:
    """The final sign of a neuron's query signal."""
    last = series.signal(run, "query_neuron").isel(seed=seed, head=0, neuron=neuron)
    return float(np.sign(last.isel(time=-1)))


def noise_of(run: xr.Dataset, observable: str, neuron: int = 0) -> xr.DataArray:
    """Inner products of the first seed's neuron with noise: dims `time`, `token`."""
    table = series.noise(run, observable).isel(seed=0, head=0, neuron=neuron)
    return direction(run, neuron) * table


def outvoted(run: xr.Dataset, neuron: int = 0) -> np.ndarray:
    """A mask of the samples that the neuron outvotes, before attention moves."""
    against = stages.minority(run).isel(seed=0, head=0, neuron=neuron)
    return against.values.astype(bool)


def one_neuron(
    ax: Axes,
    run: xr.Dataset,
    *,
    neuron: int = 0,
    between: tuple[float, float] | None = None,
) -> None:
    """Plot query and key noise of every sample, thin; their means and signals, bold.

    `between` two steps, or over the whole run.
    """
    run = one_noise(run)
    span = slice(*between) if between else slice(None)
    against, toward = outvoted(run, neuron), direction(run, neuron)
    for observable in SIDES:
        noise = noise_of(run, observable, neuron).sel(time=span)
        for kind, members in (("noise", ~against), ("hard", against)):
            if members.any():
                _group(ax, noise.isel(token=members), observable, kind)
        signal = series.signal(run, observable).isel(seed=0, head=0, neuron=neuron)
        _bold(ax, toward * signal.sel(time=span), observable, "signal")
    figures.time_axis(ax, run.sel(time=span), label=STEP)
    ax.set_ylabel(r"$\langle w_s,\,\cdot\,\rangle$, neuron " + str(neuron))


def _group(ax: Axes, noise: xr.DataArray, observable: str, kind: str) -> None:
    colour = figures.current_theme().colour(kind)
    line = SIDES[observable][1]
    ax.plot(noise[TIME], noise, ls=line, color=colour, lw=0.5, alpha=0.4, zorder=2)
    _bold(ax, noise.mean(TOKEN), observable, kind)


def _bold(ax: Axes, curve: xr.DataArray, observable: str, kind: str) -> None:
    colour = figures.current_theme().colour(kind)
    line, name = SIDES[observable][1], curve_name(observable, kind)
    ax.plot(curve[TIME], curve, color=colour, ls=line, lw=2.0, label=name)


def curve_name(observable: str, kind: str) -> str:
    """The label of a curve, such as 'query noise' or 'outvoted key'."""
    side = SIDES[observable][0]
    return f"outvoted {side}" if kind == "hard" else f"{side} {kind}"


def values(ax: Axes, run: xr.Dataset) -> None:
    """Plot the mean values of every noise token and of the signal, first seed."""
    run = one_noise(run)
    first = run.isel(seed=0, head=0)
    noise, signal = series.value_noise(first), series.value_signal(first)
    theme = figures.current_theme()
    ax.plot(noise[TIME], noise, color=theme.colour("noise"), lw=0.6, alpha=0.5)
    middle = noise.mean(TOKEN)
    ax.plot(middle[TIME], middle, color=theme.colour("noise"), label="noise")
    ax.plot(signal[TIME], signal, color=theme.colour("signal"), label="signal", lw=2.0)
    figures.time_axis(ax, run, label=STEP)
    ax.set_ylabel(f"mean value {VALUE}")


def attention(
    ax: Axes, run: xr.Dataset, *, head: int = 0, scale: Scale = "linear"
) -> None:
    """Plot attention of signals and noise to the signal, over samples and seeds."""
    top = 0.5
    for attention_of, kind, label in (
        (series.noise_to_signal, "noise", r"$s_{21}$"),
        (series.signal_to_signal, "signal", r"$s_{11}$"),
    ):
        paid = attention_of(run).isel(head=head)
        colour, top = figures.current_theme().colour(kind), max(top, float(paid.max()))
        line, middle = samples_and_seeds(ax, paid, colour)
        if middle.min() < HALFWAY:
            _beside_fall(ax, run[TIME].values, middle, (label, colour))
        else:
            line.set_label(label)
    figures.time_axis(ax, run, scale=scale, label=STEP)
    ax.set(ylim=(-0.01, min(1.1 * top, 1.02)), ylabel="attention to the signal")


def _beside_fall(
    ax: Axes, times: np.ndarray, fall: np.ndarray, name_and_colour: tuple[str, str]
) -> None:
    """Label a falling curve, to its right."""
    index = int(np.argmax(fall < HALFWAY))
    label, colour = name_and_colour
    ax.annotate(
        label,
        (times[index], fall[index]),
        xytext=(5, 7),
        textcoords="offset points",
        color=colour,
        zorder=6,
    )


def zero_one(accuracy: xr.DataArray) -> xr.DataArray:
    """The 0–1 loss; a mean of ones may be above 1 by rounding."""
    return (1 - accuracy).clip(min=0.0)


def losses(ax: Axes, run: xr.Dataset) -> None:
    """Plot training and test loss, and the fraction of misclassified test samples."""
    wrong = run.assign(zero_one=zero_one(run["test_accuracy"]))
    figures.series(ax, run, "loss", kind="train", label="training loss")
    figures.series(ax, run, "test_loss", kind="test", label="test loss")
    # Zero is not on a logarithmic axis: its label stands at the bottom.
    none = float(wrong["zero_one"].isel(time=-1).max()) == 0.0
    name = "0–1 test loss" + ": 0" * none
    figures.series(ax, wrong, "zero_one", kind="other", label=name)
    ax.set_yscale("log")
    figures.number_axis(ax, "y")
    figures.time_axis(ax, run, label=STEP)
    ax.set_ylabel("loss")


def signed_axis(ax: Axes, largest: float = 10.0) -> None:
    """Set a signed axis over decades: linear near zero, logarithmic beyond."""
    powers = [p for p in (0.01, 0.1, 1.0, 10.0) if p <= largest]
    ticks = [*(-p for p in powers[::-1]), 0.0, *powers]
    ax.set_yscale("asinh", linear_width=LINEAR)
    ax.set_yticks(ticks, [figures.number(t) for t in ticks])
    ax.yaxis.minorticks_off()


def ends_of_stages(run: xr.Dataset) -> list[float]:
    """The ends of stages I, II and III, medians over seeds; NaN where not reached."""
    events = (
        stages.values_positive(run),
        stages.noise_aligned(run),
        stages.signals_voted(run),
    )
    return [float("nan") if e.median is None else e.median for e in events]


def shade(ax: Axes, run: xr.Dataset, *, named: int = 0) -> None:
    """Shade the four stages of a run, with labels from number `named` on."""
    names = [name if number >= named else "" for number, name in enumerate(STAGES)]
    figures.shade_stages(ax, ends_of_stages(run), names)
