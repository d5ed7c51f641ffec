"""Numbers of a setting as symbols, so that set-up can be traced as it stands.

Set-up is NumPy (decision 19): from numbers it computes a system's arrays and its first
state. A page needs that map as a program. A `Symbol` behaves like the number or array
whose value it has: an operation on it is done by NumPy on values, and remembers itself.
So set-up runs as always, and afterwards `Program` does the same with the functions of
the same names in `jax.numpy`, of which there is a jaxpr.

- **Branches.** Where code asks whether a symbol is true, the value decides, and a
  *guard* is kept: the jaxpr is that of all settings for which every guard is as it was.
- **Leaks.** Where code takes a plain number out of a symbol (`float(x)`, a shape), the
  numbers that it is made of are *leaked*: the jaxpr does not know what they did, and
  no page may change them.
- **Scaled draws.** A symbol that is a scalar times a known array stays in two factors
  through linear functions, so that a page has to hold the small result of a draw (a
  factor of a Gram matrix) and not the draw.
"""

import linecache
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnflow.browser.symbols.namesakes import name_of, namesake
from attnflow.browser.symbols.tree import leaves, mapped

LINEAR = {
    *("reshape", "ravel", "swapaxes", "transpose", "moveaxis", "concatenate", "stack"),
    *("sum", "mean", "tile", "broadcast_to", "expand_dims", "squeeze", "negative"),
    *("repeat", "diagonal", "trace", "take", "copy", "atleast_1d", "atleast_2d"),
    *("split",),
}
"""Functions of one array, or of a list of them, that are linear."""
UNKNOWN = {"linalg.qr", "linalg.svd", "linalg.eigh", "linalg.eigvalsh"}
"""Functions that no kernel has."""
BILINEAR = {"matmul", "multiply", "einsum", "dot", "inner", "outer", "tensordot"}


@dataclass(frozen=True)
class Guard:
    """A condition that set-up has asked for, its answer then, and its line of code."""

    symbol: "Symbol"
    answer: bool
    line: str


@dataclass
class Log:
    """What happened to symbols: guards in their order, and numbers that leaked."""

    guards: list[Guard] = field(default_factory=list)
    leaked: dict[str, str] = field(default_factory=dict)

    def leak(self, knobs: frozenset[str]) -> None:
        """Numbers that became plain ones, and where."""
        line = _place()
        for knob in knobs:
            self.leaked.setdefault(knob, line)


class Symbol:
    """A number or an array that depends on numbers of a setting."""

    __array_priority__ = 1000

    def __init__(
        self,
        value: Any,
        knobs: frozenset[str],
        log: Log,
        *,
        node: "Node | None" = None,
        factors: "tuple[Symbol, np.ndarray] | None" = None,
    ):
        self.value = value
        self.knobs, self.log, self.factors = knobs, log, factors
        self._node = node

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        # `isinstance(x, float)` must be true for a scalar, as it is for the plain
        # number.
        return type(self.value)

    @property
    def node(self) -> "Node":
        """How it came about."""
        if self._node is None:
            assert self.factors is not None
            self._node = Node("multiply", self.factors, {})
        return self._node

    # Functions of NumPy.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        if options.pop("out", None) is not None or method not in ("__call__", "reduce"):
            return NotImplemented
        if method == "reduce":
            names = {"add": "sum", "multiply": "prod", "maximum": "max"}
            names |= {"minimum": "min", "logical_and": "all", "logical_or": "any"}
            return getattr(np, names[ufunc.__name__])(*inputs, **options)
        return applied(self.log, ufunc, ufunc.__name__, inputs, options)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, options: Any
    ) -> Any:
        return applied(self.log, function, name_of(function), args, options)

    # Answers that a plain number would give.

    def __bool__(self) -> bool:
        answer = bool(self.value)
        self.log.guards.append(Guard(self, answer, _place()))
        return answer

    def __float__(self) -> float:
        self.log.leak(self.knobs)
        return float(self.value)

    def __int__(self) -> int:
        self.log.leak(self.knobs)
        return int(self.value)

    def __index__(self) -> int:
        self.log.leak(self.knobs)
        return self.value.__index__()

    def __array__(self, *args: Any, **options: Any) -> np.ndarray:
        self.log.leak(self.knobs)
        return np.asarray(self.value)

    def __round__(self, digits: int | None = None) -> Any:
        return np.round(self, digits or 0)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, how: str) -> str:
        return format(self.value, how)

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memory: object) -> "Symbol":
        return self

    def __copy__(self) -> "Symbol":
        return self

    # Arrays.

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator["Symbol"]:
        return (self[n] for n in range(len(self.value)))

    def __getitem__(self, where: Any) -> Any:
        return applied(self.log, operator.getitem, "getitem", (self, where), {})

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "nbytes"):
            return getattr(np.asarray(self.value), name)
        if name == "T":
            return np.transpose(self)
        if name == "real":
            return self
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return _Method(self, name)


