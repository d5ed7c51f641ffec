"""Automatic balancing: class weights tend to the dual variables of an SVM."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables, ramp
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.papers.cooccurrence.stages import clock
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = (30.0, 60.0, 120.0, 600.0, 1e7)
RUNS = {samples: f"n = {samples:g}" for samples in SAMPLES}
MANY = SAMPLES[-1]


def balance_ratio(run: xr.Dataset) -> xr.DataArray:
    """Balance ratio R = (Σ2 + Σ3 + Σ4 − Σ1) / (Σ1 − Σ2)."""
    weights = run["pull_by_group"]
    both, first = weights.sel(group="both"), weights.sel(group="first")
    return (weights.sum("group", skipna=False) - 2 * both) / (both - first)


def speed(run: xr.Dataset) -> xr.DataArray:
    """b·t·Loss on the clock b0·t."""
    gain = run["readout_gain"].isel(head=0)
    return clock(run) * gain / gain.isel(time=0) * run["loss"]


LIMITS = {
    "share of 17": (lines.class_shares, "dual"),
    "R": (balance_ratio, "balance_ratio"),
    "b·t·Loss": (speed, "norm_squared"),
}
"""By name: a series of a run, and what it tends to, a number of the SVM."""


def machine(evidence: Evidence, samples: float, quantity: str) -> xr.DataArray:
    """A number of the hard-margin SVM of token counts with n samples."""
    length = schema.setting_of(evidence[RUNS[MANY]])["length"]
    table = evidence["machine"][quantity].isel(seed=0)
    return table.sel(samples=samples, length=length)


_course = partial(Course, x="", xlim=(1.0, None), scales=("log", "linear"))
DOTTED: dict[str, Any] = {"label": "", "style": {"lw": 0.9, "ls": (0, (1, 1.2))}}


def _approach(name: str, title: str, **fields: Any) -> Course:
    """A series for several n."""
    labels = {run: lines.size_name("n", samples) for samples, run in RUNS.items()}
    series = ramp(lines.on_clock(LIMITS[name][0]), labels, kind="signal")
    return _course(title=title, name=name, x=lines.CLOCK, lines=series, **fields)


def _laws(ax: Axes, table: Series) -> None:
    times = np.array([1e4, 1e7])
    laws = {r"$\propto 1/t$": (3e2, -1.0, (2e5, 1e-2))}
    laws[r"$\propto t^{-3}$"] = (10.0, -3.0, (3e4, 1e-17))
    for text, (factor, power, position) in laws.items():
        figures.theory(ax, times, factor * times**power)
        ax.annotate(text, position, size="small")


def _levels(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    """The SVM's numbers as levels."""
    for kind in lines.TYPES:
        level = float(machine(table.runs, MANY, "dual").sel(type=kind))
        text = "" if kind == "second" else f"{17 * level:.3g}/17"
        figures.reference(grid[0, 0], level, text)
    text = {"s": r"full: $n = 10^7$; dotted: $n = 60$", "ha": "right", "va": "top"}
    grid[0, 0].text(0.99, 0.98, transform=grid[0, 0].transAxes, **text)
    for ax, name in zip(grid[1], ("R", "b·t·Loss"), strict=True):
        for samples in SAMPLES:
            level = machine(table.runs, samples, LIMITS[name][1])
            figures.reference(ax, float(level))


PANELS = Panels(
    (
        _course(
            title="Shares of the four types of samples",
            y=r"share $\Sigma_k/\Sigma$",
            ylim=(-0.03, 0.55),
            lines=tuple(
                Line(f"{kind}, {run}", series, run=run, **{**style, **dotted})
                for kind, style in lines.TYPES.items()
                for series in [lines.on_clock(lines.class_shares, group=kind)]
                for run, dotted in ((RUNS[MANY], {}), (RUNS[60.0], DOTTED))
            ),
        ),
        _course(
            title="Losses of the four types, $n = 10^7$",
            name="losses",
            y="mean loss of the type",
            scales=("log", "log"),
            ylim=(1e-23, 10),
            lines=tuple(
                Line(
                    kind,
                    lines.on_clock(f"loss_by_group[{kind}]"),
                    run=RUNS[MANY],
                    **style,
                )
                for kind, style in lines.TYPES.items()
            ),
            finish=_laws,
        ),
        _approach(
            "R",
            r"$R = (\Sigma_2+\Sigma_3+\Sigma_4-\Sigma_1)/(\Sigma_1-\Sigma_2)"
            r"\approx-G_3'/G_1'$",
            y="$R$",
            ylim=(0.6, 1.75),
        ),
        _approach(
            "b·t·Loss",
            r"Speed of the loss: $b\,t\cdot\mathrm{Loss}$",
            y=r"$b\,t\cdot\mathrm{Loss}$",
        ),
    ),
    columns=2,
    size=(11.4, 7.4),
    finish=_levels,
)


