"""Overview figure: readouts, losses, scores and class weights on one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.cooccurrence.claims.evidence import class_weights
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.clock import on_clock
from attnflow.papers.cooccurrence.figures.runs import (
    SILENT_THEORY,
    Numbers,
    at_end,
    noise_free,
    theory,
)
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    clock_times,
    common_overtakes,
    formulas,
    loss_reaches,
    signal_correct,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8192
MANY = 1e7
DUAL = {"both": 7 / 17, "first": 5 / 17, "second": 5 / 17, "neither": 0.0}
"""Dual variables of the SVM for many samples, as fractions of their sum."""
SERIES = ("value", "loss_by_group", "score", "share")
DASHED = {"linewidth": 1.3, "zorder": 4}
TITLES = (
    "First the readout of tokens moves",
    "Once all samples are right, losses fall like $1/t$",
    "Only then attention moves: scores of key, query",
    "Types of samples keep fixed shares of the gradient",
)
START = 0.3
"""Start of the clock's axis: nothing happens before."""
EARLY = (0.3, 30.0)
"""Limits of the inset's clock."""


def overview_series(run: xr.Dataset) -> xr.Dataset:
    """The figure's series on the clock b0·t."""
    unit = score_unit(schema.setting_of(run))
    change = (run["score"] - run["score"].isel(time=0)) / unit
    weights = class_weights(run)
    changes = run.assign(score=change, share=weights / weights.sum("group"))
    if "vocabulary_value" not in run:
        return on_clock(changes, SERIES)
    readouts = abs(run["vocabulary_value"])
    fillers = readouts.drop_sel(vocabulary=list(panels.TOKENS)).max("vocabulary")
    return on_clock(changes.assign(filler=fillers), (*SERIES, "filler"))


def score_unit(setting: Fields) -> float:
    """Unit of score changes, σ0² √m / (L b0), in which all widths are alike."""
    first, gain = formulas.initial_scales(setting).first, formulas.readout_gain(setting)
    return first**2 * np.sqrt(setting["width"]) / (setting["length"] * gain)


