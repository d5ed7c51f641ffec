"""Figure 2 and our figure on losses: SignGD, Adam and gradient descent, setting (a)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.claims.statistics import Fall
from attnflow.figures.exhibits import Course, Free, Line, Panels, Tables
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SLOW, FAST = "GD, rate 1e-4", "GD, rate 0.1"
KINDS = {
    "SignGD": ("signal", 0),
    "Adam, β1 = 0.9": ("common", 0),
    "Adam, β1 = 0.5": ("common", 1),
    "Adam, β1 = 0": ("common", 2),
    "GD": ("easy", 0),
    SLOW: ("easy", 1),
    FAST: ("easy", 0),
}
"""Kind and shade of each optimiser's colour."""
ADAMS = {f"Adam, β1 = {beta1:g}": beta1 for beta1 in runs.BETAS1}
MOMENTUM = "Adam, β1 = 0.9"
MEMORISE = ("SignGD", *ADAMS)
WITHOUT_DESCENT = {
    "SignGD": runs.signgd(),
    **{name: runs.adam(beta1) for name, beta1 in ADAMS.items()},
}
SPARSE = {**WITHOUT_DESCENT, "GD": runs.descent(1e-4)}
LINEAR = ("linear", "linear")
BY_RATE = {**WITHOUT_DESCENT, SLOW: SPARSE["GD"], FAST: runs.descent(0.1)}


def by_optimiser(
    title: str,
    of: str | Callable[[xr.Dataset], xr.DataArray],
    optimisers: Iterable[str],
    **options: Any,
) -> Course:
    """One series of every optimiser, on a logarithmic axis unless said."""
    lines = (
        Line(run, of, run=run, kind=KINDS[run][0], shade=KINDS[run][1])
        for run in optimisers
    )
    usual: dict[str, Any] = {"x": panels.STEP, "scales": ("linear", "log")}
    return Course(title=title, lines=tuple(lines), **(usual | options))


def turned_by_optimiser(table: Tables) -> dict[str, dict[str, statistics.Three]]:
    """Fractions of outvoted keys and queries that turned by the end, by optimiser."""
    sides = {f"outvoted {s} that turned": name for name, s in panels.SIDES.items()}
    return {
        optimiser: statistics.over_seeds(
            {text: statistics.turned_by_end(run, name) for text, name in sides.items()}
        )
        for optimiser, run in table.runs.items()
        if optimiser != "GD"
    }


def ends(table: Tables) -> dict[str, dict[str, statistics.Three]]:
    """Losses at the end and fits to the training loss, by optimiser."""
    return {
        optimiser: statistics.over_seeds(statistics.final_losses(run))
        | {"law, second half, seed 0": statistics.law_table(run)}
        for optimiser, run in table.runs.items()
    }


def turned(table: Tables, observable: str, optimisers: Iterable[str]) -> np.ndarray:
    """The fractions of outvoted noise that turned in all seeds of some runs."""
    return np.concatenate(
        [statistics.turned_by_end(table.runs[run], observable) for run in optimisers]
    )


def _adams(table: Tables) -> np.ndarray:
    """Training losses at the end, medians over seeds."""
    return np.array([float(table["Training loss"].ends[n].median()) for n in ADAMS])


FIGURE2 = Exhibit(
    id="figure2",
    kind="figure",
    title="Figure 2: SignGD, Adam and gradient descent",
    caption=(
        "One neuron and the training loss under three optimisers: setting (a), d = "
        "2000, learning rate 1e-4 for all, Adam with β2 = 0.999, ε = 1e-15. Neuron 0 "
        "of seed 0; losses are medians over 5 (SignGD) and 3 seeds (bands: range). "
        "Claimed: Adam goes through the same stages, except that outvoted queries do "
        "not turn as under SignGD; SignGD's loss falls exponentially, and those of "
        "Adam with different β1 overlap. All of this is reproduced; gradient descent "
        "at this learning rate has hardly begun. Panel d, noisy digits, is figure2d."
    ),
    needs=SPARSE,
    shows=Panels(
        (
            panels.neuron("SignGD, one neuron", "SignGD"),
            panels.neuron(f"{MOMENTUM}, one neuron", MOMENTUM),
            by_optimiser("Training loss", "loss", SPARSE, y="loss"),
        ),
        size=(15.6, 4.4),
    ),
    values=lambda t: {
        name: {**end, **turned_by_optimiser(t).get(name, {})}
        for name, end in ends(t).items()
    },
    stated={
        "Caption of Figure 2": {
            "SignGD's loss falls exponentially: the residual of the exponential is a "
            "tenth of that of the power law at most": lambda t: (
                statistics.is_exponential(t.runs["SignGD"])
            ),
            "losses of Adam overlap: the three β1 end within 20% of each other": (
                lambda t: _adams(t).max() < 1.2 * _adams(t).min()
            ),
        },
        "Section 3.2": {
            "SignGD trains faster than gradient descent": lambda t: (
                t["Training loss"].ends["SignGD"].max()
                < t["Training loss"].ends["GD"].min()
            ),
            "outvoted keys turn under SignGD and Adam: all but 1%": lambda t: (
                turned(t, "key_neuron", ("SignGD", MOMENTUM)) > 0.99
            ),
            "outvoted queries turn under SignGD, more than 95%, and not under Adam, "
            "less than 5%": lambda t: [
                turned(t, "query_neuron", ["SignGD"]).min() > 0.95,
                turned(t, "query_neuron", [MOMENTUM]).max() < 0.05,
            ],
        },
    },
    checks={
        "losses of Adam end above that of SignGD": lambda t: (
            _adams(t) > float(t["Training loss"].ends["SignGD"].max())
        ),
        "gradient descent with the same rate has hardly begun: its loss is above "
        "0.68": lambda t: t["Training loss"].ends["GD"] > 0.68,
    },
    silent=(*runs.SILENT, runs.BETA2_SILENT),
)


