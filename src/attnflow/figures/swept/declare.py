"""What a paper says of a map, and the exhibit that it becomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from attnflow.figures.swept import numbers
from attnflow.schema.declarations import Evidence, Exhibit, SweepRequest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """A curve that theory draws on a map: where `side(x, y)` changes its sign.

    **Arguments:**

    - `side`: a function of the keys' values along both axes. It is positive where
      theory has the map above its level, or a claim hold.
    - `judged`: whether to tell how many cells are on their side of it.
    """

    label: str
    side: Callable[[np.ndarray, np.ndarray], np.ndarray]
    judged: bool = True


@dataclass(frozen=True)
class Level:
    """Where a map is cut, and how the boundary is fitted.

    **Arguments:**

    - `at`: cells whose mean over seeds is above it are on the one side.
    - `fitted`: fit x* = e^intercept · y^exponent to the boundary; `power` is that of x
      in the constant y · x*^power.
    - `scale`: interpolate between cells in the values or in their logarithms.
    """

    at: float
    fitted: bool = True
    power: float = 1.0
    scale: Literal["linear", "log"] = "linear"


def no_curves(evidence: Evidence, panel: Any) -> tuple[Curve, ...]:
    """Of a map about which theory says nothing."""
    return ()


@dataclass(frozen=True)
class Map:
    """A map over two settings, or one for each value of a third.

    **Arguments:**

    - `sweeps`: what is swept, by name.
    - `table`: evidence → what is drawn, with the dims (upwards, sideways), and perhaps
      that of `over` and `seed`; numbers, or verdicts on a claim.
    - `names`: what dims are called beside the axes; `label`: what is drawn.
    - `curves`: evidence and the value of the third key → the theory's curves.
    - `level`: where the map is cut.
    - `limits`: of the colours; those of the table without them.
    - `seen`, `printed`, `tolerance`, `silent`: as in `Exhibit`.
    - `more`: further numbers.
    """

    id: str
    title: str
    caption: str
    sweeps: Mapping[str, SweepRequest]
    table: Callable[[Evidence], xr.DataArray]
    label: str
    names: Mapping[str, str]
    seen: Callable[[Evidence], Mapping[str, bool]]
    curves: Callable[[Evidence, Any], tuple[Curve, ...]] = no_curves
    level: Level | None = None
    over: str | None = None
    limits: tuple[float, float] | None = None
    kind: str = "test"
    more: Callable[[Evidence], Mapping[str, Any]] | None = None
    printed: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.02
    silent: tuple[str, ...] = ()

    def exhibit(self) -> Exhibit:
        """The figure that the core draws of it, with its numbers."""
        return Exhibit(
            id=self.id,
            kind="figure",
            title=self.title,
            caption=self.caption,
            needs={},
            sweeps=self.sweeps,
            draw=partial(_draw, self),
            values=partial(numbers.values, self),
            seen=self.seen,
            printed=self.printed,
            tolerance=self.tolerance,
            silent=self.silent,
        )


def _draw(map: Map, evidence: Evidence) -> "Figure":
    # Listing a paper draws nothing, and needs no matplotlib.
    from attnflow.figures.swept.draw import draw

    return draw(map, evidence)
