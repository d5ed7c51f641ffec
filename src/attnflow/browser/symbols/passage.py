"""Passage of symbols through what NumPy, `math` and JAX do not hand over."""

import builtins
import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np

from attnflow.browser.symbols.symbol import applied, is_symbol
from attnflow.browser.symbols.tree import leaves


def _through(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    """An array function that lets symbols pass."""

    def function(array: Any, *args: Any, **options: Any) -> Any:
        if is_symbol(array):
            return array
        if type(array) in (list, tuple) and any(map(is_symbol, leaves(array))):
            return _stacked(array)
        return plain(array, *args, **options)

    function.__name__ = name
    return function


def _stacked(rows: Any) -> Any:
    if is_symbol(rows):
        return rows
    if type(rows) in (list, tuple):
        return np.stack([np.asarray(_stacked(row)) for row in rows])
    return np.asarray(rows)


def _full(plain: Callable[..., Any]) -> Callable[..., Any]:
    def full(shape: Any, value: Any, *args: Any, **options: Any) -> Any:
        if is_symbol(value):
            return value * np.ones(shape)
        return plain(shape, value, *args, **options)

    return full


def _space(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    def space(start: Any, stop: Any, count: int = 50, **options: Any) -> Any:
        if is_symbol(start) or is_symbol(stop):
            log = (start if is_symbol(start) else stop).log
            return applied(log, plain, name, (start, stop, count), options)
        return plain(start, stop, count, **options)

    return space


def _scalar(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of `math`, by NumPy where its argument is a symbol."""

    def function(*args: Any) -> Any:
        if any(map(is_symbol, args)):
            return getattr(np, name)(*args)
        return plain(*args)

    return function


def _extreme(plain: Callable[..., Any], ufunc: np.ufunc) -> Callable[..., Any]:
    """The least or largest of two numbers, which is no branch."""

    def function(*args: Any, **options: Any) -> Any:
        if len(args) == 2 and (is_symbol(args[0]) or is_symbol(args[1])):
            return ufunc(*args)
        return plain(*args, **options)

    return function


def _device_put(plain: Callable[..., Any]) -> Callable[..., Any]:
    def device_put(tree: Any, *args: Any, **options: Any) -> Any:
        if any(map(is_symbol, jax.tree.leaves(tree))):
            return jax.tree.map(
                lambda x: x if is_symbol(x) else plain(x, *args, **options), tree
            )
        return plain(tree, *args, **options)

    return device_put


@contextlib.contextmanager
def symbols_pass() -> Iterator[None]:
    """Let symbols through the constructors of arrays while set-up is traced."""
    patches: list[Any] = []

    def patch(owner: Any, name: str, function: Callable[..., Any]) -> None:
        patches.append(mock.patch.object(owner, name, function))

    for name in ("asarray", "array", "ascontiguousarray", "copy"):
        patch(np, name, _through(getattr(np, name), name))
    for name in ("asarray", "array"):
        patch(jnp, name, _through(getattr(jnp, name), name))
    patch(np, "full", _full(np.full))
    for name in ("sqrt", "log", "exp", "log1p", "expm1", "isfinite", "tanh", "floor"):
        patch(math, name, _scalar(getattr(math, name), name))
    patch(math, "pow", _scalar(math.pow, "power"))
    patch(math, "asinh", _scalar(math.asinh, "arcsinh"))
    patch(math, "ceil", _scalar(math.ceil, "ceil"))
    for name, ufunc in (("min", np.minimum), ("max", np.maximum)):
        patch(builtins, name, _extreme(getattr(builtins, name), ufunc))
    patch(jax, "device_put", _device_put(jax.device_put))
    # Type checks, which tests turn on, would refuse a symbol as a JAX array.
    checks = jaxtyping.config.jaxtyping_disable
    with contextlib.ExitStack() as stack:
        for item in patches:
            stack.enter_context(item)
        jaxtyping.config.update("jaxtyping_disable", True)
        try:
            yield
        finally:
            jaxtyping.config.update("jaxtyping_disable", checks)