class _Method:
    """A method of an array: that of its value and that of its tracer."""

    def __init__(self, symbol: Symbol, name: str):
        self.symbol, self.name = symbol, name

    def __call__(self, *args: Any, **options: Any) -> Any:
        symbol, name = self.symbol, self.name
        if name == "astype":
            kind = np.dtype(args[0])
            if kind.kind != "f":
                symbol.log.leak(symbol.knobs)
                return np.asarray(symbol.value).astype(kind)
            return symbol
        if name == "item":
            return symbol
        if name == "tolist":
            return [row.tolist() for row in symbol] if symbol.ndim else symbol
        if name in ("reshape", "transpose") and args and not isinstance(args[0], tuple):
            args = (args,)
        if name in ("view", "tobytes", "dump", "sort", "fill"):
            raise TypeError(f"A symbol has no {name}.")
        if name == "copy":
            return symbol
        return getattr(np, name)(symbol, *args, **options)


def _binary(name: str, *, swapped: bool = False) -> Callable[..., Any]:
    def operation(self: Symbol, other: Any) -> Any:
        if other is None or isinstance(other, str | tuple | list | dict):
            return NotImplemented
        pair = (other, self) if swapped else (self, other)
        return getattr(np, name)(*pair)

    return operation


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
}
for _short, _long in _OPERATORS.items():
    setattr(Symbol, f"__{_short}__", _binary(_long))
    setattr(Symbol, f"__r{_short}__", _binary(_long, swapped=True))
for _short, _long in {
    **{"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"},
    **{"eq": "equal", "ne": "not_equal", "and": "logical_and", "or": "logical_or"},
}.items():
    setattr(Symbol, f"__{_short}__", _binary(_long))
for _short, _long in {"neg": "negative", "abs": "abs", "invert": "logical_not"}.items():
    setattr(Symbol, f"__{_short}__", lambda self, name=_long: getattr(np, name)(self))


def is_symbol(value: object) -> bool:
    """Whether a value depends on numbers of a setting."""
    return type(value) is Symbol


@dataclass(frozen=True)
class Node:
    """An operation that was done: the name of its function, and its arguments.

    `part` is the number of its result, of a function that has several.
    """

    name: str
    args: Any
    options: dict[str, Any]
    part: int | None = None


