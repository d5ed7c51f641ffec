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


def _mean(x: Any, axis: Any = None, **options: Any) -> Any:
    """The mean, whose booleans JAX would average in single precision."""
    x = jnp.asarray(x)
    return jnp.mean(x.astype(float) if x.dtype == bool else x, axis, **options)


def _median(x: Any, axis: Any = None) -> Any:
    """The median over some axes, by a sorting network: kernels have no `sort`."""
    x = jnp.asarray(x)
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
    axes = [int(a) % x.ndim for a in axes]
    moved = jnp.moveaxis(x, axes, range(x.ndim - len(axes), x.ndim))
    flat = moved.reshape(*moved.shape[: x.ndim - len(axes)], -1)
    count = flat.shape[-1]
    middle = _sorted(flat)[..., (count - 1) // 2 : count // 2 + 1]
    return jnp.where(jnp.isnan(flat).any(-1), jnp.nan, middle.mean(-1))


def _sorted(x: Any) -> Any:
    """Entries along the last axis in order, by Batcher's bitonic network."""
    count = x.shape[-1]
    size = 1 << (count - 1).bit_length()
    filler = jnp.full((*x.shape[:-1], size - count), jnp.inf)
    x = jnp.concatenate([x, filler], -1)
    length = 2
    while length <= size:
        # Two ordered halves, one of them read backwards, then ever shorter steps.
        x = _exchanged(x, length // 2, flip=True)
        step = length // 4
        while step:
            x = _exchanged(x, step, flip=False)
            step //= 2
        length *= 2
    return x[..., :count]


def _exchanged(x: Any, step: int, *, flip: bool) -> Any:
    """Pairs of entries `step` apart, or mirrored, the smaller one first."""
    pairs = x.reshape(*x.shape[:-1], -1, 2, step)
    first, second = pairs[..., 0, :], pairs[..., 1, :]
    if flip:
        second = second[..., ::-1]
    low, high = jnp.minimum(first, second), jnp.maximum(first, second)
    if flip:
        high = high[..., ::-1]
    return jnp.stack([low, high], -2).reshape(x.shape)


SPECIAL: dict[str, Callable[..., Any]] = {
    "bincount": _bincount,
    "arcsinh": _arcsinh,
    "mean": _mean,
    "median": _median,
    "wrightomega": _wrightomega,
    "real": lambda x: x,
}
