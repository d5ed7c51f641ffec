"""Test loss over the number of samples, at a small training loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from attnflow import figures
from attnflow.papers.cooccurrence.claims import evidence as shared
from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.clock import on_clock
from attnflow.papers.cooccurrence.figures.runs import SILENT_THEORY, Numbers
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.papers.cooccurrence.statistics import LEVEL, at_level, exact_test_loss
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import scipy, xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = (30.0, 60.0, 120.0, 240.0, 600.0, 2000.0, 6000.0, 6e4)
LENGTHS = (5, 10, 20)
KINDS = {5: "signal", 10: "common", 20: "noise"}
COURSES = (60.0, 120.0, 240.0, 600.0, 6e4)
"""Numbers of samples whose losses are drawn over time."""
DRAWN = (60.0, 240.0)
"""Numbers of samples at which random test samples pass through the model as well."""
DRAWS = 12000
RECORD = ("loss", "test_loss", "test_accuracy", "readout_gain")


def name(samples: float, length: int) -> str:
    """Name of a run in the evidence."""
    return f"L = {length}, n = {samples:g}"


def drawn_name(samples: float) -> str:
    """Name of a run with random test samples."""
    return f"drawn, n = {samples:g}"


def _drawn_request(samples: float) -> Request:
    overrides = {"test_samples": DRAWS, "record": RECORD}
    request = shared.noise_free(samples, LENGTHS[0], **overrides)
    return replace(request, quick={"records": 121})


def drawn_test_loss(run: xr.Dataset) -> float:
    """Test loss at `LEVEL` over random test samples."""
    return at_level(run["loss"].values[0], run["test_loss"].values[0])


def least_margin(named: np.ndarray, fillers: np.ndarray, length: int) -> float:
    """Least margin of any test sample, from readouts by type.

    A sample has its named tokens and r_k fillers, those of a type or unseen ones, whose
    readout is 0: in the worst case all are of the kind most adverse to its label.
    """
    worst = np.minimum(quiet.LABELS[:, None] * fillers, 0.0).min(axis=1)
    return float((quiet.LABELS * named + quiet.slots(length) * worst).min())


def margin_at_end(run: xr.Dataset) -> float:
    """Least margin of any test sample after training."""
    value = quiet.quiet_rows(run)["value"].isel(time=[-1])
    named, fillers = quiet.named_outputs(value)[0], quiet.filler_values(value)[0]
    return least_margin(named, fillers, quiet.size_of(run)[1])


def margin_of_machine(samples: float, length: int) -> float:
    """Least margin of any test sample over log t, at the limit of training."""
    machine = formulas.counts_machine({"samples": samples, "length": length})
    pulls = quiet.LABELS * machine.dual
    named = quiet.HELD @ (quiet.HELD.T @ pulls)
    return least_margin(named, pulls / (samples * quiet.SHARES), length)


def sufficient_samples(length: int) -> float:
    """n*: the number of samples above which no test sample stays misclassified."""
    return cast(
        "float", scipy.optimize.brentq(margin_of_machine, 6.0, 1e6, args=(length,))
    )


def draw(evidence: Evidence) -> Figure:
    """Figure of test losses over time, and over n at a small training loss."""
    titles = (
        f"Samples of $L = {LENGTHS[0]}$ tokens: full test, dashed training loss",
        f"Test loss where the training loss is {figures.number(LEVEL)}",
    )
    figure, grid = figures.panels(1, 2, titles=titles, size=(11.4, 4.8))
    _courses(grid[0, 0], evidence)
    _over_samples(grid[0, 1], evidence)
    return figure


def _courses(ax: Axes, evidence: Evidence) -> None:
    length = LENGTHS[0]
    ramp = figures.current_theme().ramp(KINDS[length], len(COURSES))
    for colour, samples in zip(ramp, COURSES, strict=True):
        run = evidence[name(samples, length)]
        test = run["loss"].copy(data=quiet.test_loss(run)[None])
        run = on_clock(run.assign(test=test), ("test", "loss"))
        label = panels.size_name("n", samples)
        figures.series(ax, run, "test", colour=colour, label=label)
        line = figures.series(ax, run, "loss", colour=colour, label="")
        line.set(linestyle=(0, (3, 2)), linewidth=1.0)
        figures.time_axis(ax, run, scale="log", label=panels.CLOCK)
    ax.set(yscale="log", xlim=(0.3, None), ylabel="loss")
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    figures.label_ends(ax)


def _over_samples(ax: Axes, evidence: Evidence) -> None:
    theme = figures.current_theme()
    for length in LENGTHS:
        losses = [exact_test_loss(evidence[name(n, length)]) for n in SAMPLES]
        colour, label = theme.colour(KINDS[length]), f"$L = {length}$"
        ax.plot(SAMPLES, losses, color=colour, marker="o", ms=4.5, label=label)
        ax.axvline(length**2, ls=(0, (1, 2)), color=colour, lw=1.0, zorder=1)
        ax.axvline(
            sufficient_samples(length), ls=(0, (4, 2.2)), color=colour, lw=1.0, zorder=1
        )
        _name_line(ax, sufficient_samples(length), "$n^*$", colour)
        _name_line(ax, length**2, "$L^2$", colour, lines=1)
    tested = [drawn_test_loss(evidence[drawn_name(n)]) for n in DRAWN]
    style = {"marker": "x", "ms": 8, "mew": 1.4, "ls": "", "color": theme.ink}
    ax.plot(DRAWN, tested, zorder=5, label="drawn test samples", **style)
    figures.reference(ax, LEVEL)
    ax.text(11, 1.15 * LEVEL, "training loss", size="small", color=theme.muted)
    ax.set(xscale="log", yscale="log", ylim=(LEVEL / 2, 30.0), xlabel="samples $n$")
    ax.set_xlim(10, 2 * SAMPLES[-1])
    figures.number_axis(ax, "x")
    figures.number_axis(ax, "y")
    ax.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9))


def _name_line(ax: Axes, x: float, text: str, colour: str, *, lines: int = 0) -> None:
    style = {"xytext": (3, -3 - 14 * lines), "textcoords": "offset points", "va": "top"}
    axes = ax.get_xaxis_transform()
    ax.annotate(text, (x, 1.0), xycoords=axes, color=colour, size="small", **style)


def values(evidence: Evidence) -> dict[str, Numbers]:
    """Test losses, least margins, and sufficient numbers of samples."""
    numbers: dict[str, Numbers] = {
        f"L = {length}": {
            "test loss": {
                f"n = {n:g}": exact_test_loss(evidence[name(n, length)])
                for n in SAMPLES
            },
            "least margin of a test sample at the end": {
                f"n = {n:g}": margin_at_end(evidence[name(n, length)]) for n in SAMPLES
            },
            "n*": sufficient_samples(length),
            "L²": length**2,
        }
        for length in LENGTHS
    }
    numbers["drawn test samples, L = 5"] = {
        f"n = {n:g}": {
            "test loss": drawn_test_loss(evidence[drawn_name(n)]),
            "accuracy": float(evidence[drawn_name(n)]["test_accuracy"].values[0, -1]),
        }
        for n in DRAWN
    }
    return numbers


def checks(evidence: Evidence) -> dict[str, bool]:
    """Where the test loss follows the training loss, and where it does not."""
    runs = {
        (n, length): evidence[name(n, length)] for length in LENGTHS for n in SAMPLES
    }
    table = np.array(
        [[exact_test_loss(runs[n, length]) for n in SAMPLES] for length in LENGTHS]
    )
    right = [
        (margin_at_end(run) > 0) == (n > sufficient_samples(length))
        for (n, length), run in runs.items()
    ]
    pairs = [
        (
            drawn_test_loss(evidence[drawn_name(n)]),
            exact_test_loss(evidence[name(n, LENGTHS[0])]),
        )
        for n in DRAWN
    ]
    return {
        "with 60 samples, as in the experiment, the test loss stays above 0.01": bool(
            (table[:, SAMPLES.index(60.0)] > 0.01).all()
        ),
        "with 60 000 it is within 10% of the training loss, for every length": bool(
            (np.abs(table[:, -1] / LEVEL - 1) < 0.1).all()
        ),
        "it falls with every larger n": bool((np.diff(table, axis=1) < 0).all()),
        "at every n it is larger for longer samples": bool(
            (np.diff(table, axis=0) > 0).all()
        ),
        "no test sample is wrong at the end where n > n*, and some where n < n*": all(
            right
        ),
        "drawn test samples have the same loss to 10%": all(
            abs(sampled / exact - 1) < 0.1 for sampled, exact in pairs
        ),
    }


TEST_LOSS = Exhibit(
    id="test-loss",
    kind="figure",
    title="The test loss follows the training loss where samples are many",
    caption=(
        "Theorem 3.3 says that both are small after training if n is at least of order "
        "L². The noise-free flow, up to symmetry, in which n is any number; dots are "
        "expectations over all fresh samples, crosses means over 12 000 random ones. "
        "With few samples their fillers are memorised, and a test sample whose fillers "
        "were seen with the other label stays misclassified. From n* on (dashed) there "
        "is no such sample, by the hard-margin classifier of token counts: then the "
        "test loss falls as well, and for still larger n it follows the training loss. "
        "n* grows like L; dotted is L²."
    ),
    needs={
        **{
            name(n, length): replace(
                shared.noise_free(n, length), quick={"records": 121}
            )
            for length in LENGTHS
            for n in SAMPLES
        },
        **{drawn_name(n): _drawn_request(n) for n in DRAWN},
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        *SILENT_THEORY,
        "The constant in 'n at least L²', up to logarithms, is not stated.",
        "Fillers of test samples are drawn from those of training and 20 unseen ones.",
    ),
)
