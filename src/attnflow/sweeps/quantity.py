"""A paper's own numbers as measures of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from attnflow.schema.declarations import Quantity
from attnflow.sweeps.measure import Cell, Column


@dataclass(frozen=True)
class QuantityMeasure:
    """What a paper's function reads off the run of a cell, for each seed.

    `code` is a digest of the code that reads it.
    """

    quantity: Quantity
    code: str

    @property
    def text(self) -> str:
        """The quantity's name."""
        return self.quantity.name

    @property
    def identity(self) -> str:
        """The quantity, and a digest of the code that reads it."""
        return f"{self.text} {self.quantity.function} {self.code}"

    @property
    def columns(self) -> Mapping[str, Column]:
        """One number for each seed."""
        return {self.text: Column()}

    @property
    def reads(self) -> tuple[str, ...]:
        """The observables that the function looks at."""
        return self.quantity.reads

    @property
    def has_series(self) -> bool:
        """A function may look at any record."""
        return True

    def of(self, run: xr.Dataset | None, cell: Cell) -> Mapping[str, Any]:
        """The number for each seed; NaN where it is not finite."""
        assert run is not None
        found = np.asarray(self.quantity.of(run), float)
        if found.shape != (len(cell.seeds),):
            raise ValueError(
                f"{self.quantity.function} gave numbers of shape {found.shape} for "
                f"{len(cell.seeds)} seeds. Let it give one number for each seed."
            )
        return {self.text: np.where(np.isfinite(found), found, np.nan)}
