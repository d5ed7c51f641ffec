"""Does attention matter? Loss and margin with trained and with frozen attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.claims import look
from attnflow.figures.exhibits import Course, Curve, Curves, Line, Panels, Tables
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import joint, other_sizes
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = (128, 1024, 8192, 65536)
LATE = 1e100
"""The clock b0·t to which runs without noise are followed."""
FIGURE1 = "Figure 1"
EPOCHS = 300.0
"""Time of the paper's 30,000 epochs."""
EXCESS, MARGIN, SHARE = "excess of the loss", "excess of the margin", "share"
LOSS_BY_SIZE, MARGIN_BY_SIZE = f"{EXCESS} at the end", f"{MARGIN} at the end"
TRAINS = {"trained": "both", "frozen": "values"}
NAMES = {f"m = {width}": lines.size_name("m", width) for width in WIDTHS}


def _experiment(trains: str) -> Request:
    overrides = {
        "trains": trains,
        "steps": 1e10,
        "test_samples": 0,
        "records": 121,
        "record": ("loss", "margin", "readout_gain"),
    }
    # With fewer or shorter samples, or a smaller width, attention matters more.
    quick = {"steps": 1e4, "records": 61}
    return Request("flow", overrides, seeds=3, quick=quick)


def _late(trains: str, **sizes: float) -> Request:
    setting = {"width": WIDTHS[0], "samples": 60.0, **sizes}
    return replace(ev.sized(LATE, trains=trains, **setting), quick={"records": 61})


ENDS = {
    "m": WIDTHS,
    "L": (5, 8, 12, 20, 30),
    "n": (60, 200, 600, 2000, 6000),
}
"""Sizes at which runs without noise end; other sizes are those of Figure 1."""
NEEDS: dict[str, Request] = {
    **{f"{FIGURE1}, {name}": _experiment(part) for name, part in TRAINS.items()},
    **{
        f"{size} = {value}, {name}": _late(part, **{other_sizes.FIELDS[size]: value})
        for size, values in ENDS.items()
        for value in values
        for name, part in TRAINS.items()
    },
    **joint.ALONG_M,
    **{
        name: run for size in ("L", "n") for name, run in other_sizes.RUNS[size].items()
    },
}


def _clocked(run: xr.Dataset, table: xr.DataArray) -> xr.DataArray:
    """A table by log₁₀ of the median clock of the seeds, without time 0."""
    later = table.isel(time=slice(1, None))
    clock = stages.clock(run).median("seed").values[1:]
    return later.assign_coords(time=np.log10(clock))


def excess(evidence: Evidence, name: str) -> xr.DataArray:
    """Loss with frozen over loss with trained attention, less 1."""
    trained, frozen = (evidence[f"{name}, {part}"] for part in TRAINS)
    return _clocked(trained, frozen["loss"] / trained["loss"] - 1)


def margin_excess(evidence: Evidence, name: str) -> xr.DataArray:
    """Least margin with trained over frozen attention, less 1, where positive."""
    trained, frozen = (evidence[f"{name}, {part}"] for part in TRAINS)
    first, second = (
        run["margin"].min("sample", skipna=False) for run in (trained, frozen)
    )
    ratio = _clocked(trained, first / second - 1)
    return ratio.where(_clocked(trained, second) > 0)


def at_end(evidence: Evidence, of: Any, size: str) -> xr.DataArray:
    """An excess at the end of the runs, by size."""
    rows = [
        of(evidence, f"{size} = {value}").isel(time=-1, drop=True).values
        for value in ENDS[size]
    ]
    return xr.DataArray(np.array(rows), {size: list(ENDS[size])}, (size, "seed"))


def share_along(evidence: Evidence, requests: Mapping[str, Request], size: str) -> Any:
    """Attention's share of the loss's decrease where the loss is 1/m, by size."""
    of_runs = [evidence[name] for name in requests]
    rows = [
        look.at(run, stages.loss_reaches(run), joint.share(run), how="linear").values
        for run in of_runs
    ]
    key = other_sizes.FIELDS[size]
    values = [float(schema.setting_of(run)[key]) for run in of_runs]
    return xr.DataArray(np.array(rows), {key: values}, (key, "seed"))


