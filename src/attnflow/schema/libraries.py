"""Libraries that are imported when they are first used: SciPy, and xarray as `xr`.

Either takes longer to import than a paper to list, or a stored run to show. Claims and
drawings name types of runs in annotations, which nobody evaluates under
`from __future__ import annotations`, and use these libraries when they get a run.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import scipy  # pyright: ignore[reportMissingTypeStubs] # it has none
    import xarray as xr
else:

    class _Library:
        """A library by its name; the first attribute imports it."""

        def __init__(self, name: str):
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    scipy, xr = _Library("scipy"), _Library("xarray")

__all__ = ["scipy", "xr"]
