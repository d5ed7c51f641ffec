"""Arrays while a jaxpr is lowered: in memory, or still to be computed."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from attnflow.browser.wasm.nodes import (
    Buffer,
    Index,
    Node,
    Store,
    Type,
    convert,
    load,
)

Kind: TypeAlias = Literal["float64", "int64", "int32", "uint32", "uint8", "bool"]
KINDS: tuple[Kind, ...] = ("float64", "int64", "int32", "uint32", "uint8", "bool")
Indices: TypeAlias = Sequence[Index]
Read: TypeAlias = Callable[[Indices], Node]
Example: TypeAlias = Callable[[], np.ndarray | None]
ZERO = Index()


class Unsupported(ValueError):
    """What cannot be compiled for the web, by name."""


class Place(NamedTuple):
    """A stretch of a buffer that holds an array in row-major order."""

    buffer: Buffer
    start: int = 0


class Value:
    """An array: `read` gives the expression of an entry at some indices.

    - `level`: the block that it depends on; 0 holds what is computed once.
    - `lazy`: reading an entry computes it.
    - `place`: where it lies whole in memory, if it does.
    - `known`: its entries, where it is a constant.
    - `example`: entries that it has for some inputs, or `None`; a function, since
      these are computed only where somebody asks for them.
    """

    __slots__ = ("example", "kind", "known", "lazy", "level", "place", "read", "shape")
    kind: Kind

    def __init__(
        self,
        shape: Sequence[int],
        kind: Kind,
        read: Read,
        *,
        level: int,
        lazy: bool = False,
        place: Place | None = None,
        known: np.ndarray | None = None,
    ):
        self.shape, self.read = tuple(shape), read
        self.kind = kind
        self.level, self.lazy = level, lazy
        self.place: Place | None = place
        self.known = known
        self.example: Example = lambda: known

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)


def kind_of(dtype: np.dtype | type) -> Kind:
    """The kind of entries of a dtype."""
    name = getattr(dtype, "name", None) or np.dtype(dtype).name
    for kind in KINDS:
        if kind == name:
            return kind
    raise Unsupported(f"Arrays of {name} cannot be compiled; use float64 or int64.")


def type_of(kind: Kind) -> Type:
    """The type of an entry in an expression."""
    return "f64" if kind == "float64" else "i32" if kind == "bool" else "i64"


def ravel(indices: Indices, shape: Sequence[int]) -> Index:
    """The place of an entry in row-major order."""
    total = ZERO
    for index, size in zip(indices, shape, strict=True):
        total = total * size + index
    return total


def in_memory(
    place: Place,
    shape: Sequence[int],
    kind: Kind,
    *,
    level: int,
    known: np.ndarray | None = None,
) -> Value:
    """An array that lies in memory."""

    def read(indices: Indices) -> Node:
        return fetch(place, ravel(indices, shape), kind)

    return Value(shape, kind, read, level=level, place=place, known=known)


def fetch(place: Place, index: Index, kind: Kind) -> Node:
    """An entry from memory."""
    index = index + place.start
    if kind == "bool":
        return convert("i32.wrap_i64", "i32", load(place.buffer, index, "i64"))
    return load(place.buffer, index, type_of(kind))


def keep(place: Place, index: Index, value: Node) -> Store:
    """Put an entry into memory."""
    if value.type == "i32":
        value = convert("i64.extend_i32_u", "i64", value)
    return Store(place.buffer, index + place.start, value)


def as_cells(array: np.ndarray) -> np.ndarray:
    """Entries as the heap has them: float64, or int64 for all else."""
    flat = np.ascontiguousarray(array).ravel()
    return flat.astype(np.float64 if kind_of(flat.dtype) == "float64" else np.int64)