def draw(evidence: Evidence) -> Figure:
    """Figure of four panels on one clock."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.4, 7.6))
    run = overview_series(evidence["run"])
    limit, many = (
        _until(overview_series(evidence[name]), run)
        for name in ("noise-free", "many samples")
    )
    for token, style in panels.TOKENS.items():
        _both(grid[0, 0], run, limit, f"value[0,{token}]", (*style, token))
    for kind, style in panels.TYPES.items():
        named = (*style, panels.NAMES[kind])
        _both(grid[0, 1], run, limit, f"loss_by_group[{kind}]", named)
        _both(grid[1, 1], run, many, f"share[{kind}]", named)
    for pair, style in panels.PAIRS.items():
        named = (*style, panels.pair_name(pair))
        _both(grid[1, 0], run, limit, f"score[0,{','.join(pair)}]", named)
    figures.series(grid[0, 0], run, "filler[0]", kind="other", label="largest filler")
    _name_axes(grid)
    _say_lines(grid[0, 0], evidence)
    _inset(grid[0, 1], run, limit)
    for ax in grid.flat:
        figures.time_axis(ax, run, scale="log", label=panels.CLOCK)
        ax.set_xlim(left=START)
        figures.number_axis(ax, "x")
        _phases(ax, evidence["run"], named=ax in grid[0])
        figures.label_ends(ax)
    for ax in grid[0]:
        ax.set_xlabel("")
    return figure


def _until(limit: xr.Dataset, run: xr.Dataset) -> xr.Dataset:
    last = run["time"].where(run["recorded"].any("seed")).max()
    return limit.sel(time=limit["time"] <= last)


def _both(
    ax: Axes,
    run: xr.Dataset,
    limit: xr.Dataset,
    selector: str,
    style: tuple[str, int, str],
) -> None:
    kind, shade, label = style
    figures.series(ax, run, selector, kind=kind, shade=shade, label=label)
    line = figures.series(ax, limit, selector, role="limit", label="")
    line.set(**DASHED)


def _inset(ax: Axes, run: xr.Dataset, limit: xr.Dataset) -> None:
    """Inset of early losses on a linear axis, where one-target losses rise."""
    inner = ax.inset_axes((0.085, 0.1, 0.39, 0.46))
    for kind, style in panels.TYPES.items():
        _both(inner, run, limit, f"loss_by_group[{kind}]", (*style, ""))
    inner.set(xscale="log", xlim=EARLY, ylim=(0.1, 0.88), yticks=(0.2, 0.5, 0.8))
    inner.set_facecolor(figures.current_theme().paper)
    inner.set_title("the same, linear", size="small", pad=3)
    inner.set_zorder(6)
    figures.number_axis(inner, "x")
    inner.tick_params(labelsize=9)


def _name_axes(grid: np.ndarray) -> None:
    (readout, loss), (score, share) = grid
    readout.set_ylabel(panels.READOUT)
    loss.set(yscale="log", ylim=(1e-7, 2), ylabel="mean loss of the type")
    figures.number_axis(loss, "y")
    figures.theory(loss, [3e2, 3e4], [0.2, 0.002], label="")
    loss.annotate(r"$\propto 1/t$", (3e3, 0.03), size="small")
    score.set_ylabel(r"change of the score, in $\sigma_0^2\sqrt{m}\,/\,(L\,b_0)$")
    share.set(ylim=(-0.02, 0.62), ylabel=r"share of the type, $\Sigma_k/\Sigma$")
    for level, text in ((7, "7/17"), (5, "5/17")):
        figures.reference(share, level / 17, text)
    style = {"transform": share.transAxes, "ha": "right", "va": "top"}
    share.text(0.99, 0.97, r"dashed: $n = 10^7$", **style)


def _say_lines(ax: Axes, evidence: Evidence) -> None:
    """Legend of the two kinds of lines."""
    setting = schema.setting_of(evidence["run"])
    bold = figures.current_theme().colour("signal")
    ink = figures.current_theme().colour("limit")
    (full,) = ax.plot([], [], color=bold)
    (dashed,) = ax.plot([], [], color=ink, lw=1.3, ls=(0, (4, 2.2)))
    texts = (
        f"$m = {setting['width']}$, {evidence['run'].sizes['seed']} seeds",
        "without noise, up to symmetry",
    )
    ax.legend([full, dashed], texts, loc="upper left", bbox_to_anchor=(0.0, 0.97))


def _phases(ax: Axes, run: xr.Dataset, *, named: bool) -> None:
    end = float(np.median(clock_times(run, all_correct(run))))
    figures.shade_stages(ax, [end], ("Phase 1", "Phase 2") if named else ("", ""))


def values(evidence: Evidence) -> dict[str, Numbers]:
    """Times on the clock, final readouts, and final shares of class weights."""
    run = evidence["run"]
    events = {
        "T_half": common_overtakes,
        "T1": all_correct,
        "T_sig": signal_correct,
        "T_star": loss_reaches,
    }
    return {
        "b0·t": {
            name: {
                event: float(np.median(clock_times(dataset, detect(dataset))))
                for event, detect in events.items()
            }
            for name, dataset in evidence.items()
        },
        "readout at the end": {
            token: float(np.median(at_end(run, f"value[0,{token}]")))
            for token in panels.TOKENS
        },
        "share of class weights at the end, of 17": {
            name: {kind: 17 * share for kind, share in _last_shares(dataset).items()}
            for name, dataset in evidence.items()
        },
    }


def _last_shares(run: xr.Dataset) -> dict[str, float]:
    last = schema.last(run, "pull_by_group").median("seed")
    return {
        kind: float(last.sel(group=kind) / last.sum("group")) for kind in panels.TYPES
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Order of events, small changes of scores in Phase 1, and limiting shares."""
    run = evidence["run"]
    series = overview_series(run)
    end = clock_times(run, all_correct(run))
    moves = abs(series["score"].where(series["recorded"]))
    still = moves.where(series["time"] < end.min()).max() < 0.1 * moves.max()
    rising = run["loss_by_group"].sel(group=["first", "second"])
    shares = _last_shares(evidence["many samples"])
    readouts = [at_end(run, f"value[0,{token}]") for token in panels.TOKENS]
    return {
        "the common token overtakes the targets before all samples are right": bool(
            (common_overtakes(run).times < all_correct(run).times).all()
        ),
        "losses of samples with one target rise first, by 2% at least": bool(
            (rising.max("time") > 1.02 * rising.isel(time=0)).all()
        ),
        "scores make less than a tenth of their move in Phase 1": bool(still),
        "targets end with positive readout, the common token with a negative one": bool(
            np.min(readouts[:2]) > 1 and np.max(readouts[2]) < -1
        ),
        "with many samples the class weights end at 7 : 5 : 5 : 0, to 1e-3": all(
            abs(17 * (shares[kind] - DUAL[kind])) < 1e-3 for kind in DUAL
        ),
    }


OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Two phases of learning that two words occur together",
    caption=(
        "Gradient flow under the theory's assumptions, on the clock b0·t, on which all "
        "widths look alike. In Phase 1 only the readouts move: those of the targets "
        "rise at once, which hurts samples with one target, then that of the common "
        "token falls, until every sample is classified correctly. In Phase 2 losses "
        "fall like 1/t, attention between the targets grows, and the four types of "
        "samples keep fixed shares of the gradient. These are 7 : 5 : 5 : 0 for many "
        "samples: the dual variables of a hard-margin classifier of token counts. "
        "Coloured: medians of three seeds with their range. Dashed: the same flow "
        "without noise, up to symmetry, with equally many samples, or 10⁷ in the last "
        "panel."
    ),
    needs={
        "run": theory(WIDTH),
        "noise-free": noise_free(60.0, samples=24.0),
        "many samples": noise_free(MANY),
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=SILENT_THEORY,
)
