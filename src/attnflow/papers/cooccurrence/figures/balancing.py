"""Automatic balancing: class weights tend to the dual variables of an SVM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.cooccurrence.claims.evidence import (
    balance_ratio,
    class_weights,
)
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.clock import on_clock
from attnflow.papers.cooccurrence.figures.runs import SILENT_THEORY, Numbers, noise_free
from attnflow.papers.cooccurrence.stages import clock
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = (30.0, 60.0, 120.0, 600.0, 1e7)
MANY = SAMPLES[-1]
SERIES = ("share", "ratio", "product", "loss_by_group")
START = 1.0
TITLES = (
    "Shares of the four types of samples",
    "Losses of the four types, $n = 10^7$",
    r"$R = (\Sigma_2+\Sigma_3+\Sigma_4-\Sigma_1)/(\Sigma_1-\Sigma_2)\approx-G_3'/G_1'$",
    r"Speed of the loss: $b\,t\cdot\mathrm{Loss}$",
)


def balance_series(run: xr.Dataset) -> xr.Dataset:
    """Shares of class weights, R and b·t·Loss on the clock b0·t."""
    weights = class_weights(run)
    growth = run["readout_gain"].isel(head=0) / run["readout_gain"].isel(head=0, time=0)
    balances = run.assign(
        share=weights / weights.sum("group"),
        ratio=balance_ratio(weights),
        product=clock(run) * growth * run["loss"],
    )
    return on_clock(balances, SERIES)


def machine(evidence: Evidence, samples: float, quantity: str) -> xr.DataArray:
    """A number of the hard-margin SVM of token counts with n samples."""
    run, length = evidence["machine"], _length(evidence)
    return run[quantity].isel(seed=0).sel(samples=samples, length=length)


def _length(evidence: Evidence) -> int:
    """L: the number of tokens in a sample of the runs."""
    return len(str(evidence[_name(MANY)]["sample"].values[0]).split())


def _name(samples: float) -> str:
    return f"n = {samples:g}"


def draw(evidence: Evidence) -> Figure:
    """Shares and losses for many samples; R and b·t·Loss for several n."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.4, 7.4))
    runs = {samples: balance_series(evidence[_name(samples)]) for samples in SAMPLES}
    _shares(grid[0, 0], runs, evidence)
    _losses(grid[0, 1], runs[MANY])
    _approach(grid[1, 0], runs, evidence, ("ratio", "balance_ratio"))
    _approach(grid[1, 1], runs, evidence, ("product", "norm_squared"))
    grid[1, 0].set(ylim=(0.6, 1.75), ylabel="$R$")
    grid[1, 1].set_ylabel(r"$b\,t\cdot\mathrm{Loss}$")
    for ax in grid.flat:
        figures.time_axis(ax, runs[MANY], scale="log", label=panels.CLOCK)
        ax.set_xlim(left=START)
        figures.number_axis(ax, "x")
        figures.label_ends(ax)
    for ax in grid[0]:
        ax.set_xlabel("")
    return figure


def _shares(ax: Axes, runs: dict[float, xr.Dataset], evidence: Evidence) -> None:
    for kind, (colour, shade) in panels.TYPES.items():
        series = f"share[{kind}]"
        label = panels.NAMES[kind]
        figures.series(ax, runs[MANY], series, kind=colour, shade=shade, label=label)
        line = figures.series(
            ax, runs[60.0], series, kind=colour, shade=shade, label=""
        )
        line.set(linewidth=0.9, linestyle=(0, (1, 1.2)))
        level = float(machine(evidence, MANY, "dual").sel(type=kind))
        figures.reference(ax, level, "" if kind == "second" else f"{17 * level:.3g}/17")
    ax.set(ylim=(-0.03, 0.55), ylabel=r"share $\Sigma_k/\Sigma$")
    text = r"full: $n = 10^7$; dotted: $n = 60$"
    ax.text(0.99, 0.98, text, transform=ax.transAxes, ha="right", va="top")


def _losses(ax: Axes, run: xr.Dataset) -> None:
    for kind, (colour, shade) in panels.TYPES.items():
        series, label = f"loss_by_group[{kind}]", panels.NAMES[kind]
        figures.series(ax, run, series, kind=colour, shade=shade, label=label)
    ax.set(yscale="log", ylim=(1e-23, 10), ylabel="mean loss of the type")
    figures.number_axis(ax, "y")
    times = np.array([1e4, 1e7])
    for factor, power, position in ((3e2, 1, (2e5, 1e-2)), (10.0, 3, (3e4, 1e-17))):
        figures.theory(ax, times, factor * times ** (-float(power)))
        text = rf"$\propto t^{{-{power}}}$" if power > 1 else r"$\propto 1/t$"
        ax.annotate(text, position, size="small")


