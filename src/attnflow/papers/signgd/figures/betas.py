"""Figures 16 and 17: training losses, gradients and updates of Adam by β1 and β2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attnflow import figures, schema
from attnflow.claims.statistics import Fall
from attnflow.figures.exhibits import Course, Line, Panels, Tables
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

SETTING_SILENT = "The setting of Figures 16 and 17 is not stated. We take (a)."


def name(beta1: float, beta2: float) -> str:
    """The name of a run in the evidence."""
    return f"β1 = {beta1:g}, β2 = {beta2:g}"


def _losses(beta1: float) -> Course:
    """Training losses by β2; SignGD dashed."""
    adams = (
        Line(
            f"β2 = {beta2:g}",
            "loss",
            run=name(beta1, beta2),
            kind="common",
            ramp=(number, len(runs.BETAS2)),
        )
        for number, beta2 in enumerate(runs.BETAS2)
    )
    return Course(
        title=f"β1 = {beta1:g}",
        x=panels.STEP,
        y="training loss",
        scales=("linear", "log"),
        lines=(*adams, Line("SignGD", "loss", run="SignGD", role="limit")),
    )


def _laws(table: Tables, betas2: tuple[float, ...]) -> list[Fall]:
    """Fits to the training loss over the second half of training, seed 0."""
    names = (name(b1, b2) for b1 in runs.BETAS1 for b2 in betas2)
    return [statistics.late_laws(table.runs[run])[0] for run in names]


def _end(run: xr.Dataset) -> float:
    return float(schema.last(run, "loss")[0])


def _ends(table: Tables) -> np.ndarray:
    """Training losses of Adam at the end, seed 0: (β1, β2)."""
    names = [[name(b1, b2) for b2 in runs.BETAS2] for b1 in runs.BETAS1]
    return np.array([[_end(table.runs[run]) for run in row] for row in names])


def _rising(table: Tables) -> np.ndarray:
    first = np.full((len(runs.BETAS1), 1), _end(table.runs["SignGD"]))
    return np.diff(np.concatenate([first, _ends(table)], axis=1)) > 0


def _beta1_matters_little(table: Tables) -> list[bool]:
    ends = _ends(table)
    return [
        *(ends.max(axis=0) < 1.5 * ends.min(axis=0)),
        ends[:, -1].min() > 3 * ends[:, 0].max(),
    ]


SUBLINEAR = "for β2 > 0.9 the loss converges sublinearly: a power law fits better"
FIGURE16 = Exhibit(
    id="figure16",
    kind="figure",
    title="Figure 16: training loss of Adam by β1 and β2",
    caption=(
        "Training loss over steps: setting (a), d = 2000, learning rate 1e-4, ε = "
        "1e-15, seed 0; dashed: SignGD. Claimed: sublinear convergence for β2 > 0.9. "
        "Over the second half of training an exponential fits far better for β2 = "
        "0.9, 0.95 and 0.99; for 0.999 a power law does, because Adam's memory of "
        "1000 steps has not yet forgotten the start. As claimed, β1 matters little."
    ),
    needs={"SignGD": runs.signgd()}
    | {
        name(b1, b2): runs.adam(b1, b2)
        for b1 in sorted(runs.BETAS1)
        for b2 in runs.BETAS2
    },
    shows=Panels(tuple(map(_losses, sorted(runs.BETAS1))), size=(15.2, 4.4)),
    values=lambda t: {
        run: {"training loss at the end": _end(t.runs[run])}
        | statistics.law_table(t.runs[run])
        for run in t.runs
    },
    stated={
        "Appendix B.7": {
            SUBLINEAR: lambda t: [
                not law.is_exponential for law in _laws(t, runs.BETAS2[1:])
            ]
        }
    },
    checks={
        "the loss ends higher with every larger β2, and above SignGD": _rising,
        "for β2 = 0.999 a power law fits better than an exponential, in this window": (
            lambda t: [not law.is_exponential for law in _laws(t, runs.BETAS2[-1:])]
        ),
        "for β2 = 0.9, 0.95 and 0.99 the loss falls exponentially, with a tenth of the "
        "power law's residual: not sublinearly": lambda t: [
            law.exponential < law.algebraic / 10 for law in _laws(t, runs.BETAS2[:-1])
        ],
        "β1 matters little: it changes the loss at the end by less than a factor of "
        "1.5, and β2 by more than 3": _beta1_matters_little,
    },
    differs={
        SUBLINEAR: "an exponential fits better for β2 = 0.95 and 0.99, a power law for "
        "0.999 alone"
    },
    silent=(*runs.SILENT, SETTING_SILENT),
)

FADED = 0.1
"""A mean update below this fraction of the learning rate counts as halted."""
GRADIENTS = {"query": "log_mean_query_gradient", "key": "log_mean_key_gradient"}
SIDE_KINDS = {"query": "mismatch", "key": "match"}
WITHOUT_MOMENTUM = {f"β2 = {b2:g}": b2 for b2 in runs.BETAS2}
END = 2000
UPDATES = "Mean |update|"


def swamped_at(run: xr.Dataset) -> float | None:
    """The step from which ε outweighs half of some matrix's gradients, in seed 0."""
    step = run["epsilon_step"].values[0] if "epsilon_step" in run else np.nan
    return float(step) if np.isfinite(step) else None