def _ends(table: Tables, name: str) -> list[tuple[xr.DataArray, xr.DataArray]]:
    """The last record of a series and the number of the SVM, for every n."""
    of, quantity = LIMITS[name]
    return [
        (of(table.runs[run]).isel(seed=0, time=-1), machine(table.runs, n, quantity))
        for n, run in RUNS.items()
    ]


def values(table: Tables) -> dict[str, Any]:
    """Final shares, R and b·t·Loss, and the SVM's numbers."""
    numbers: dict[str, Any] = {
        run: {name: _pair(*_ends(table, name)[number]) for name in LIMITS}
        for number, run in enumerate(RUNS.values())
    }
    return numbers | {"power of t in the loss, n = 1e7": _powers(table)}


def _pair(end: xr.DataArray, limit: xr.DataArray) -> dict[str, Any]:
    if "group" not in end.dims:
        return {"at the end": float(end), "machine": float(limit)}
    return {
        kind: _pair(17 * end.sel(group=kind), 17 * limit.sel(type=kind))
        for kind in lines.TYPES
    }


def _powers(table: Tables) -> dict[str, float]:
    """Powers of t with which the losses of types fall over the last decade."""
    run = table.runs[RUNS[MANY]].isel(seed=0)
    late = run.sel(time=run["time"] > 0.1 * run["time"][-1])
    losses = {
        kind: late["loss_by_group"].sel(group=kind).values for kind in lines.TYPES
    }
    times = late["time"].values
    return {kind: figures.fit_power(times, loss).slope for kind, loss in losses.items()}


def _off(table: Tables, name: str) -> list[xr.DataArray]:
    """Relative distances from the SVM's number at the end, for every n."""
    return [abs(end / limit - 1) for end, limit in _ends(table, name)]


CHECKS = {
    "shares of class weights end within 0.003 of the hard-margin classifier's dual "
    "variables, for every n": (
        lambda t: [
            np.abs(end.values - limit.values) < 3e-3
            for end, limit in _ends(t, "share of 17")
        ]
    ),
    "R ends within 0.5% of the hard-margin classifier's ratio, for every n": (
        lambda t: [off < 5e-3 for off in _off(t, "R")]
    ),
    "b·t·Loss ends within 0.5% of |w*|², for every n": (
        lambda t: [off < 5e-3 for off in _off(t, "b·t·Loss")]
    ),
    "losses of the types with a target fall as 1/t: power −1 ± 0.01": lambda t: [
        abs(_powers(t)[kind] + 1) < 0.01 for kind in ("both", "first", "second")
    ],
    "the loss of samples with neither target falls as t^(−3): power −3 ± 0.03": (
        lambda t: abs(_powers(t)["neither"] + 3) < 0.03
    ),
}

BALANCING = Exhibit(
    id="balancing",
    kind="figure",
    title="Automatic balancing ends at the dual variables of a hard-margin classifier",
    caption=(
        "Shares of the four types of samples in the gradient, in the noise-free flow "
        "reduced by symmetry. Lemmas 4.4 and 4.5 say that the logistic weights of "
        "the types stay in proportions of order 1. With attention near uniform, "
        "outputs are linear in the counts of tokens, so that the readout tends to "
        "the hard-margin classifier of these counts, and the weights to its dual "
        "variables (dotted levels): 7 : 5 : 5 : 0 for many samples, hence R = 3/2 "
        "and b·t·Loss = 17. Samples with neither target have three times the margin: "
        "they are not support vectors, and their loss falls as t⁻³. Fillers, which "
        "are memorised, shift the limits where n is small."
    ),
    needs={
        **{run: runs.noise_free(samples) for samples, run in RUNS.items()},
        "machine": Request("token-svm", {"samples": SAMPLES, "lengths": (3, 5)}, 1),
    },
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=(
        *runs.SILENT_THEORY,
        "The constants of the lemmas are not stated; the hard-margin classifier is "
        "ours.",
    ),
)