def _curves(of: Any) -> tuple[Curve, ...]:
    """Figure 1's run, and runs without noise from pale to full."""
    line = {"marker": "", "lw": 1.8}
    noise_free = tuple(
        Curve(
            name,
            partial(of, name=name),
            label=f"theory, {NAMES[name]}",
            kind="signal",
            ramp=(number, len(NAMES)),
            style=line,
        )
        for number, name in enumerate(NAMES)
    )
    first = Curve(
        FIGURE1, partial(of, name=FIGURE1), kind="hard", style={**line, "lw": 2.2}
    )
    return (first, *noise_free)


def _end_of_paper(ax: Axes, table: Any) -> None:
    ax.axvline(EPOCHS, color=figures.current_theme().muted, lw=0.9, ls=":")
    ax.annotate("epoch 30,000", (EPOCHS * 1.3, 0.1), size="small")


_late_panel = partial(
    Curves,
    x=r"$\log_{10}$ of training time $b_0 t$",
    scales=("log", "log"),
    bars="none",
    xlim=(1.0, np.log10(LATE)),
    levels={"10%": 0.1},
)
_end_panel = partial(Curves, x="size", scales=("log", "log"), bars="none")
SIZES = {"m": joint.ALONG_M, "L": other_sizes.RUNS["L"], "n": other_sizes.RUNS["n"]}
KINDS = {"m": "signal", "L": "common", "n": "noise"}
LABELS = {
    "m": "$m$, at $L = 5$, $n = 60$",
    "L": "$L$, at $m = 10^{10}$, $n = 25 L^2$",
    "n": "$n$, at $m = 10^{10}$, $L = 50$",
}

OTHER = {
    "m": "$m$, at $L = 5$, $n = 60$",
    "L": "$L$, at $m = 128$, $n = 60$",
    "n": "$n$, at $m = 128$, $L = 5$",
}


def _by_size(of: Any) -> tuple[Curve, ...]:
    return tuple(
        Curve(
            size,
            partial(at_end, of=of, size=size),
            label=OTHER[size],
            kind=KINDS[size],
        )
        for size in ENDS
    )


PANELS = Panels(
    (
        Course(
            title="Loss in Figure 1's setting, by gradient flow",
            name="loss",
            lines=(
                Line(
                    "trained",
                    "loss",
                    run=f"{FIGURE1}, trained",
                    kind="hard",
                    label="attention trained",
                ),
                Line(
                    "frozen",
                    "loss",
                    run=f"{FIGURE1}, frozen",
                    kind="noise",
                    dashes="--",
                    label="attention frozen",
                ),
            ),
            x="time $t$ (one epoch is 0.01)",
            y="loss",
            scales=("log", "log"),
            xlim=(0.1, None),
            names="upper right",
            finish=_end_of_paper,
        ),
        _late_panel(
            title="How much higher the loss is with frozen attention",
            name=EXCESS,
            curves=_curves(excess),
            y="frozen / trained − 1",
            ylim=(1e-16, 1.0),
            names="lower right",
        ),
        _late_panel(
            title="How much larger the least margin is with trained attention",
            name=MARGIN,
            curves=_curves(margin_excess),
            y="trained / frozen − 1",
            ylim=(1e-10, 1.0),
            names="",
        ),
        _end_panel(
            title="Loss at $b_0 t = 10^{100}$, by size",
            name=LOSS_BY_SIZE,
            curves=_by_size(excess),
            y="frozen / trained − 1",
            ylim=(1e-7, 1.0),
            names="upper right",
        ),
        _end_panel(
            title="Least margin at $b_0 t = 10^{100}$, by size",
            name=MARGIN_BY_SIZE,
            curves=_by_size(margin_excess),
            y="trained / frozen − 1",
            names="",
        ),
        _end_panel(
            title="Attention's share of the loss's decrease, where the loss is $1/m$",
            name=SHARE,
            y=r"$|\nabla_{W_K, W_Q} \hat L|^2 \,/\, |\nabla \hat L|^2$",
            curves=tuple(
                Curve(
                    size,
                    partial(share_along, requests=requests, size=size),
                    label=LABELS[size],
                    kind=KINDS[size],
                )
                for size, requests in SIZES.items()
            ),
            names="lower right",
        ),
    ),
    columns=2,
    size=(11.4, 11.6),
)


def _when(table: xr.DataArray, level: float) -> float:
    """The clock at which the median of seeds first reaches a level; NaN if never."""
    median = table.median("seed")
    above = np.flatnonzero(median.values >= level)
    return float(10 ** median["time"][above[0]]) if above.size else float("nan")


def _at_paper(run: xr.Dataset) -> float:
    """log₁₀ of b0 times the time of the paper's 30,000 epochs."""
    return float(np.log10(stages.clock(run).median("seed").interp(time=EPOCHS)))


