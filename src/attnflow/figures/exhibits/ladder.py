"""A ladder: a number against a size on logarithmic axes, with its slope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.curves import middle, parameter, spread
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from attnflow.figures.axes import Scale


@dataclass(frozen=True, kw_only=True)
class Ladder(AbstractPanel):
    """A number against a size, its median over seeds with quartiles, and its slope.

    **Arguments:**

    - `of`: evidence → a table of one dim, whose coord is the size, and perhaps `seed`.
    - `predicted`: table → the paper's formula at the same sizes.
    - `slope`: that the paper states, printed beside the fitted one.
    - `kind`: what sort of quantity it is, which gives the colour.
    - `label`, `predicted_label`: in the legend; the latter may be a function of the
      table, where a factor is fitted.
    """

    of: Callable[[Evidence], xr.DataArray]
    scales: tuple[Scale, Scale] = ("log", "log")
    names: str | Mapping[str, Any] = ""
    predicted: Callable[[xr.DataArray], np.ndarray] | None = None
    slope: float | None = None
    kind: str = "signal"
    label: str = "measured"
    predicted_label: str | Callable[[xr.DataArray], str] = "predicted"

    def table(self, evidence: Evidence) -> xr.DataArray:
        """The numbers by size and seed."""
        return self.of(evidence)

    def draw(self, ax: Axes, table: xr.DataArray) -> None:
        """Points, the prediction dashed, and the fitted slope as text.

        Rungs that are no positive number are not on logarithmic axes.
        """
        medians = middle(table, "quartiles")
        known = np.isfinite(medians) & (medians > 0)
        low, high = (None, None)
        if SEED in table.dims and table.sizes[SEED] > 1:
            low, high = (ends[known] for ends in spread(table, "quartiles"))
        predicted = None if self.predicted is None else self.predicted(table)[known]
        name = self.predicted_label
        figures.ladder_plot(
            ax,
            parameter(table).values[known],
            medians[known],
            predicted=predicted,
            expected_slope=self.slope,
            low=low,
            high=high,
            kind=self.kind,
            label=self.label,
            predicted_label=name if isinstance(name, str) else name(table),
        )

    def values(self, table: xr.DataArray) -> dict[str, float]:
        """Medians by size, and their slope; NaN where some rung is no number."""
        sizes, medians = parameter(table), middle(table, "quartiles")
        rungs = {
            f"{sizes.name} = {size:g}": float(number)
            for size, number in zip(sizes.values, medians, strict=True)
        }
        return rungs | {"slope": slope(table)}


def slope(table: xr.DataArray) -> float:
    """The slope of medians by size on logarithmic axes; NaN where one is no number."""
    medians = middle(table, "quartiles")
    if not (medians > 0).all():
        return float("nan")
    return figures.fit_power(parameter(table).values, medians).slope
