"""Panels that the figures of `signgd` share: one neuron, values, attention, losses.

Signals are blue, noise is purple, and outvoted noise is red; queries are solid lines,
keys dashed. Inner products of a neuron are multiplied by the final sign of its query
signal, so that majorities are positive. Neurons and mean values are those of the first
seed; attention and losses are over all samples and seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from attnflow import schema
from attnflow.figures.exhibits import Course, Line, Panels, Series
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.sizes import RATE, sizes
from attnflow.papers.signgd.stages import series, with_attended_noise
from attnflow.papers.signgd.stages.attended_tokens import is_long
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Look: TypeAlias = "Callable[[xr.Dataset], xr.Dataset]"

DASHES = (0, (3, 1.6))
SIDES = {"query_neuron": "query", "key_neuron": "key"}
ACROSS = 3
HALFWAY = 0.2
"""The level at which a falling attention curve has its label."""
STEP = "step $t$"
FIRST = {"seed": [0], "head": 0, "neuron": 0}
BOLD = {"lw": 2.0}
WRONG = "0–1 test loss"


def side_by_side(panel: Callable[[str, str], Course], runs: Iterable[str]) -> Panels:
    """The same panel for each run, three in a row, titled by name."""
    each = tuple(panel(name, name) for name in runs)
    return Panels(
        each, columns=ACROSS, size=(15.2, 0.6 + 3.7 * -(-len(each) // ACROSS))
    )


def one_noise(run: xr.Dataset) -> xr.Dataset:
    """The run with one noise token per sample: in long samples the attended one."""
    return with_attended_noise(run) if is_long(run) else run


def in_papers_steps(run: xr.Dataset) -> xr.Dataset:
    """A run with small steps, in steps of the paper's learning rate."""
    rate = sizes(schema.setting_of(run)).learning_rate
    return run.assign_coords(time=run[TIME] * rate / RATE)


def _of_neuron(
    run: xr.Dataset, observable: str, kind: str, look: Look, span: slice, *, one: bool
) -> xr.DataArray:
    """Inner products of the neuron with a kind of token, or with one of that kind."""
    run = look(run)
    signal = series.signal(run, "query_neuron").isel(FIRST)
    if kind == "signal":
        table = series.signal(run, observable).isel(FIRST)
    else:
        against = stages.minority(run).isel(FIRST).isel(seed=0, drop=True)
        members = against if kind == "hard" else ~against
        table = series.noise(run, observable).isel(FIRST).where(members)
        table = table.isel(token=[int(members.values.argmax())]) if one else table
    return table.sel(time=span) * np.sign(signal.isel(time=-1, drop=True))


def curve_name(observable: str, kind: str) -> str:
    """The label of a curve, such as 'query noise' or 'outvoted key'."""
    side = SIDES[observable]
    return f"outvoted {side}" if kind == "hard" else f"{side} {kind}"


def neuron(
    title: str,
    run: str = "run",
    *,
    look: Look = one_noise,
    span: tuple[float, float] | None = None,
    one: bool = False,
    **options: Any,
) -> Course:
    """Query and key noise of every sample, thin; their means and the signals, bold.

    With `one` a sample that the neuron outvotes and one that it does not. Between two
    steps, or over the whole run.
    """
    between = slice(*span) if span else slice(None)
    lines = tuple(
        Line(
            curve_name(observable, kind),
            partial(
                _of_neuron,
                observable=observable,
                kind=kind,
                look=look,
                span=between,
                one=one,
            ),
            run=run,
            kind=kind,
            middle="mean",
            band="seeds",
            dashes=DASHES if observable == "key_neuron" else "-",
            style={} if one else BOLD,
        )
        for observable in SIDES
        for kind in ("noise", "hard", "signal")
    )
    usual: dict[str, Any] = {
        "x": STEP,
        "y": r"$\langle w_s,\,\cdot\,\rangle$, neuron 0",
    }
    return Course(title=title, lines=lines, **(usual | options))


def mean_values(
    title: str, run: str = "run", *, look: Look = one_noise, **options: Any
) -> Course:
    """The mean values of every noise token, thin; their mean and the signal, bold."""
    first = {"seed": [0], "head": 0}
    lines = (
        Line(
            "noise",
            lambda run: series.value_noise(look(run)).isel(first),
            run=run,
            kind="noise",
            middle="mean",
            band="seeds",
        ),
        Line(
            "signal",
            lambda run: series.value_signal(look(run)).isel(first),
            run=run,
            kind="signal",
            style=BOLD,
        ),
    )
    usual: dict[str, Any] = {"x": STEP, "y": r"mean value $\langle v,\,\cdot\,\rangle$"}
    return Course(title=title, lines=lines, **(usual | options))


def itself(run: xr.Dataset) -> xr.Dataset:
    """The run as it is."""
    return run


def attention(
    title: str, run: str = "run", *, head: int = 0, look: Look = itself, **options: Any
) -> Course:
    """Attention of noise and of signals to the signal, over samples and seeds."""
    lines = (
        Line(
            "s21",
            lambda run: series.noise_to_signal(look(run)).isel(head=head),
            run=run,
            label=r"$s_{21}$",
            kind="noise",
        ),
        Line(
            "s11",
            lambda run: series.signal_to_signal(look(run)).isel(head=head),
            run=run,
            label=r"$s_{11}$",
            kind="signal",
        ),
    )
    usual: dict[str, Any] = {
        "x": STEP,
        "y": "attention to the signal",
        "finish": name_falls,
    }
    return Course(title=title, lines=lines, **(usual | options))


def name_falls(ax: Axes, table: Series) -> None:
    """Labels falling curves to their right, and sets the axis of attention."""
    top = max(0.5, *(float(paid.max()) for paid in table.values()))
    ax.set_ylim(-0.01, min(1.1 * top, 1.02))
    for line in ax.get_lines()[: len(table)]:
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        if (y < HALFWAY).any():
            index, style = int(np.argmax(y < HALFWAY)), {"color": line.get_color()}
            offset = {"xytext": (5, 7), "textcoords": "offset points", "zorder": 6}
            ax.annotate(str(line.get_label()), (x[index], y[index]), **style, **offset)
            line.set_label("_nolegend_")


def zero_one(accuracy: xr.DataArray) -> xr.DataArray:
    """The 0–1 loss; a mean of ones may be above 1 by rounding."""
    return (1 - accuracy).clip(min=0.0)


def losses(title: str = "Losses", run: str = "run", **options: Any) -> Course:
    """Training and test loss, and the fraction of misclassified test samples."""
    lines = (
        Line("training loss", "loss", run=run, kind="train"),
        Line("test loss", "test_loss", run=run, kind="test"),
        Line(WRONG, lambda run: zero_one(run["test_accuracy"]), run=run),
    )
    usual: dict[str, Any] = {
        "x": STEP,
        "y": "loss",
        "scales": ("linear", "log"),
        "finish": _name_zero,
    }
    return Course(title=title, lines=lines, **(usual | options))


def _name_zero(ax: Axes, table: Series) -> None:
    """Zero is not on a logarithmic axis: its label stands at the bottom."""
    if float(table.ends[WRONG].max()) == 0.0:
        ax.get_lines()[len(table) - 1].set_label(f"{WRONG}: 0")
