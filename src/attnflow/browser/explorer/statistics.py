"""Series that a paper computes of a run, as programs that a page runs.

A stage or a judge may read a function of a run, written with xarray: the least margin,
say. It is called with a run whose arrays are traced by JAX, and what it does becomes a
module like that of the set-up. A run has two records there, the first and the present
one, so that only functions are followed that read no other record.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jax.extend import core
from jax.interpreters.partial_eval import dce_jaxpr
from numpy.lib.mixins import NDArrayOperatorsMixin

from attnflow.browser.explorer.blank import (
    Fields,
    blank_run,
    settings_read,
    with_setting,
)
from attnflow.browser.setup import SetUp, SetUpModule, compiled
from attnflow.browser.symbols.namesakes import name_of, namesake
from attnflow.browser.symbols.tree import mapped
from attnflow.schema.dims import SEED, TIME
from attnflow.training import precise

Json = dict[str, Any]
Function = Callable[[xr.Dataset], xr.DataArray]
TRIED = 3
"""Records on which a function is tried: does it read each of them alone?"""
DRAWS = 6
"""Times that others are drawn, of either kind, where one has no value."""


class Followed(NDArrayOperatorsMixin):
    """An array that JAX traces, for code that is written for NumPy."""

    def __init__(self, array: Any):
        self.array = array

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    # xarray recognises an array by these attributes.
    real = property(lambda self: self)
    imag = property(lambda self: Followed(jnp.zeros_like(self.array)))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        if method != "__call__" or options.pop("out", None) is not None:
            return NotImplemented
        return _applied(ufunc.__name__, inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, options: Any
    ) -> Any:
        return _applied(name_of(function), args, options)

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        raise TypeError("It takes plain numbers out of the records.")

    def _refuse(self) -> Any:
        raise TypeError("It takes a plain number out of the records.")

    __float__ = __int__ = __index__ = __bool__ = _refuse

    def __getitem__(self, where: Any) -> "Followed":
        return Followed(self.array[mapped(where, _bare)])

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator["Followed"]:
        return (self[n] for n in range(len(self)))

    T = property(lambda self: Followed(self.array.T))

    def max(self, *args: Any, **options: Any) -> "Followed":
        """The largest entry."""
        return Followed(self.array.max(*args, **options))

    def swapaxes(self, first: int, second: int) -> "Followed":
        """The array with two axes exchanged."""
        return Followed(self.array.swapaxes(first, second))

    def astype(self, dtype: Any, *args: Any, **options: Any) -> "Followed":
        """The array in another type."""
        return Followed(self.array.astype(dtype))

    def reshape(self, *shape: Any, **options: Any) -> "Followed":
        """The array in another shape."""
        return Followed(self.array.reshape(*shape))

    def transpose(self, *axes: Any) -> "Followed":
        """The array with its axes in another order."""
        return Followed(self.array.transpose(*axes))

    def copy(self, *args: Any) -> "Followed":
        """Itself: it never changes."""
        return self


def _bare(x: Any) -> Any:
    return x.array if isinstance(x, Followed) else x


def _applied(name: str, args: Any, options: Any) -> Any:
    given = {n: x for n, x in mapped(options, _bare).items() if x is not np._NoValue}  # pyright: ignore[reportAttributeAccessIssue] # how NumPy says "not given"
    result = namesake(name)(*mapped(args, _bare), **given)
    return mapped(result, lambda x: Followed(x) if isinstance(x, jax.Array) else x)


class Statistics:
    """Functions of a variant's run that are followed, as one module.

    `read` takes the names of the setting's fields that they read.
    """

    def __init__(
        self, setup: SetUp, setting: Any, names: Sequence[str], read: set[str]
    ):
        self.plain, self.names, self.read = asdict(setting), list(names), read
        self.fields = Fields(self.plain, read)
        self.blank = blank_run(setup, self.fields, np.nan)
        self.shapes = {
            str(n): x.shape[2:]
            for n, x in self.blank.data_vars.items()
            if x.dims[:2] == (SEED, TIME) and n != "recorded"
        }
        self.dims = {n: self.blank[n].dims for n in self.shapes}
        self.functions: list[tuple[Function, Json]] = []
        draw = np.random.default_rng(0)
        # Every other one positive, for logarithms, and below 1, for probabilities.
        self._draws = [
            {n: sizes((TRIED, *shape)) for n, shape in self.shapes.items()}
            for sizes in (draw.standard_normal, draw.random) * DRAWS
        ]

    def add(self, function: Function) -> tuple[int | None, str]:
        """The number of a series, or why it cannot be followed."""
        with precise(), settings_read(), np.errstate(all="ignore"):
            try:
                if not self._is_pointwise(function):
                    return None, "it reads several records at once"
                fixed = self._fixed(function)
            except Exception as error:
                return None, f"{error}".partition("\n")[0]
        self.functions.append((function, fixed))
        return len(self.functions) - 1, ""

    def _is_pointwise(self, function: Function) -> bool:
        """Whether a record's value is that of it and the first one, at any time.

        Of three random records, the second is tried beside the first one alone and at
        another time; and so is the last one. Where one has no value, others are drawn.
        """
        last = self.blank.sizes[TIME] - 1
        untried = {1: last, 2: 1}
        for rows in self._draws:
            whole = self._tried(function, rows, slice(None), [0, last // 2, last])
            for k in [k for k in untried if np.isfinite(whole[k]).any()]:
                pair = self._tried(function, rows, [0, k], [0, untried.pop(k)])
                if not np.array_equal(whole[k], pair[-1], equal_nan=True):
                    return False
            if not untried:
                return True
        return False

    def _tried(
        self, function: Function, rows: Mapping[str, Any], records: Any, at: Any
    ) -> np.ndarray:
        some = {n: row[records] for n, row in rows.items()}
        return np.asarray(self._value(function, some, self.fields, at))

    def _fixed(self, function: Function) -> Json:
        """Numbers of the setting at which alone the program holds: mostly none."""
        try:
            self._compiled([(function, {})])
        except TypeError:
            read: set[str] = set()
            rows = {n: r[:2] for n, r in self._draws[0].items()}
            self._value(function, rows, Fields(self.plain, read))
            fixed = {n: self.plain[n] for n in self.names if n in read}
            self.read.update(fixed)
            if not fixed:
                raise
            self._compiled([(function, fixed)])
            return fixed
        return {}

    def _value(
        self,
        function: Function,
        rows: Mapping[str, Any],
        fields: Mapping[str, Any],
        at: Sequence[int] | np.ndarray = (0, 1),
    ) -> Any:
        """The series at some records: time first, then entries of its own."""
        count = len(at)
        run = with_setting(self.blank.isel({TIME: list(at)}), fields)
        run = run.assign({n: (self.dims[n], row[None]) for n, row in rows.items()})
        series = function(run)
        if not {SEED, TIME} <= set(series.dims) or series.sizes[TIME] != count:
            raise ValueError("it has no value at each record")
        return series.transpose(SEED, TIME, ...).data[0]

    def _jaxpr(self, functions: Sequence[tuple[Function, Json]]) -> Any:
        def program(numbers: Any, first: Any, now: Any) -> list[Any]:
            rows = {
                n: Followed(jnp.stack([first[n], now[n]])) for n in sorted(self.shapes)
            }
            results = []
            for function, fixed in functions:
                free = {n: Followed(x) for n, x in numbers.items() if n not in fixed}
                fields = Fields({**self.plain, **free}, self.read)
                value = self._value(function, rows, fields)
                results.append(jnp.asarray(_bare(value), float)[1])
            return results

        numbers = {n: jnp.asarray(1.0) for n in self.names}
        rows = {n: jnp.ones(shape) for n, shape in self.shapes.items()}
        return jax.make_jaxpr(program)(numbers, rows, rows)

    def module(self) -> tuple[SetUpModule, Json] | None:
        """The module of all series, and what its arrays are."""
        if not self.functions:
            return None
        with precise(), settings_read():
            module, arrays = self._compiled(self.functions)
        reads = [{"observable": n, "record": when} for n, when in arrays]
        return module, {"reads": reads, "fixed": [f for _, f in self.functions]}

    def _compiled(
        self, functions: Sequence[tuple[Function, Json]]
    ) -> tuple[SetUpModule, list[tuple[str, str]]]:
        """A module, and the observables that it reads, of the first record or now."""
        whole = self._jaxpr(functions)
        jaxpr, used = dce_jaxpr(whole.jaxpr, [True] * len(functions))
        arrays = [(n, when) for when in ("first", "now") for n in sorted(self.shapes)]
        names = sorted(self.names)
        is_used = iter(used)
        names = [n for n in names if next(is_used)]
        arrays = [x for x in arrays if next(is_used)]
        draw = np.random.default_rng(1)
        examples = [draw.uniform(1, 2, self.shapes[n]) for n, _ in arrays]
        outputs = [str(n) for n in range(len(functions))]
        closed = core.ClosedJaxpr(jaxpr, whole.consts)
        return compiled(closed, outputs, names, examples), arrays