def _approach(
    ax: Axes,
    runs: dict[float, xr.Dataset],
    evidence: Evidence,
    names: tuple[str, str],
) -> None:
    """A series for several n, with the SVM's number as a level for each."""
    series, quantity = names
    ramp = figures.current_theme().ramp("signal", len(runs))
    for colour, (samples, run) in zip(ramp, runs.items(), strict=True):
        label = panels.size_name("n", samples)
        figures.series(ax, run, series, colour=colour, label=label)
        figures.reference(ax, float(machine(evidence, samples, quantity)))


def values(evidence: Evidence) -> dict[str, Numbers]:
    """Final shares, R and b·t·Loss, and the SVM's numbers."""
    numbers: dict[str, Numbers] = {}
    for samples in SAMPLES:
        run = evidence[_name(samples)]
        ends = _ends(run)
        dual = machine(evidence, samples, "dual")
        numbers[_name(samples)] = {
            "share of 17": {
                kind: {
                    "at the end": 17 * float(ends["share"].sel(group=kind)),
                    "machine": 17 * float(dual.sel(type=kind)),
                }
                for kind in panels.TYPES
            },
            "R": {
                "at the end": float(ends["ratio"]),
                "machine": float(machine(evidence, samples, "balance_ratio")),
            },
            "b·t·Loss": {
                "at the end": float(ends["product"]),
                "machine": float(machine(evidence, samples, "norm_squared")),
            },
        }
    numbers["power of t in the loss, n = 1e7"] = {
        kind: _power(evidence[_name(MANY)], kind) for kind in panels.TYPES
    }
    return numbers


def _ends(run: xr.Dataset) -> xr.Dataset:
    """Share, R and b·t·Loss at the last record."""
    return balance_series(run).isel(seed=0, time=-1)


def _power(run: xr.Dataset, kind: str) -> float:
    """Power of t with which the loss falls over the last decade."""
    loss = run["loss_by_group"].sel(group=kind).isel(seed=0)
    time = run["time"]
    late = (time > 0.1 * time[-1]).values
    return float(np.polyfit(np.log(time.values[late]), np.log(loss.values[late]), 1)[0])


def _worst(evidence: Evidence, series: str, quantity: str) -> float:
    """Largest relative distance from the SVM's number over all n, at the end."""
    return max(
        abs(
            float(_ends(evidence[_name(n)])[series])
            / float(machine(evidence, n, quantity))
            - 1
        )
        for n in SAMPLES
    )


def checks(evidence: Evidence) -> dict[str, bool]:
    """Limits of shares, R and b·t·Loss, and how fast each type is learned."""
    worst = 0.0
    for samples in SAMPLES:
        shares = _ends(evidence[_name(samples)])["share"].values
        dual = machine(evidence, samples, "dual").values
        worst = max(worst, float(np.abs(shares - dual).max()))
    many = {kind: _power(evidence[_name(MANY)], kind) for kind in panels.TYPES}
    with_target = [many[kind] for kind in ("both", "first", "second")]
    return {
        "shares of class weights end within 0.003 of the machine's, for every n": (
            worst < 3e-3
        ),
        "R ends within 0.5% of the machine's ratio, for every n": (
            _worst(evidence, "ratio", "balance_ratio") < 5e-3
        ),
        "b·t·Loss ends within 0.5% of |w*|², for every n": (
            _worst(evidence, "product", "norm_squared") < 5e-3
        ),
        "losses of the types with a target fall as 1/t: power −1 ± 0.01": all(
            abs(power + 1) < 0.01 for power in with_target
        ),
        "that of samples with neither falls as t^(−3): power −3 ± 0.03": (
            abs(many["neither"] + 3) < 0.03
        ),
    }


BALANCING = Exhibit(
    id="balancing",
    kind="figure",
    title="Automatic balancing ends at the dual variables of a hard-margin machine",
    caption=(
        "The noise-free flow, up to symmetry. Lemmas 4.4 and 4.5 keep the logistic "
        "weights of the types in proportions of order 1. With attention near uniform, "
        "outputs are linear in the counts of tokens, so that the readout tends to the "
        "hard-margin classifier of these counts, and the weights to its dual variables "
        "(dotted levels): 7 : 5 : 5 : 0 for many samples, hence R = 3/2 and b·t·Loss = "
        "17. Samples with neither target have three times the margin: they are not "
        "support vectors, and their loss falls as t⁻³. Fillers, which are memorised, "
        "shift the limits where n is small."
    ),
    needs={
        **{_name(samples): noise_free(samples) for samples in SAMPLES},
        "machine": Request("token-svm", {"samples": SAMPLES, "lengths": (3, 5)}, 1),
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        *SILENT_THEORY,
        "The constants of the lemmas are not stated; the hard-margin classifier is "
        "ours.",
    ),
)
