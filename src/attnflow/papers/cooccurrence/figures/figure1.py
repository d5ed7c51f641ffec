"""Figure 1: attention scores, and losses by type, in the paper's experiment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow.claims import look
from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.papers.cooccurrence.stages import all_correct
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENLARGED = 2.5
"""End of the enlarged part of the axis, in units of T1."""
RISES = 1.02
BOLD: dict[str, Any] = {"middle": "first", "band": "seeds"}
"""The first seed as a bold line, the others faint."""


def _phases(evidence: Evidence) -> tuple[list[float | None], tuple[str, str]]:
    """The phases of the seed in bold."""
    end = all_correct(evidence["run"].isel(seed=[0])).median
    return [end], ("Phase 1", "Phase 2")


def _changes(table: Tables, panel: str) -> dict[str, tuple[xr.DataArray, xr.DataArray]]:
    """Change of each series until T1 and in total, per seed."""
    run, ends = table.runs["run"], table[panel].ends
    end = all_correct(run)
    return {
        name: (
            look.at(run, end, series, how="linear") - series.isel(time=0),
            ends[name] - series.isel(time=0),
        )
        for name, series in table[panel].items()
    }


def _in_phase_two(
    moves: Callable[..., np.ndarray], panel: str, names: tuple[str, ...]
) -> Callable[[Tables], list[np.ndarray]]:
    """Whether some series rise, or fall, from T1 on, per seed."""
    return lambda t: [
        moves(t.runs["run"], t[panel][name], all_correct(t.runs["run"]))
        for name in names
    ]


# Figure 1a

SCORES = Course(
    title="Attention scores: key, query",
    name="scores",
    x="epoch",
    y=lines.SCORE,
    lines=tuple(
        Line(n, f"score[0,{n}]", **style, **BOLD) for n, style in lines.PAIRS.items()
    ),
    shades=_phases,
)


def score_values(table: Tables) -> dict[str, Any]:
    """End of Phase 1, and changes of the scores until then and in total."""
    changes = _changes(table, "scores")
    return {
        "Phase 1 ends at epoch": runs.three_numbers(
            all_correct(table.runs["run"]).times
        ),
        "move in Phase 1": {
            n: runs.three_numbers(early) for n, (early, _) in changes.items()
        },
        "move in all": {
            n: runs.three_numbers(whole) for n, (_, whole) in changes.items()
        },
    }


SCORES_STATED = {
    "in Phase 1 scores hardly change: no score makes more than a quarter of its "
    "total change": (
        lambda t: [abs(a) < abs(b) / 4 for a, b in _changes(t, "scores").values()]
    ),
    "in Phase 2 the scores between the targets rise, at every record": (
        _in_phase_two(runs.rises, "scores", ("mu1, mu2", "mu2, mu1"))
    ),
    "in Phase 2 the scores of the common token as key with a target as query fall, "
    "at every record": _in_phase_two(runs.falls, "scores", ("mu3, mu1", "mu3, mu2")),
}

# Figure 1b

LOSSES = (
    *(
        Line(n, f"loss_by_group[{n}]", **style, **BOLD)
        for n, style in lines.TYPES.items()
    ),
    Line("all samples", "loss", kind="loss", **BOLD),
)


def _enlarge(ax: Axes, table: Series) -> None:
    assert table.edges is not None
    (end,), _ = table.edges
    if end is not None:
        ax.set_xlim(0, ENLARGED * end)


def _peaks(table: Tables) -> dict[str, tuple[xr.DataArray, xr.DataArray]]:
    """The largest loss over the first one, and its epoch, by type with one target."""
    losses = {name: table["losses"][name] for name in lines.ONE_TARGET}
    return {
        name: (
            loss.max("time") / loss.isel(time=0),
            loss["time"].isel(time=loss.argmax("time")),
        )
        for name, loss in losses.items()
    }


def loss_values(table: Tables) -> dict[str, Any]:
    """Peaks of the one-target losses, their epochs, and final losses."""
    peaks, ends = _peaks(table), table["losses"].ends
    return {
        "largest loss over the first": {
            name: runs.three_numbers(peak) for name, (peak, _) in peaks.items()
        },
        "epoch of the largest loss": {
            name: runs.three_numbers(when) for name, (_, when) in peaks.items()
        },
        "loss at the end": {
            name: runs.three_numbers(end) for name, end in ends.items()
        },
    }


LOSSES_STATED = {
    "the loss of samples with both targets falls from the first record on": (
        lambda t: runs.falls(t.runs["run"], t["losses"]["both"])
    ),
    "losses of samples with one target rise by 2% at least, in every seed": lambda t: [
        peak > RISES for peak, _ in _peaks(t).values()
    ],
    "the losses of samples with one target fall again within Phase 1": lambda t: [
        when.values < all_correct(t.runs["run"]).times for _, when in _peaks(t).values()
    ],
    "in Phase 2 the losses of all four types fall at every record": (
        _in_phase_two(runs.falls, "losses", tuple(lines.TYPES))
    ),
}

FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: attention scores between targets and common token",
    caption=(
        "Attention scores over epochs of gradient descent at the sizes of Appendix "
        "A; a curve is named by its key, then its query. Scores are flat while "
        "samples are being learned (Phase 1); then the scores between the two "
        "targets rise, and those of the common token's key with the targets' queries "
        "fall, for the rest of training. Phases are those of the seed in bold; other "
        "seeds are faint."
    ),
    needs={"run": runs.EXPERIMENT},
    shows=Panels((SCORES,), size=(7.6, 4.2)),
    values=score_values,
    stated={"Section 3, on Figure 1a": SCORES_STATED},
    silent=runs.SILENT_EXPERIMENT,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: loss of all samples and of the four types",
    caption=(
        "Losses over epochs in the runs of Figure 1a. The readout of the targets "
        "grows first, which helps samples with both and hurts those with one of "
        "them: their loss rises until the readout of the common token, which every "
        "sample contains, has fallen far enough. At the end of Phase 1 all samples "
        "are classified correctly; in Phase 2 all losses fall, fastest that of "
        "samples with neither target."
    ),
    needs={"run": runs.EXPERIMENT},
    shows=Panels(
        (
            Course(
                title="Phase 1 enlarged",
                x="epoch",
                y="mean loss of the type",
                ylim=(0, 0.9),
                levels={r"$\log 2$": float(np.log(2))},
                lines=LOSSES,
                shades=_phases,
                names="",
                finish=_enlarge,
            ),
            Course(
                title="All epochs, on a logarithmic axis",
                name="losses",
                x="epoch",
                scales=("linear", "log"),
                lines=LOSSES,
                shades=_phases,
            ),
        ),
        size=(10.4, 4.4),
    ),
    values=loss_values,
    stated={"Sections 3 and 4.1, on Figure 1b": LOSSES_STATED},
    checks={
        "losses of samples with one target are below their initial values at the end "
        "of Phase 1": (
            lambda t: [_changes(t, "losses")[name][0] < 0 for name in lines.ONE_TARGET]
        )
    },
    silent=runs.SILENT_EXPERIMENT,
)
