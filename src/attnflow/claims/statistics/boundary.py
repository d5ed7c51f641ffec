"""Boundaries of a map: where it crosses a level, and the power law of that curve.

Maps of which only some cells are known, such as those along a boundary, are filled
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Sizes: TypeAlias = 'Float[np.ndarray, " sizes"]'
Points: TypeAlias = 'Float[np.ndarray, " points"]'
Maps: TypeAlias = 'Float[np.ndarray, "seeds sizes points"]'
Cells: TypeAlias = 'Float[np.ndarray, " cells"]'
AreAbove: TypeAlias = 'Bool[np.ndarray, " cells"]'
LEAST = 3
"""Sizes with a crossing that a line through them needs."""


@dataclass(frozen=True)
class Boundary:
    """A boundary x*(n) and its power law x* = e^intercept · n^exponent.

    **Arguments:**

    - `places`: x* of the mean map for each size; NaN where it does not cross.
    - `by_seed`: the same of every seed's own map.
    - `exponent`: the log-log slope of x* in n; `intercept`: that of its line.
    - `constant`: with the exponent held at −1/`power`, the geometric mean of
      n · x*^power over sizes.
    - `exponent_interval`, `constant_interval`: percentiles over resampled seeds.
    - `lost`: of the crossings that the mean map has, the share that resampled maps
      lack: these make intervals too narrow.
    """

    places: Sizes
    by_seed: Float[np.ndarray, "seeds sizes"]
    exponent: float
    intercept: float
    constant: float
    exponent_interval: tuple[float, float]
    constant_interval: tuple[float, float]
    lost: float

    @property
    def exists(self) -> bool:
        """Whether enough sizes have a crossing for a law to be fitted."""
        return bool(np.isfinite(self.exponent))


def crossings(
    x: Points,
    values: Float[np.ndarray, "*rows points"],
    level: float,
    *,
    scale: Literal["linear", "log"] = "linear",
) -> Float[np.ndarray, "*rows"]:
    """Where each row falls below a level for good, by interpolation.

    Between the last point above the level and the next one, at which it is not,

        x* = x_i + (x_{i+1} − x_i) · (f_i − f(level)) / (f_i − f_{i+1}),

    with f = values, or their logarithms where `scale` is `log`. NaN where a row stays
    above the level, is never above it, or holds a number that is not finite.

    `crossings(np.array([1.0, 2.0, 3.0]), np.array([0.9, 0.7, 0.3]), 0.5)` is `2.5`.
    """
    x, values = np.asarray(x, np.float64), np.asarray(values, np.float64)
    if x.ndim != 1 or values.shape[-1:] != x.shape or len(x) < 2:
        raise ValueError(
            f"x has shape {x.shape} and values {values.shape}: the last axis of values "
            "is that of x, with at least two points."
        )
    if not (np.diff(x) > 0).all():
        raise ValueError(f"x is {x.tolist()}: it must grow from point to point.")
    heights, cut = values, level
    if scale == "log":
        if not (level > 0 and (values[np.isfinite(values)] > 0).all()):
            raise ValueError(
                f"level is {level} and values begin at {np.nanmin(values)}: logarithms "
                "need positive ones. Use scale='linear'."
            )
        heights, cut = np.log(values), np.log(level)
    above = values > level
    last = values.shape[-1] - 1 - np.argmax(above[..., ::-1], axis=-1)
    usable = np.isfinite(values).all(axis=-1) & above.any(axis=-1) & ~above[..., -1]
    start = np.where(usable, last, 0)
    before, after = (
        np.take_along_axis(heights, (start + step)[..., None], axis=-1)[..., 0]
        for step in (0, 1)
    )
    fall = np.where(usable, before - after, 1.0)
    share = np.where(usable, (before - cut) / fall, np.nan)
    return x[start] + (x[start + 1] - x[start]) * share


def fit_boundary(
    sizes: Sizes,
    x: Points,
    maps: Maps,
    level: float,
    *,
    generator: np.random.Generator,
    power: float = 2.0,
    scale: Literal["linear", "log"] = "linear",
    resamples: int = 1000,
    coverage: float = 0.95,
) -> Boundary:
    """The boundary of the mean over seeds, its power law, and bootstrap intervals.

    The bootstrap draws whole seeds with replacement (see `bootstrap_slope`), since the
    cells of one seed may share their random numbers; each draw's mean map has its own
    boundary. Where fewer than three sizes cross the level there is no law, and its
    numbers are NaN.

    `power` is that of x in the constant n · x*^power; the same `generator` gives the
    same intervals.
    """
    sizes, maps = np.asarray(sizes, np.float64), np.asarray(maps, np.float64)
    if maps.ndim != 3 or maps.shape[1] != len(sizes) or not (sizes > 0).all():
        raise ValueError(
            f"maps has shape {maps.shape} for sizes {sizes.tolist()}: give dims (seed, "
            "size, point), and positive sizes."
        )
    places = crossings(x, maps.mean(axis=0), level, scale=scale)
    shown = np.isfinite(places)
    slope, intercept, constant = _laws(sizes, places[None], power)[:, 0].tolist()
    seeds = len(maps)
    counts = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=resamples)
    drawn = np.einsum("rs,snx->rnx", counts / seeds, maps)
    again = np.where(shown, crossings(x, drawn, level, scale=scale), np.nan)
    spread = _laws(sizes, again, power)
    return Boundary(
        places=places,
        by_seed=crossings(x, maps, level, scale=scale),
        exponent=slope,
        intercept=intercept,
        constant=constant,
        exponent_interval=_interval(spread[0], coverage),
        constant_interval=_interval(spread[2], coverage),
        lost=float(np.isnan(again[:, shown]).mean()) if shown.any() else 0.0,
    )


def best_constant(control: Cells, above: AreAbove) -> float:
    """The c for which most cells have `above` exactly where `control` < c.

    All constants between two neighbouring controls agree alike; of the best such gaps
    the middle one is taken, and its geometric mean. Outside of all controls there is
    no constant to name: NaN where all cells, or none, are above.
    """
    control, above = np.ravel(np.asarray(control, np.float64)), np.ravel(above)
    if control.shape != above.shape or not (control > 0).all():
        raise ValueError(
            f"{len(control)} controls and {len(above)} cells: give one positive number "
            "for each cell."
        )
    if above.all() or not above.any():
        return float("nan")
    order = np.argsort(control, kind="stable")
    steps, high = control[order], above[order]
    # Below a gap cells should be above the level, and beyond it not.
    right = np.cumsum(high)[:-1] + np.cumsum(~high[::-1])[::-1][1:]
    right = np.where(np.diff(steps) > 0, right, -1)
    best = np.flatnonzero(right == right.max())
    gap = best[len(best) // 2]
    return float(np.sqrt(steps[gap] * steps[gap + 1]))


def agreement(control: Cells, above: AreAbove, constant: float) -> float:
    """The share of cells that are `above` exactly where `control` < `constant`."""
    return float(np.mean((np.asarray(control) < constant) == np.asarray(above)))


def nearest(known: Int[np.ndarray, " known"], size: int) -> Int[np.ndarray, " size"]:
    """For indices 0 … size−1, the position in `known` (growing) of the nearest one."""
    indices = np.arange(size)
    after = np.searchsorted(known, indices).clip(0, len(known) - 1)
    before = (after - 1).clip(0)
    nearer = np.abs(known[before] - indices) <= np.abs(known[after] - indices)
    return np.where(nearer, before, after)


def fill_rows(maps: Maps) -> Maps:
    """Maps whose unknown cells take the value of the nearest known one of their row.

    A cell is unknown where some seed is not finite. A row without known cells is a
    copy of the row before it.
    """
    filled = maps.copy()
    for row, is_known in enumerate(np.asarray(np.isfinite(maps).all(axis=0))):
        known = np.flatnonzero(is_known)
        if len(known):
            filled[:, row] = maps[:, row][:, known[nearest(known, len(is_known))]]
        elif row:
            filled[:, row] = filled[:, row - 1]
    return filled


def fit_partial(
    sizes: Sizes,
    x: Points,
    maps: Maps,
    level: float,
    *,
    generator: np.random.Generator,
    power: float = 2.0,
    scale: Literal["linear", "log"] = "linear",
) -> Boundary:
    """Like `fit_boundary`, of maps with unknown cells (NaN) that fall or rise along x.

    Unknown cells are filled by `fill_rows`: the nearest known cell of the row is on the
    same side of the boundary where the cells beside the boundary are known.
    """
    filled = fill_rows(np.asarray(maps, np.float64))
    above = filled.mean(axis=0) > level
    if above[:, -1].sum() > above[:, 0].sum():
        filled = 1 / filled if scale == "log" else -filled
        level = 1 / level if scale == "log" else -level
    return fit_boundary(
        sizes, x, filled, level, generator=generator, power=power, scale=scale
    )


def _laws(sizes: np.ndarray, places: np.ndarray, power: float) -> np.ndarray:
    """Slope, intercept and constant of each row; NaN where it has too few places."""
    known = np.isfinite(places) & (places > 0)
    count = known.sum(axis=-1)
    usable = count >= LEAST
    count = np.where(usable, count, 1)
    x = np.where(known, np.log(sizes), 0.0)
    y = np.log(np.where(known, places, 1.0))
    middle, height = x.sum(axis=-1) / count, y.sum(axis=-1) / count
    centred = np.where(known, x - middle[:, None], 0.0)
    spread = (centred**2).sum(axis=-1)
    slope = (centred * y).sum(axis=-1) / np.where(usable, spread, 1.0)
    laws = np.stack([slope, height - slope * middle, np.exp(middle + power * height)])
    return np.where(usable, laws, np.nan)


def _interval(values: np.ndarray, coverage: float) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not known.size:
        return float("nan"), float("nan")
    tail = (1.0 - coverage) / 2.0
    low, high = np.quantile(known, [tail, 1.0 - tail])
    return float(low), float(high)
