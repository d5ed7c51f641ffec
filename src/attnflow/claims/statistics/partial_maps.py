"""Maps of which only some cells are known, such as those along a boundary."""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from attnflow.claims.statistics.boundary import Boundary, fit_boundary


def nearest(known: Int[np.ndarray, " places"], size: int) -> Int[np.ndarray, " size"]:
    """For places 0 … size−1, the position in `known` (growing) of the nearest one."""
    after = np.searchsorted(known, np.arange(size)).clip(0, len(known) - 1)
    before = (after - 1).clip(0)
    places = np.arange(size)
    nearer = np.abs(known[before] - places) <= np.abs(known[after] - places)
    return np.where(nearer, before, after)


def fill_rows(
    maps: Float[np.ndarray, "seeds sizes points"],
) -> Float[np.ndarray, "seeds sizes points"]:
    """Maps with cells that are not finite in some seed as the nearest of their row.

    A row without any is as the row before it.
    """
    known = np.asarray(np.isfinite(maps).all(axis=0))
    filled = maps.copy()
    for row, mask in enumerate(known):
        places = np.flatnonzero(mask)
        if len(places):
            filled[:, row] = maps[:, row][:, places[nearest(places, len(mask))]]
        elif row:
            filled[:, row] = filled[:, row - 1]
    return filled


def fit_partial(
    sizes: Float[np.ndarray, " sizes"],
    x: Float[np.ndarray, " points"],
    maps: Float[np.ndarray, "seeds sizes points"],
    level: float,
    *,
    generator: np.random.Generator,
    power: float = 2.0,
    scale: Literal["linear", "log"] = "linear",
) -> Boundary:
    """The law of a boundary, as `fit_boundary`, of maps that fall or rise along x.

    Cells that are not known (NaN) are as the nearest one of their row, which is on the
    same side of the boundary where the cells beside it are known.
    """
    filled = fill_rows(np.asarray(maps, np.float64))
    above = filled.mean(axis=0) > level
    if above[:, -1].sum() > above[:, 0].sum():
        filled = 1 / filled if scale == "log" else -filled
        level = 1 / level if scale == "log" else -level
    return fit_boundary(
        sizes, x, filled, level, generator=generator, power=power, scale=scale
    )
