"""Ladders of a run's statistics over the width, for claims about orders in m.

Each seed of each run is a point of the ladder: seeds are independent across widths.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Ladder, Seeds
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS
from attnflow.papers.cooccurrence.readings import scales

Measure = Callable[[xr.Dataset], xr.DataArray | np.ndarray]
"""From a run to one number for each of its seeds."""
Kind = Literal["theta", "theta-tilde", "O", "O-tilde", "Omega", "o(1)"]
"""Of an asymptotic statement, as in `Ladder`."""


def points(evidence: Evidence, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    """Widths and statistics, a point for every seed of every run."""
    width, values = [], []
    for run in evidence.values():
        numbers = np.asarray(measure(run), float)
        width.append(np.full(numbers.shape, float(schema.setting_of(run)["width"])))
        values.append(numbers)
    order = np.argsort(np.concatenate(width), kind="stable")
    return np.concatenate(width)[order], np.concatenate(values)[order]


def ladder(
    evidence: Evidence,
    measure: Measure,
    kind: Kind,
    what: str,
    *,
    constant: float = 3.0,
) -> Ladder:
    """Ladder over the width of a statistic over its predicted size."""
    size, ratio = points(evidence, measure)
    seeds = max(run.sizes["seed"] for run in evidence.values())
    return Ladder(
        tuple(size.tolist()),
        tuple(ratio.tolist()),
        kind,
        what,
        constant=constant,
        seeds=seeds,
    )


def small_ladder(evidence: Evidence, measure: Measure, what: str) -> Ladder:
    """Ladder of kind O in 1/c0, along which initial outputs vanish.

    With the largest over seeds at each rung: all rungs share their draws.
    """
    rungs = sorted(
        (1 / schema.setting_of(run)["c0"], float(np.max(measure(run))))
        for run in evidence.values()
    )
    size, ratio = zip(*rungs, strict=True)
    seeds = max(run.sizes["seed"] for run in evidence.values())
    return Ladder(size, ratio, "O", what, constant=3.0, seeds=seeds)


def every_run(evidence: Evidence, margin: Measure, what: str) -> Seeds:
    """Check that a margin is positive in every seed of every run."""
    margins = points(evidence, margin)[1]
    is_positive = tuple(bool(number > 0) for number in margins)
    return Seeds(is_positive, tuple(margins.tolist()), what, q=1.0)


def span(evidence: Evidence, measure: Measure) -> list[float]:
    """Smallest and largest over all runs and seeds, for printing."""
    values = points(evidence, measure)[1]
    return [float(values.min()), float(values.max())]


def by_width(evidence: Evidence, measure: Measure) -> dict[str, float]:
    """Means over seeds by width, for printing."""
    size, values = points(evidence, measure)
    return {f"m={m:g}": float(values[size == m].mean()) for m in np.unique(size)}


def with_width(names: mutate.Names, exponent: float) -> mutate.NamedMutation:
    """Mutation that multiplies variables by (m / 512)^exponent."""
    variables = (names,) if isinstance(names, str) else names

    def change(run: xr.Dataset) -> xr.Dataset:
        factor = (schema.setting_of(run)["width"] / WIDTHS[0]) ** exponent
        return run.assign({n: run[n] * factor for n in variables if n in run})

    text = f"{', '.join(variables)} times m to the power {exponent:g}"
    return mutate.on_run(text, mutate.EVERY, change)


def variances(run: xr.Dataset) -> tuple[float, float]:
    """Initial variances σ0² and σ1²."""
    setting = schema.setting_of(run)
    names = ("reading", "embed", "length", "width", "neurons", "c0", "c1")
    reading, *sizes = (setting[name] for name in names)
    deviations = scales(reading, **dict(zip(names[1:], sizes, strict=True)))
    return deviations.first**2, deviations.inner**2


def per_gain(run: xr.Dataset) -> float:
    """1 / (σ1² m m1), which is also the unit of time."""
    setting = schema.setting_of(run)
    return 1 / (variances(run)[1] * setting["width"] * setting["neurons"])


def output_signs(run: xr.Dataset) -> xr.DataArray:
    """Output signs a by seed and neuron, from G(μ) = Σ_j a_j w_j·W_V μ at time 0.

    There are more tokens than neurons: least squares gives the signs to rounding.
    """
    first = run.isel(time=0, head=0)
    columns = first["neuron_value"].transpose("seed", "token", "neuron").values
    values = first["value"].transpose("seed", "token").values
    pairs = zip(columns, values, strict=True)
    outputs = np.array([np.linalg.lstsq(A, G, rcond=None)[0] for A, G in pairs])
    if not np.abs(np.abs(outputs) - 1).max() < 1e-6:
        raise ValueError(
            "The output weights a are not signs ±1: use a reading with signs, "
            "show='all' and follow=True."
        )
    return xr.DataArray(np.sign(outputs), dims=("seed", "neuron"))