def values(table: Tables) -> dict[str, Any]:
    """Excess at epoch 30,000 and at the end, when it is 1% and 10%, and shares."""
    clock = _at_paper(table.runs[f"{FIGURE1}, trained"])
    rows = {}
    for name in (FIGURE1, *NAMES):
        loss, margin = table[EXCESS][name], table[MARGIN][name]
        rows[name] = {
            "loss, at the end": runs.three_numbers(loss.isel(time=-1)),
            "least margin, at the end": runs.three_numbers(margin.isel(time=-1)),
            "b0·t at the end": float(10 ** loss["time"][-1]),
            "b0·t where the loss's is 1%": _when(loss, 0.01),
            "b0·t where the loss's is 10%": _when(loss, 0.1),
        }
    loss, margin = (table[name][FIGURE1] for name in (EXCESS, MARGIN))
    at_paper = {
        "loss": runs.three_numbers(loss.interp(time=clock)),
        "least margin": runs.three_numbers(margin.interp(time=clock)),
    }
    shares = {size: table[SHARE][size].isel(seed=0) for size in SIZES}
    by_size = {
        name: {size: _by_key(table[name][size].isel(seed=0)) for size in ENDS}
        for name in (LOSS_BY_SIZE, MARGIN_BY_SIZE)
    }
    return {
        "excess": rows,
        **by_size,
        f"{FIGURE1}, epoch 30,000": at_paper,
        "share": {size: _by_key(row) for size, row in shares.items()},
    }


def _by_key(row: xr.DataArray) -> dict[str, float]:
    keys = row[row.dims[0]].values
    return {f"{key:g}": float(v) for key, v in zip(keys, row.values, strict=True)}


def _last(table: Tables, name: str) -> float:
    return float(table[EXCESS][name].isel(time=-1).median())


CHECKS = {
    "at epoch 30,000 freezing attention raises the loss by less than 5%": lambda t: (
        t[EXCESS][FIGURE1]
        .sel(time=slice(None, _at_paper(t.runs[f"{FIGURE1}, trained"])))
        .isel(time=-1)
        .max()
        < 0.05
    ),
    "in the theory's runs freezing raises it by less than 0.1%, up to b0·t = "
    "10^100": lambda t: all(_last(t, name) < 1e-3 for name in NAMES),
    "the wider the model, the less attention matters": lambda t: all(
        _last(t, wide) < _last(t, narrow)
        for narrow, wide in zip(list(NAMES), list(NAMES)[1:], strict=False)
    ),
    "attention matters less the longer the samples are, and more the more there "
    "are": lambda t: all(
        (sign * np.diff(t[name][size].isel(seed=0)) > 0).all()
        for name in (LOSS_BY_SIZE, MARGIN_BY_SIZE)
        for size, sign in (("m", -1), ("L", -1), ("n", 1))
    ),
    "attention's share falls along m and L": lambda t: all(
        (np.diff(t[SHARE][size].isel(seed=0)) < 0).all() for size in ("m", "L")
    ),
    "it depends on n by less than a tenth": lambda t: (
        t[SHARE]["n"].max() / t[SHARE]["n"].min() < 1.1
    ),
}

FROZEN_ATTENTION = Exhibit(
    id="frozen-attention",
    kind="figure",
    title="Does attention matter? Trained against frozen attention",
    caption=(
        "Training loss with W_K and W_Q trained, and frozen at their initial values; "
        "the paper says that attention and the linear layer jointly enlarge the "
        "margin. In Figure 1's setting (first panel, three seeds; gradient flow, "
        "followed far beyond the paper's 30,000 epochs) the two losses can hardly be "
        "told apart: freezing raises the loss by 1.4% at epoch 30,000, and by 10% "
        "only after some 4·10^10 epochs, at losses of 10^-9. With the theory's "
        "scales and without noise, the cost of freezing grows only like log t and "
        "falls with m: at b0·t = 10^100 it is below 0.1% at the experiment's own "
        "width. It also falls with L, like a high power, and rises with n, but stays "
        "bounded (panels d and e). Last panel: the squared gradient with respect to "
        "W_K and W_Q divided by the whole squared gradient, which is attention's "
        "share of −dLoss/dt; along L and n it is at sizes that Condition 1 asks for."
    ),
    needs=NEEDS,
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=(
        "The paper has no experiment with frozen attention.",
        *runs.SILENT_EXPERIMENT[:1],
        *runs.SILENT_THEORY,
    ),
)
