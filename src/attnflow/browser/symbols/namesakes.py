"""Functions by name: those of NumPy and SciPy, and their namesakes in `jax.numpy`."""

import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from attnflow.schema.installation import scipy


def name_of(function: Callable[..., Any]) -> str:
    """The name under which a function of NumPy is remembered."""
    module = getattr(function, "__module__", "") or ""
    prefix = "linalg." if module.startswith("numpy.linalg") else ""
    return prefix + function.__name__


def namesake(name: str) -> Callable[..., Any]:
    """The function of `jax.numpy` with the name of one of NumPy."""
    if name == "getitem":
        return _getitem
    if name in SPECIAL:
        return SPECIAL[name]
    owner: Any = jnp
    for part in name.split("."):
        owner = getattr(owner, part, None)
        if owner is None:
            raise TypeError(f"jax.numpy has no {name}, by which set-up is traced.")
    return owner


def function_of(name: str) -> Callable[..., Any]:
    """The function of NumPy, or of SciPy, that was called."""
    if name == "getitem":
        return operator.getitem
    owner: Any = np
    for part in name.split("."):
        owner = getattr(owner, part, None) or getattr(scipy.special, part)
    return owner


def _getitem(array: Any, where: Any) -> Any:
    return array[np.asarray(where) if type(where) is list else where]


def _bincount(where: Any, weights: Any, size: int) -> Any:
    return jnp.zeros(size).at[where].add(weights)


def _arcsinh(x: Any) -> Any:
    size = jnp.abs(x)
    return jnp.sign(x) * jnp.log1p(size + size**2 / (1 + jnp.sqrt(1 + size**2)))


def _wrightomega(x: Any) -> Any:
    """The solution of `w + log w = x`, by Newton's method for `log w`."""
    v = jnp.where(x > 1, jnp.log(jnp.maximum(x, 1.0)), jnp.minimum(x, 1.0) - 1)
    for _ in range(12):
        w = jnp.exp(v)
        v = v - (w + v - x) / (w + 1)
    return jnp.exp(v)


SPECIAL: dict[str, Callable[..., Any]] = {
    "bincount": _bincount,
    "arcsinh": _arcsinh,
    "wrightomega": _wrightomega,
    "real": lambda x: x,
}
