"""Test loss over the number of samples, at a small training loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from attnflow import figures
from attnflow.figures.exhibits import Course, Curve, Curves, Panels, Tables, ramp
from attnflow.papers.cooccurrence.claims import evidence as shared
from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.figures import lines
from attnflow.papers.cooccurrence.figures.runs import SILENT_THEORY
from attnflow.papers.cooccurrence.statistics import (
    LEVEL,
    at_level,
    exact_test_loss,
    margin_at_end,
    sufficient_samples,
)
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAMPLES = (30.0, 60.0, 120.0, 240.0, 600.0, 2000.0, 6000.0, 6e4)
LENGTHS = {5: "signal", 10: "common", 20: "noise"}
"""By length of samples: the kind, which gives the colour."""
SHORT = 5
DRAWN = (60.0, 240.0)
"""Numbers of samples at which random test samples pass through the model as well."""
DRAWS = {
    "test_samples": 12000,
    "record": ("loss", "test_loss", "test_accuracy", "readout_gain"),
}


def name(samples: float, length: int) -> str:
    """Name of a run in the evidence."""
    return f"L = {length}, n = {samples:g}"


def drawn_name(samples: float) -> str:
    """Name of a run with random test samples."""
    return f"drawn, n = {samples:g}"


COURSES = {
    name(n, SHORT): lines.size_name("n", n) for n in (60.0, 120.0, 240.0, 600.0, 6e4)
}
"""Runs whose losses are drawn over time, with their labels."""
DASHED = {"ls": (0, (3, 2)), "lw": 1.0}


def _request(samples: float, length: int, **overrides: Any) -> Request:
    request = shared.noise_free(samples, length, **overrides)
    return replace(request, quick={"records": 121})


def _exact(evidence: Evidence, length: int) -> xr.DataArray:
    """Expected test losses at `LEVEL`, by number of samples."""
    losses = [exact_test_loss(evidence[name(n, length)]) for n in SAMPLES]
    return xr.DataArray(losses, {"n": list(SAMPLES)}, "n")


def _drawn(evidence: Evidence) -> xr.DataArray:
    """Test losses at `LEVEL` over random test samples, by number of samples."""
    runs = [evidence[drawn_name(n)].isel(seed=0) for n in DRAWN]
    losses = [at_level(run["loss"].values, run["test_loss"].values) for run in runs]
    return xr.DataArray(losses, {"n": list(DRAWN)}, "n")


def _test_loss(run: xr.Dataset) -> xr.DataArray:
    return run["loss"].copy(data=quiet.test_loss(run)[None])


def _mark(ax: Axes, table: dict[str, xr.DataArray]) -> None:
    """Lines at n* (dashed) and L² (dotted) of each length, and the training loss."""
    theme = figures.current_theme()
    for length, kind in LENGTHS.items():
        enough = sufficient_samples(length)
        marks = ("$n^*$", enough, (4, 2.2)), ("$L^2$", length**2, (1, 2))
        for below, (text, x, dashes) in enumerate(marks):
            colour = theme.colour(kind)
            ax.axvline(x, ls=(0, dashes), color=colour, lw=1.0, zorder=1)
            offset = {"xytext": (3, -3 - 14 * below), "textcoords": "offset points"}
            style: dict[str, Any] = {"color": colour, "size": "small", "va": "top"}
            style["bbox"] = {"fc": theme.paper, "ec": "none", "pad": 0.5}
            axes = ax.get_xaxis_transform()
            ax.annotate(text, (x, 1.0), xycoords=axes, **offset, **style)
    ax.text(11, 1.15 * LEVEL, "training loss", size="small", color=theme.muted)


PANELS = Panels(
    (
        Course(
            title=f"Samples of $L = {SHORT}$ tokens: full test, dashed training loss",
            x=lines.CLOCK,
            y="loss",
            scales=("log", "log"),
            xlim=(0.3, None),
            lines=(
                *ramp(lines.on_clock(_test_loss), COURSES, kind="signal"),
                *(
                    replace(line, name=f"training, {line.run}", label="", style=DASHED)
                    for line in ramp(lines.on_clock("loss"), COURSES, kind="signal")
                ),
            ),
        ),
        Curves(
            title=r"Test loss where the training loss is $2\times 10^{-6}$",
            name="test loss",
            x="samples $n$",
            y="",
            scales=("log", "log"),
            xlim=(10, 2 * SAMPLES[-1]),
            ylim=(LEVEL / 2, 30.0),
            levels={"": LEVEL},
            names={"loc": "upper right", "bbox_to_anchor": (1.0, 0.9)},
            bars="none",
            curves=(
                *(
                    Curve(f"$L = {L}$", partial(_exact, length=L), kind=kind)
                    for L, kind in LENGTHS.items()
                ),
                Curve(
                    "drawn test samples",
                    _drawn,
                    kind="theory",
                    style={"marker": "x", "ms": 8, "mew": 1.4, "ls": "", "zorder": 5},
                ),
            ),
            finish=_mark,
        ),
    ),
    size=(11.4, 4.8),
)


def _margins(table: Tables, length: int) -> xr.DataArray:
    """Least margins of any test sample after training, by number of samples."""
    margins = [margin_at_end(table.runs[name(n, length)]) for n in SAMPLES]
    return xr.DataArray(margins, {"n": list(SAMPLES)}, "n")


def _by_samples(numbers: xr.DataArray) -> dict[str, float]:
    return {f"n = {float(number['n']):g}": float(number) for number in numbers}


def values(table: Tables) -> dict[str, Any]:
    """Test losses, least margins, and sufficient numbers of samples."""
    losses = table["test loss"]
    tested = {n: table.runs[drawn_name(n)]["test_accuracy"] for n in DRAWN}
    return {
        f"L = {length}": {
            "test loss": _by_samples(losses[f"$L = {length}$"]),
            "least margin of a test sample at the end": (
                _by_samples(_margins(table, length))
            ),
            "n*": sufficient_samples(length),
            "L²": length**2,
        }
        for length in LENGTHS
    } | {
        "drawn test samples, L = 5": {
            f"n = {n:g}": {
                "test loss": float(losses["drawn test samples"].sel(n=n)),
                "accuracy": float(accuracy.values[0, -1]),
            }
            for n, accuracy in tested.items()
        }
    }


def _losses(table: Tables) -> xr.DataArray:
    """Expected test losses by length and number of samples."""
    rows = [table["test loss"][f"$L = {length}$"].values for length in LENGTHS]
    coords = {"length": list(LENGTHS), "n": list(SAMPLES)}
    return xr.DataArray(rows, coords, ("length", "n"))


CHECKS = {
    "with 60 samples, as in the experiment, the test loss stays above 0.01": (
        lambda t: _losses(t).sel(n=60.0) > 0.01
    ),
    "with 60 000 samples the test loss is within 10% of the training loss, for every "
    "length": (lambda t: abs(_losses(t).sel(n=6e4) / LEVEL - 1) < 0.1),
    "the test loss falls with every larger n": lambda t: _losses(t).diff("n") < 0,
    "at every n the test loss is larger for longer samples": lambda t: (
        _losses(t).diff("length") > 0
    ),
    "at the end no test sample is misclassified if n > n*, and some are if n < n*": (
        lambda t: [
            (margins > 0) == (margins["n"] > sufficient_samples(length))
            for length in LENGTHS
            for margins in [_margins(t, length)]
        ]
    ),
    "random test samples have the same loss as the expectation, to 10%": lambda t: (
        abs(t["test loss"]["drawn test samples"] / _losses(t).sel(length=SHORT) - 1)
        < 0.1
    ),
}

TEST_LOSS = Exhibit(
    id="test-loss",
    kind="figure",
    title="The test loss follows the training loss where samples are many",
    caption=(
        "Test and training loss over time, and the test loss against the number of "
        "samples n, in the noise-free flow reduced by symmetry, where n can be any "
        "real number; Theorem 3.3 says that both losses are small after training if "
        "n is at least of order L². Dots are expectations over all fresh samples, "
        "crosses means over 12 000 random ones. With few samples their fillers are "
        "memorised, and a test sample whose fillers were seen with the other label "
        "stays misclassified. From n* on (dashed) there is no such sample, by the "
        "hard-margin classifier of token counts: then the test loss falls as well, "
        "and for still larger n it follows the training loss. n* grows like L; "
        "dotted is L²."
    ),
    needs={
        **{name(n, length): _request(n, length) for length in LENGTHS for n in SAMPLES},
        **{drawn_name(n): _request(n, SHORT, **DRAWS) for n in DRAWN},
    },
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=(
        *SILENT_THEORY,
        "The constant in 'n at least L²', up to logarithms, is not stated.",
        "Fillers of test samples are drawn from those of training and 20 unseen ones.",
    ),
)