def _gradient(run: xr.Dataset, side: str) -> xr.DataArray:
    return 10 ** run[GRADIENTS[side]]


def _update(beta2: float, run: xr.Dataset, side: str) -> xr.DataArray:
    """Mean |update| of weights along steps, first seed."""
    table = run["mean_update"].isel(seed=[0]).rename(step=TIME)
    return table.sel(side=side).sel(beta2=beta2, method="nearest")


def _sides(beta2: str, title: str, of: Callable, run: str, **options: Any) -> Course:
    """A series of query and of key weights."""
    lines = (
        Line(side, partial(of, side=side), run=run, kind=kind)
        for side, kind in SIDE_KINDS.items()
    )
    usual: dict[str, Any] = {
        "title": title,
        "name": f"{title}, {beta2}",
        "x": panels.STEP,
    }
    return Course(lines=tuple(lines), **(usual | options))


def _gradients(run: str) -> Course:
    options = {"y": "mean |gradient|", "scales": ("linear", "log")}
    return _sides(run, "Mean |gradient|", _gradient, run, **options)


def _updates(run: str, beta2: float) -> Course:
    axes = {"y": "mean |update| / η", "xlim": (0, END), "ylim": (0, 2.1)}
    of = partial(_update, beta2)
    return _sides(run, UPDATES, of, "updates", levels={"SignGD": 1.0}, **axes)


def _mark_swamped(figure: object, grid: np.ndarray, table: Tables) -> None:
    """Dotted lines where ε outweighs the gradients, named beside the first."""
    for column, run in zip(grid[1:].T, WITHOUT_MOMENTUM, strict=True):
        step = swamped_at(table.runs[run])
        if step is not None:
            figures.mark_place(column[0], step, "ε outweighs\nmost gradients")
            figures.mark_place(column[1], step)


def halts(table: Tables, run: str) -> dict[str, float]:
    """The first step from which mean |update| stays below a tenth of the learning rate.

    The last step of the table, where it never does.
    """
    steps = {}
    for side, curve in table[f"{UPDATES}, {run}"].items():
        moving = np.flatnonzero(curve.values[0] >= FADED)
        index = min(moving[-1] + 1 if len(moving) else 0, curve.sizes[TIME] - 1)
        steps[side] = float(curve[TIME][index])
    return steps


def _turned(run: xr.Dataset, observable: str = "query_neuron") -> float:
    """The share of outvoted noise that turns, seed 0."""
    return float(statistics.turned_by_end(run, observable)[0])