def applied(
    log: Log,
    function: Callable[..., Any],
    name: str,
    args: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    """A function of values, which is remembered."""
    symbols = [x for x in leaves((args, options)) if is_symbol(x)]
    knobs = frozenset().union(*(s.knobs for s in symbols))
    result = function(*mapped(args, _value), **mapped(options, _value))
    if result is None:
        # It has written into an array, which is a plain one.
        log.leak(knobs)
        return None
    factors = _factors(function, name, args, options, symbols)
    if factors is not None:
        scale, unit = factors
        if isinstance(result, list):
            pairs = zip(result, unit, strict=True)
            return [Symbol(x, knobs, log, factors=(scale, one)) for x, one in pairs]
        return Symbol(result, knobs, log, factors=factors)
    if name in UNKNOWN:
        split = _split(symbols[0])
        if name == "linalg.qr" and not options and split and _is_positive(split[0]):
            # Scaling a matrix does not change the directions of its QR factor.
            turn, size = function(split[1])
            return turn, Symbol(result[1], knobs, log, factors=(split[0], size))
        log.leak(knobs)
        return result
    namesake(name)
    if isinstance(result, tuple | list):
        return tuple(
            Symbol(each, knobs, log, node=Node(name, args, options, part))
            for part, each in enumerate(result)
        )
    return Symbol(result, knobs, log, node=Node(name, args, options))


def number(name: str, value: float, log: Log) -> Symbol:
    """The symbol of a number of a setting."""
    return Symbol(value, frozenset([name]), log, node=Node("number", (name,), {}))


def _factors(
    function: Callable[..., Any],
    name: str,
    args: Sequence[Any],
    options: dict[str, Any],
    symbols: list[Symbol],
) -> "tuple[Symbol, np.ndarray] | None":
    """The result as a scalar times a known array, where that is exact but for rounding.

    A scalar symbol times an array that is known begins such a pair.
    """
    split = [_split(symbol) for symbol in symbols]
    if any(pair is None for pair in split):
        return None
    scales = [pair[0] for pair in split if pair is not None]
    if name in ("multiply", "true_divide") and len(args) == 2:
        return _product(name, args)
    if name in LINEAR or name == "getitem":
        if any(scale is not scales[0] for scale in scales):
            return None
        parts = args[0] if type(args[0]) in (list, tuple) else args[:1]
        if not all(map(is_symbol, parts)):
            return None
        return scales[0], function(*mapped(args, _unit), **options)
    if name in ("add", "subtract"):
        if len(symbols) < 2 or scales[0] is not scales[1] or not symbols[0].ndim:
            return None
        return scales[0], function(*mapped(args, _unit), **options)
    if name == "bincount" and not is_symbol(args[0]):
        return scales[0], function(*mapped(args, _unit), **options)
    if name in BILINEAR and all(not is_symbol(x) for x in leaves(options)):
        scale: Any = (
            scales[0] if len(scales) == 1 else np.multiply(scales[0], scales[1])
        )
        if len(scales) > 2:
            return None
        return scale, function(*mapped(args, _unit), **options)
    if name == "linalg.qr" and options.get("mode") == "r" and _is_positive(scales[0]):
        return scales[0], function(*mapped(args, _unit), **options)
    return None


def _is_positive(scale: Symbol) -> bool:
    return bool(np.greater(scale, 0.0))


def _product(name: str, args: Sequence[Any]) -> "tuple[Symbol, np.ndarray] | None":
    """Of a product or a quotient; `None` where it is a scalar."""
    left, right = args
    if name == "true_divide" and is_symbol(right) and right.ndim:
        return None
    if max(np.ndim(_value(left)), np.ndim(_value(right))) == 0:
        return None
    scales = [x for x in args if is_symbol(x)]
    parts = {id(x): _split(x) for x in scales}
    function = np.multiply if name == "multiply" else np.true_divide
    units, scalars = [], []
    for x in args:
        pair = parts.get(id(x)) if is_symbol(x) else None
        units.append(x if pair is None else pair[1])
        scalars.append(None if pair is None else pair[0])
    array = function(*units)
    first, second = scalars
    if first is None:
        return (second if name == "multiply" else 1.0 / second), array
    return (first if second is None else function(first, second)), array


def _split(symbol: Symbol) -> "tuple[Symbol, np.ndarray] | None":
    if symbol.factors is not None:
        return symbol.factors
    return None if symbol.ndim else (symbol, np.ones(()))


def _unit(x: Any) -> Any:
    pair = _split(x) if is_symbol(x) else None
    return x if pair is None else pair[1]


def _value(x: Any) -> Any:
    return x.value if is_symbol(x) else x


def _place() -> str:
    """The line of code that asked, outside of this package."""
    frame, here = sys._getframe(1), os.path.dirname(__file__)
    while frame.f_code.co_filename.startswith(here) and frame.f_back is not None:
        frame = frame.f_back
    path, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, number).strip()
    return f"{path.rpartition('attnflow/')[2]}:{number}: {text}"