def _laws(evidence: Evidence) -> dict[str, list[Fall]]:
    return {name: statistics.late_laws(evidence[name]) for name in BY_RATE}


def _residuals(ax: Axes, table: dict[str, list[Fall]]) -> None:
    """Residuals of both fits over the second half of training, a dot per seed."""
    theme = figures.current_theme()
    for name, laws in table.items():
        x, y = ([law.exponential for law in laws], [law.algebraic for law in laws])
        colour = theme.colour(*KINDS[name])
        ax.plot(x, y, "o", ms=6, mec=theme.paper, color=colour, label=name)
    figures.theory(ax, [1e-7, 1.0], [1e-7, 1.0])
    for x, y, text, va, ha in (
        (0.03, 0.95, "exponential fits better", "top", "left"),
        (0.97, 0.03, "power law fits better", "baseline", "right"),
    ):
        ax.text(x, y, text, va=va, ha=ha, transform=ax.transAxes, color=theme.muted)


RESIDUALS = Free(
    title="Training loss: residuals",
    of=_laws,
    picture=_residuals,
    x="rms residual of an exponential",
    y="of a power law",
    scales=("log", "log"),
    xlim=(1e-7, 1.0),
    ylim=(3e-5, 1.0),
    names={"loc": "center left", "bbox_to_anchor": (0.02, 0.45), "fontsize": 9.5},
)


def _wrong(run: xr.Dataset) -> xr.DataArray:
    return panels.zero_one(run["test_accuracy"])


def _do_not_generalise(table: Tables) -> list[bool]:
    """Whether test losses end above 0.5, with more than a quarter wrong, by run."""
    return [
        bool((table["Test loss"].ends[name] > 0.5).all())
        and bool((table[panels.WRONG].ends[name] > 0.25).all())
        for name in MEMORISE
    ]


LOSSES = Exhibit(
    id="losses",
    kind="figure",
    title="Losses of SignGD, Adam and gradient descent",
    caption=(
        "Training and test loss over steps, and how well an exponential and a power "
        "law fit them: setting (a), d = 2000, 500 test samples; Adam with β2 = "
        "0.999, ε = 1e-15. Medians over 5 (SignGD) and 3 seeds (bands: range). Both "
        "laws are fitted to the logarithm of the training loss over the second half "
        "of training; each dot is a seed. SignGD is exponential to one part in a "
        "thousand. Adam with this β2 and gradient descent with learning rate 0.1 "
        "look like power laws; gradient descent with learning rate 1e-4 has hardly "
        "begun, and any smooth curve is a line there."
    ),
    needs=BY_RATE,
    shows=Panels(
        (
            by_optimiser("Training loss", "loss", BY_RATE, y="loss"),
            by_optimiser("Test loss", "test_loss", BY_RATE, y="test loss"),
            by_optimiser(panels.WRONG, _wrong, BY_RATE, y="share wrong", scales=LINEAR),
            RESIDUALS,
        ),
        columns=2,
        size=(13.0, 8.2),
    ),
    values=ends,
    checks={
        "SignGD's training loss is exponential: its residual is a tenth of the power "
        "law's at most": lambda t: statistics.is_exponential(t.runs["SignGD"]),
        "the loss of gradient descent with rate 0.1 is not exponential: a power law "
        "has the smaller residual": lambda t: [
            not law.is_exponential for law in t[RESIDUALS.title][FAST]
        ],
        "SignGD and Adam do not generalise: their test losses are above 0.5, and "
        "more than a quarter of test samples are misclassified": _do_not_generalise,
        "gradient descent generalises: no test sample is misclassified, and with "
        "rate 0.1 the test loss is below 0.1": lambda t: (
            (t[panels.WRONG].ends[FAST] == 0) & (t["Test loss"].ends[FAST] < 0.1)
        ),
    },
    silent=(*runs.SILENT, runs.BETA2_SILENT),
)