def _numbers(table: Tables, name: str) -> dict[str, float]:
    """Fractions of outvoted noise that turned, and when updates and gradients fade."""
    run = table.runs[name]
    shares = {
        f"outvoted {side} that turned, seed 0": _turned(run, observable)
        for observable, side in panels.SIDES.items()
    }
    fading = {
        f"mean |update| of {side} weights below 0.1 η from": step
        for side, step in halts(table, name).items()
    }
    step = swamped_at(run)
    swamped = {} if step is None else {"ε outweighs most gradients from": step}
    gradients = {
        f"log10 mean |gradient| of {side} weights at the end": float(
            schema.last(run, observable)[0]
        )
        for side, observable in GRADIENTS.items()
    }
    return shares | fading | swamped | gradients


def _turns_more(table: Tables) -> np.ndarray:
    """By how much more outvoted queries turn with the next larger β2."""
    return np.diff([_turned(table.runs[run]) for run in WITHOUT_MOMENTUM])


def _fading(table: Tables, side: str = "query") -> np.ndarray:
    """The steps from which updates of a side are halted, by β2."""
    return np.array([halts(table, run)[side] for run in WITHOUT_MOMENTUM])


PREVENTED = (
    "only small β2 prevent outvoted queries from turning: more turn with larger β2"
)
FIGURE17 = Exhibit(
    id="figure17",
    kind="figure",
    title="Figure 17: Adam without momentum, by β2",
    caption=(
        "Query noise, gradients and updates over training by Adam without momentum: "
        "setting (a), d = 2000, β1 = 0, learning rate 1e-4, ε = 1e-15, seed 0. Means "
        "are over the weights that data reach; updates are in units of the learning "
        "rate. Claimed: only small β2 allow outvoted queries to turn (printed: "
        "prevent), and updates of query weights fade before gradients are zero, "
        "earlier with larger β2. Both are reproduced. But for β2 = 0.9 and 0.95 "
        "updates end where ε outweighs the gradients of half of the query weights "
        "(dotted): the mean gradient does not show this, since it is dominated by "
        "the signal's coordinate."
    ),
    needs={run: runs.adam(0.0, beta2) for run, beta2 in WITHOUT_MOMENTUM.items()}
    | {"updates": Request("updates", seeds=1, quick={"every": 100})},
    shows=Panels(
        (
            *(panels.neuron(f"{run}: one neuron", run) for run in WITHOUT_MOMENTUM),
            *map(_gradients, WITHOUT_MOMENTUM),
            *map(_updates, WITHOUT_MOMENTUM, runs.BETAS2),
        ),
        columns=len(runs.BETAS2),
        size=(17.6, 11.0),
        finish=_mark_swamped,
    ),
    values=lambda t: {run: _numbers(t, run) for run in WITHOUT_MOMENTUM},
    stated={
        "Appendix B.7": {
            PREVENTED: lambda t: _turns_more(t) > 0,
            "the larger β2 is, the earlier updates of query weights fade, or at the "
            "same step of the table": lambda t: [
                *(np.diff(_fading(t)) <= 0),
                _fading(t)[-1] < _fading(t)[0],
            ],
        }
    },
    checks={
        "updates of query weights fade, and before those of key weights": lambda t: (
            _fading(t) < _fading(t, "key")
        ),
        "with β2 = 0.99 and 0.999 they fade earlier than with 0.9 and 0.95": lambda t: (
            _fading(t)[2:].max() < _fading(t)[:2].min()
        ),
        "fewer outvoted queries turn with every larger β2": lambda t: (
            _turns_more(t) < 0
        ),
        "for β2 = 0.9 the mean |gradient| of query weights ends below ε = 1e-15": (
            lambda t: schema.last(t.runs["β2 = 0.9"], GRADIENTS["query"]) < -15
        ),
    },
    differs={
        PREVENTED: "the contrary: fewer turn with every larger β2, as the paper's next "
        "sentence has it"
    },
    silent=(*runs.SILENT, SETTING_SILENT),
)
