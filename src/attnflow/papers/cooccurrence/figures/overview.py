"""Overview figure: readouts, losses, scores and class weights on one clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.claims import look
from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    common_overtakes,
    formulas,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8192
MANY = 1e7
DUAL = {"both": 7 / 17, "first": 5 / 17, "second": 5 / 17, "neither": 0.0}
"""Dual variables of the SVM for many samples, as fractions of their sum."""
START = 0.3
"""Start of the clock's axis: nothing happens before."""


def score_change(run: xr.Dataset) -> xr.DataArray:
    """Changes of scores in σ0² √m / (L b0), a unit in which all widths are alike."""
    setting = schema.setting_of(run)
    first, gain = formulas.initial_scales(setting).first, formulas.readout_gain(setting)
    unit = first**2 * np.sqrt(setting["width"]) / (setting["length"] * gain)
    return (run["score"] - run["score"].isel(time=0)).isel(head=0) / unit


def _score(pair: str) -> Callable[[xr.Dataset], xr.DataArray]:
    key, query = pair.split(", ")
    return lines.on_clock(score_change, key=key, query=query)


def _largest_filler(run: xr.Dataset) -> xr.DataArray:
    fillers = run["vocabulary_value"].drop_sel(vocabulary=list(lines.TOKENS))
    return abs(fillers.isel(head=0)).max("vocabulary")


def _both(
    styles: Mapping[str, dict[str, Any]],
    of: Callable[[str], str | Callable[[xr.Dataset], xr.DataArray]],
    limit: str = "noise-free",
) -> tuple[Line, ...]:
    """Each series of the run, and dashed the same without noise."""
    dashed: dict[str, Any] = {"role": "limit", "style": {"lw": 1.3, "zorder": 4}}
    return tuple(
        line
        for name, style in styles.items()
        for line in (
            Line(name, of(name), **style),
            Line(f"{name}, {limit}", of(name), run=limit, label="", **dashed),
        )
    )


def _phases(evidence: Evidence, *, named: bool) -> tuple[list[float], tuple[str, str]]:
    end = float(np.median(runs.clock_events(evidence["run"])["T1"]))
    return [end], ("Phase 1", "Phase 2") if named else ("", "")


_course = partial(
    Course,
    x="",
    xlim=(START, None),
    scales=("log", "linear"),
    shades=partial(_phases, named=True),
    clock="run",
)


LOSSES = _both(lines.TYPES, lambda name: lines.on_clock(f"loss_by_group[{name}]"))
EARLY = _course(lines=LOSSES, xlim=(START, 30.0), ylim=(0.1, 0.88), names="")


def _inset(ax: Axes, table: Series) -> None:
    """Inset of early losses on a linear axis, where one-target losses rise."""
    figures.theory(ax, [3e2, 3e4], [0.2, 0.002])
    ax.annotate(r"$\propto 1/t$", (3e3, 0.03), size="small")
    inner = ax.inset_axes((0.085, 0.1, 0.39, 0.46), zorder=6)
    EARLY.draw(inner, replace(table, edges=None))
    EARLY.set_axes(inner, table)
    inner.set(yticks=(0.2, 0.5, 0.8), facecolor=figures.current_theme().paper)
    inner.set_title("the same, linear", size="small", pad=3)
    inner.tick_params(labelsize=9)


def _say_lines(ax: Axes, table: Series) -> None:
    """Legend of the two kinds of lines."""
    texts = f"$m = {WIDTH}$, 3 seeds", "without noise, up to symmetry"
    first = ax.get_lines()[:2]
    ax.legend(first, texts, loc="upper left", bbox_to_anchor=(0.0, 0.97))


def _say_many(ax: Axes, table: Series) -> None:
    style = {"transform": ax.transAxes, "ha": "right", "va": "top"}
    ax.text(0.99, 0.97, r"dashed: $n = 10^7$", **style)


