"""Versions of Python and of the libraries that compute."""

import functools
import importlib.metadata
import platform

LIBRARIES = ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")


@functools.cache
def library_versions() -> dict[str, str]:
    """Versions of Python and of `LIBRARIES`, by name."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **versions}
