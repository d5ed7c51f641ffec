"""What this machine has: the user's cache, libraries, data, papers of other packages.

A package registers a paper in its `pyproject.toml`, under the paper's slug:

    [project.entry-points."attnflow.papers"]
    needle = "needle:PAPER"

This file only finds entry points; `attnflow.papers` loads them.
"""

import functools
import importlib
import importlib.metadata
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any


class Library:
    """A library by its name; the first attribute imports it."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        # Kept here: a claims table asks two million times.
        vars(self)[attribute] = value
        return value


# SciPy and xarray take longer to import than a paper to list, or a stored run to show,
# and NumPy as long as help: modules that declare, judge or draw take them from here,
# and they are imported when they are first used.
if TYPE_CHECKING:
    import numpy as np  # pyright: ignore[reportUnusedImport] # for others
    import scipy as scipy  # pyright: ignore[reportMissingTypeStubs] # it has none
    import xarray as xr  # pyright: ignore[reportUnusedImport] # for others
else:
    np, scipy, xr = map(Library, ("numpy", "scipy", "xarray"))

GROUP = "attnflow.papers"
LIBRARIES = (
    *("jax", "jaxlib", "diffrax", "equinox", "optimistix", "lineax", "optax"),
    *("numpy", "scipy"),
)


class MissingData(Exception):
    """A data set or file that is not on this machine, and how to get it.

    A claim whose data is missing is `unchecked`, with this message as the reason.
    `what` is missing, with the short way to it; `otherwise` says what to do where that
    way is closed, on this machine alone.
    """

    def __init__(self, what: str, otherwise: str = ""):
        super().__init__(what, otherwise)
        self.what = what
        self.otherwise = otherwise

    def __str__(self) -> str:
        return f"{self.what} {self.otherwise}".rstrip()


def cache_directory() -> Path:
    """The user's cache directory: `$XDG_CACHE_HOME`, or `~/.cache`."""
    path = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    # The XDG specification says to ignore relative paths.
    return path if path.is_absolute() else Path("~/.cache").expanduser()


def programs_directory() -> Path:
    """Where compiled programs are kept: in `$ATTNFLOW_CACHE`, or the user's cache."""
    ours = os.environ.get("ATTNFLOW_CACHE")
    return (Path(ours) if ours else cache_directory() / "attnflow") / "compiled"


def registered() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The papers of other packages: entry points by slug, which several may claim."""
    points: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        points[point.name] = (*points.get(point.name, ()), point)
    return points


def package_of(slug: str) -> str | None:
    """The module that holds another package's paper; `None` where there is none."""
    points = registered().get(slug, ())
    return points[0].module if points else None


def distribution_of(point: EntryPoint) -> str:
    """The name of the package to which an entry point belongs, for messages."""
    return f"the package {point.dist.name}" if point.dist else "an unnamed package"


@functools.cache
def processor() -> str:
    """The processor, and what it can do: code that is compiled for it may use that."""
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        can = (line for line in lines if line.startswith(("flags", "Features")))
        return f"{platform.machine()} {next(can, '')}"
    return f"{platform.machine()} {platform.processor()}"


@functools.cache
def library_versions() -> dict[str, str]:
    """Versions of Python and of `LIBRARIES`, by name."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **versions}