PANELS = Panels(
    (
        _course(
            title="First the readout of tokens moves",
            y=lines.READOUT,
            lines=(
                *_both(lines.TOKENS, lambda name: lines.on_clock(f"value[0,{name}]")),
                Line("largest filler", lines.on_clock(_largest_filler)),
            ),
            finish=_say_lines,
        ),
        _course(
            title="Once all samples are right, losses fall like $1/t$",
            y="mean loss of the type",
            scales=("log", "log"),
            ylim=(1e-7, 2),
            lines=LOSSES,
            finish=_inset,
        ),
        _course(
            title="Only then attention moves: scores of key, query",
            x=lines.CLOCK,
            y=r"change of the score, in $\sigma_0^2\sqrt{m}\,/\,(L\,b_0)$",
            lines=_both(lines.PAIRS, _score),
            shades=partial(_phases, named=False),
        ),
        _course(
            title="Types of samples keep fixed shares of the gradient",
            x=lines.CLOCK,
            y=r"share of the type, $\Sigma_k/\Sigma$",
            ylim=(-0.02, 0.62),
            levels={"7/17": 7 / 17, "5/17": 5 / 17},
            lines=_both(
                lines.TYPES,
                lambda name: lines.on_clock(lines.class_shares, group=name),
                "many samples",
            ),
            shades=partial(_phases, named=False),
            finish=_say_many,
        ),
    ),
    columns=2,
    size=(11.4, 7.6),
)


def values(table: Tables) -> dict[str, Any]:
    """Times on the clock, final readouts, and final shares of class weights."""
    readouts = _readouts(table).median("seed")
    return {
        "b0·t": {
            name: {
                event: float(np.median(t))
                for event, t in runs.clock_events(run).items()
            }
            for name, run in table.runs.items()
        },
        "readout at the end": {
            token: float(readouts.sel(token=token)) for token in lines.TOKENS
        },
        "share of class weights at the end, of 17": {
            name: {kind: 17 * share for kind, share in _last_shares(run).items()}
            for name, run in table.runs.items()
        },
    }


def _readouts(table: Tables) -> xr.DataArray:
    """Final readouts by seed and token."""
    return schema.last(table.runs["run"], "value").isel(head=0)


def _last_shares(run: xr.Dataset) -> dict[str, float]:
    last = schema.last(run, "pull_by_group").median("seed")
    return {
        kind: float(last.sel(group=kind) / last.sum("group")) for kind in lines.TYPES
    }


def _rise(table: Tables) -> xr.DataArray:
    """Largest losses of samples with one target over the first, by seed."""
    losses = table.runs["run"]["loss_by_group"].sel(group=list(lines.ONE_TARGET))
    return losses.max("time") / losses.isel(time=0)


def _still(table: Tables) -> np.ndarray:
    """Whether no score makes a tenth of the largest move in Phase 1, by seed."""
    run = table.runs["run"]
    moves, early = abs(score_change(run)), look.between(run, 0.0, all_correct(run))
    return look.largest(moves, early) < 0.1 * look.largest(moves, look.recorded(run))


CHECKS = {
    "the readout of the common token overtakes those of the targets before all "
    "samples are classified correctly": lambda t: (
        common_overtakes(t.runs["run"]).times < all_correct(t.runs["run"]).times
    ),
    "losses of samples with one target rise first, by 2% at least": (
        lambda t: _rise(t) > 1.02
    ),
    "less than a tenth of the change of scores happens in Phase 1": _still,
    "targets end with positive readout, the common token with a negative one": (
        lambda t: _readouts(t).sel(token=list(lines.TOKENS)) * np.array([1, 1, -1]) > 1
    ),
    "with many samples the class weights end at 7 : 5 : 5 : 0, to 1e-3": lambda t: [
        abs(17 * (share - DUAL[kind])) < 1e-3
        for kind, share in _last_shares(t.runs["many samples"]).items()
    ],
}

OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Two phases of learning that two words occur together",
    caption=(
        "Readouts, losses, attention scores and shares of the gradient under "
        "gradient flow with the theory's assumptions, on the clock b0·t, on which "
        "all widths look alike. In Phase 1 only the readouts move: those of the "
        "targets rise at once, which hurts samples with one target, then that of the "
        "common token falls, until every sample is classified correctly. In Phase 2 "
        "losses fall like 1/t, attention between the targets grows, and the four "
        "types of samples keep fixed shares of the gradient. These are 7 : 5 : 5 : 0 "
        "for many samples: the dual variables of a hard-margin classifier of token "
        "counts. Coloured: medians of three seeds with their range. Dashed: the same "
        "flow without noise, reduced by symmetry, with the same number of samples "
        "(10⁷ in the last panel)."
    ),
    needs={
        "run": runs.theory(WIDTH),
        "noise-free": runs.noise_free(60.0, samples=24.0),
        "many samples": runs.noise_free(MANY),
    },
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=runs.SILENT_THEORY,
)
