"""Sweeps along the boundary of a yes/no map, and the law that the boundary follows."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Boundary, fit_partial
from attnflow.schema import mean_over_seeds
from attnflow.sweeps.assemble import PENDING, assemble
from attnflow.sweeps.drive import Progress, complete, register
from attnflow.sweeps.executors import Executor
from attnflow.sweeps.plan import Batch, Sweep, make_batches
from attnflow.sweeps.refine import Place, refine
from attnflow.sweeps.shelf import Shelf

Level = float | str
"""A number that the first measure, a mean over seeds, is above; or its text."""


def run_refined(
    sweep: Sweep,
    executor: Executor,
    *,
    level: Level,
    coarse: int = 8,
    band: int = 1,
    shelf: Shelf | None = None,
    name: str = "",
    retry: bool = False,
    limit: float | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compute a sweep over two axes only where its first measure crosses a level.

    **Arguments:**

    - `level`: a number, for cells whose mean over seeds is above it; or a text, for
      cells with that text, such as the verdict `holds`. A cell without a result counts
      as no.
    - `coarse`, `band`: see `attnflow.sweeps.refine`. Neighbours of the boundary are
      computed too, since resampled seeds move it.

    **Returns:** as `run_sweep`, with cells that were not needed `pending`, and

    - `inside`: yes or no for every cell of the grid; `boundary`: where neighbours
      differ.
    - attrs `cells_computed` and `cells_full`, and `rounds` of cells asked at once.
    """
    if len(sweep.axes) != 2:
        raise ValueError(
            f"{len(sweep.axes)} axes are swept: a boundary is refined over two. "
            "Sweep two keys, or zip some."
        )
    shelf = shelf or Shelf()
    answer = _answer(sweep, level)
    seen: list[Batch] = []
    reads: dict[str, Callable[[str], xr.Dataset | None]] = {}
    shape = sweep.shape[0], sweep.shape[1]

    def ask(places: list[Place]) -> list[bool]:
        cells = [int(np.ravel_multi_index(place, shape)) for place in places]
        part = replace(sweep, chosen=tuple(cells))
        batches = make_batches(part)
        options: dict[str, Any] = {"retry": retry, "limit": limit, "progress": progress}
        read = complete(part, batches, executor, shelf=shelf, **options)
        seen.extend(batches)
        reads.update(dict.fromkeys((batch.key for batch in batches), read))
        answers = answer(assemble(part, batches, read))
        return [bool(answers[place]) for place in places]

    refined = refine(ask, shape, coarse=coarse, band=band)
    whole = replace(sweep, chosen=tuple(c for batch in seen for c in batch.cells))
    register(whole, seen, shelf, name)
    found = assemble(whole, seen, lambda key: reads[key](key))
    dims = tuple(axis.name for axis in sweep.axes)
    found["inside"] = (dims, refined.filled)
    found["boundary"] = (dims, refined.boundary)
    return found.assign_attrs(
        cells_computed=refined.cells,
        cells_full=refined.full,
        rounds=list(refined.rounds),
        level=level,
    )


def fit_refined(
    found: xr.Dataset,
    variable: str,
    level: float,
    *,
    generator: np.random.Generator,
    power: float = 2.0,
    scale: Literal["linear", "log"] = "linear",
) -> Boundary:
    """The law of a boundary: its place along the second axis by that along the first.

    As `fit_partial`: cells that were not computed are as the nearest
    one of their row, on the same side of the boundary.
    """
    size, x = (str(dim) for dim in found[variable].dims[:2])
    pending = (found["outcome"] == PENDING).any("seed")
    maps = found[variable].where(~pending).transpose("seed", size, x)
    return fit_partial(
        found[size].values.astype(float),
        found[x].values.astype(float),
        maps.values,
        level,
        generator=generator,
        power=power,
        scale=scale,
    )


def law_of(found: xr.Dataset, *, power: float = 2.0) -> Boundary | None:
    """The law of the boundary along which a sweep was refined.

    `None` where it has none: of claims, or over keys that are no positive numbers.
    """
    level = found.attrs.get("level")
    variable = json.loads(found.attrs["measures"])[0]
    if not isinstance(level, float) or variable not in found:
        return None
    size, x = (found[dim].values for dim in found["inside"].dims)
    numbers = all(axis.dtype.kind in "fi" for axis in (size, x))
    if not (numbers and (size > 0).all() and (np.diff(x) > 0).all()):
        return None
    generator = np.random.default_rng(0)
    return fit_refined(found, variable, level, generator=generator, power=power)


def _answer(sweep: Sweep, level: Level) -> Callable[[xr.Dataset], np.ndarray]:
    """What makes yes and no of the first measure."""
    columns = sweep.measures[0].columns
    wanted = [name for name, c in columns.items() if c.text == isinstance(level, str)]
    if not wanted:
        kind = "texts" if isinstance(level, str) else "numbers"
        raise ValueError(
            f"level={level!r} belongs to {kind}, and {sweep.measures[0].text!r} gives "
            "none. Give a number for observables, a verdict such as 'holds' for claims."
        )

    def answer(found: xr.Dataset) -> np.ndarray:
        values = found[wanted[0]]
        if isinstance(level, str):
            return np.asarray(values.values == level)
        return mean_over_seeds(values).values > level

    return answer
