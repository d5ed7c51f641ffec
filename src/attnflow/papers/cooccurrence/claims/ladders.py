"""What claims of `cooccurrence` measure in each run, along a ladder of widths.

Each run of each seed is a point of the ladder: seeds are drawn anew at every width.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Ladder, Seeds
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS
from attnflow.papers.cooccurrence.readings import scales

Measure = Callable[[xr.Dataset], Any]
"""From a run to one number for each of its seeds."""
Kind = Literal["theta", "O", "O-tilde", "Omega", "o(1)"]


def points(evidence: Evidence, measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    """The widths and what is measured, a point for every seed of every run."""
    width, found = [], []
    for run in evidence.values():
        numbers = np.asarray(measure(run), float)
        width.append(np.full(numbers.shape, float(schema.setting_of(run)["width"])))
        found.append(numbers)
    order = np.argsort(np.concatenate(width), kind="stable")
    return np.concatenate(width)[order], np.concatenate(found)[order]


def ladder(
    evidence: Evidence,
    measure: Measure,
    kind: Kind,
    what: str,
    *,
    constant: float = 3.0,
) -> Ladder:
    """A ladder in the width of measured / predicted."""
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
    """A ladder of kind O in 1/c0, along which initial outputs vanish.

    The largest over seeds at each rung: all rungs share their draws.
    """
    rungs = sorted(
        (1 / schema.setting_of(run)["c0"], float(np.max(measure(run))))
        for run in evidence.values()
    )
    size, ratio = zip(*rungs, strict=True)
    seeds = max(run.sizes["seed"] for run in evidence.values())
    return Ladder(size, ratio, "O", what, constant=3.0, seeds=seeds)


def every_run(evidence: Evidence, margin: Measure, what: str) -> Seeds:
    """A property of every seed of every run, without exception."""
    found = points(evidence, margin)[1]
    held = tuple(bool(number > 0) for number in found)
    return Seeds(held, tuple(found.tolist()), what, q=1.0)


def span(evidence: Evidence, measure: Measure) -> list[float]:
    """The least and the largest over all runs and seeds, for printing."""
    found = points(evidence, measure)[1]
    return [float(found.min()), float(found.max())]


def by_width(evidence: Evidence, measure: Measure) -> dict[str, float]:
    """Means over seeds, for printing."""
    size, found = points(evidence, measure)
    return {f"m={m:g}": float(found[size == m].mean()) for m in np.unique(size)}


def with_width(names: mutate.Names, exponent: float) -> mutate.NamedMutation:
    """Another power of the width: variables times (m / 512)^exponent."""
    wanted = (names,) if isinstance(names, str) else names

    def change(run: xr.Dataset) -> xr.Dataset:
        factor = (schema.setting_of(run)["width"] / WIDTHS[0]) ** exponent
        return run.assign({n: run[n] * factor for n in wanted if n in run})

    text = f"{', '.join(wanted)} times m to the power {exponent:g}"
    return mutate.on_run(text, mutate.EVERY, change)


def variances(run: xr.Dataset) -> tuple[float, float]:
    """σ0² and σ1²."""
    setting: dict[str, Any] = schema.setting_of(run)
    names = ("reading", "embed", "length", "width", "neurons", "c0", "c1")
    reading, *sizes = (setting[name] for name in names)
    drawn = scales(reading, **dict(zip(names[1:], sizes, strict=True)))
    return drawn.first**2, drawn.inner**2


def per_gain(run: xr.Dataset) -> float:
    """1 / (σ1² m m1), which is also the unit of time."""
    setting = schema.setting_of(run)
    return 1 / (variances(run)[1] * setting["width"] * setting["neurons"])


def output_signs(run: xr.Dataset) -> xr.DataArray:
    """The signs a by seed and neuron, from G(μ) = Σ_j a_j w_j·W_V μ at time 0.

    More tokens than neurons: least squares give the signs to rounding.
    """
    first = run.isel(time=0, head=0)
    columns = first["neuron_value"].transpose("seed", "token", "neuron").values
    values = first["value"].transpose("seed", "token").values
    pairs = zip(columns, values, strict=True)
    found = np.array([np.linalg.lstsq(A, G, rcond=None)[0] for A, G in pairs])
    if not np.abs(np.abs(found) - 1).max() < 1e-6:
        raise ValueError(
            "The neurons' outputs are not signs ±1 of what they read: the run needs "
            "a reading with signs, show='all' and follow=True."
        )
    return xr.DataArray(np.sign(found), dims=("seed", "neuron"))
