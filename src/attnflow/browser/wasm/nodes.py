"""Expressions and statements of WebAssembly, the language of all that is emitted.

Elementary functions, drivers and compiled jaxprs are all written in it. An expression
is a `Node` with a type; memory is one heap of cells of eight bytes, each of which
holds a float64 or an int64, and a cell is addressed by a buffer and an affine index.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Type: TypeAlias = Literal["f64", "i64", "i32"]
CELL = 8
"""Bytes of a cell."""


class Node:
    """An expression: an operation, its type and its arguments."""

    __slots__ = ("args", "op", "type")
    type: Type

    def __init__(
        self, op: str, type: Type, *args: "Node | Buffer | Index | float | str"
    ):
        self.op, self.args = op, args
        self.type = type

    def __add__(self, other: "Number") -> "Node":
        return binary("add", self, other)

    def __sub__(self, other: "Number") -> "Node":
        return binary("sub", self, other)

    def __mul__(self, other: "Number") -> "Node":
        return binary("mul", self, other)

    def __truediv__(self, other: "Number") -> "Node":
        return binary("div", self, other)

    def __rsub__(self, other: "Number") -> "Node":
        return binary("sub", constant(other, self.type), self)

    def __rmul__(self, other: "Number") -> "Node":
        return binary("mul", constant(other, self.type), self)

    def __radd__(self, other: "Number") -> "Node":
        return binary("add", constant(other, self.type), self)

    def __rtruediv__(self, other: "Number") -> "Node":
        return binary("div", constant(other, self.type), self)

    def __neg__(self) -> "Node":
        if self.type == "f64":
            return unary("neg", self)
        return constant(0, self.type) - self

    def __and__(self, other: "Number") -> "Node":
        return binary("and", self, other)

    def __or__(self, other: "Number") -> "Node":
        return binary("or", self, other)

    def __lshift__(self, other: "Number") -> "Node":
        return binary("shl", self, other)

    def __rshift__(self, other: "Number") -> "Node":
        return binary("shr_u", self, other)

    def __lt__(self, other: "Number") -> "Node":
        return compare("lt", self, other)

    def __le__(self, other: "Number") -> "Node":
        return compare("le", self, other)

    def __gt__(self, other: "Number") -> "Node":
        return compare("gt", self, other)

    def __ge__(self, other: "Number") -> "Node":
        return compare("ge", self, other)


Number: TypeAlias = Node | float | int


class Local(Node):
    """A local variable, by its identity."""

    __slots__ = ()

    def __init__(self, type: Type):
        super().__init__("local", type)


class Buffer:
    """A stretch of cells; where it begins is decided when all are known."""

    __slots__ = ("kept", "name", "offset", "size")

    def __init__(self, size: int, *, name: str = "", kept: bool = False):
        self.size, self.name, self.kept = max(1, size), name, kept
        self.offset: int | None = None


class Index:
    """An affine index of cells: `constant + Σ factor · term`, terms of type i32."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int = 0, terms: dict[Node, int] | None = None):
        self.constant, self.terms = int(constant), terms or {}

    def __add__(self, other: "Index | int") -> "Index":
        if not isinstance(other, Index):
            return Index(self.constant + other, self.terms)
        terms = dict(self.terms)
        for term, factor in other.terms.items():
            total = terms.get(term, 0) + factor
            if total:
                terms[term] = total
            else:
                terms.pop(term, None)
        return Index(self.constant + other.constant, terms)

    def __mul__(self, factor: int) -> "Index":
        if not factor:
            return Index()
        terms = {term: factor * old for term, old in self.terms.items()}
        return Index(factor * self.constant, terms)


def at(term: Node) -> Index:
    """The index that a node of type i32 is."""
    return Index(0, {term: 1})


def constant(value: Number, type: Type = "f64") -> Node:
    """A constant, or the node that is given."""
    if isinstance(value, Node):
        return value
    return Node("const", type, float(value) if type == "f64" else int(value))


def unary(name: str, x: Node) -> Node:
    """An operation of WebAssembly on one operand of its own type."""
    return Node(f"{x.type}.{name}", x.type, x)


def binary(name: str, x: Node, y: Number) -> Node:
    """An operation of WebAssembly on two operands of one type."""
    return Node(f"{x.type}.{name}", x.type, x, constant(y, x.type))


def compare(name: str, x: Node, y: Number) -> Node:
    """A comparison, signed for integers: 0 or 1 as i32."""
    signed = "" if x.type == "f64" or name in ("eq", "ne") else "_s"
    return Node(f"{x.type}.{name}{signed}", "i32", x, constant(y, x.type))


def equal(x: Node, y: Number) -> Node:
    """Whether two nodes are equal."""
    return compare("eq", x, y)


def negation(x: Node) -> Node:
    """Whether an i32 is 0."""
    return Node("i32.eqz", "i32", x)


def choice(condition: Node, yes: Number, no: Number) -> Node:
    """`yes` where the condition is not 0; both are evaluated."""
    types: list[Type] = [x.type for x in (yes, no) if isinstance(x, Node)]
    type: Type = types[0] if types else "f64"
    yes, no = constant(yes, type), constant(no, type)
    return Node("select", type, yes, no, condition)


def convert(op: str, type: Type, x: Node) -> Node:
    """An operation whose result has another type, such as `f64.convert_i64_s`."""
    return Node(op, type, x)


def bits(x: Node) -> Node:
    """The bits of a float64 as i64."""
    return convert("i64.reinterpret_f64", "i64", x)


def from_bits(x: Node) -> Node:
    """The float64 of these bits."""
    return convert("f64.reinterpret_i64", "f64", x)


def call(name: str, type: Type, *args: Node) -> Node:
    """The result of a function of the module."""
    return Node("call", type, name, *args)


def load(buffer: Buffer | None, index: Index, type: Type = "f64") -> Node:
    """A cell of the heap: of a buffer, or counted from the heap's beginning."""
    return Node("load", type, *([] if buffer is None else [buffer]), index)


@dataclass(slots=True)
class Set:
    """A local variable takes a value."""

    local: Local
    value: Node


@dataclass(slots=True)
class Store:
    """A cell takes a value, of type f64 or i64."""

    buffer: Buffer | None
    index: Index
    value: Node


@dataclass(slots=True)
class For:
    """A loop over `variable` from 0 to `count − 1`; a constant count is positive."""

    variable: Local
    count: int | Node
    body: "list[Statement]"


@dataclass(slots=True)
class While:
    """`before`, then `body` again and again while the condition is not 0."""

    before: "list[Statement]"
    condition: Node
    body: "list[Statement]"


@dataclass(slots=True)
class If:
    """One of two lists of statements."""

    condition: Node
    then: "list[Statement]"
    otherwise: "list[Statement]" = field(default_factory=list)


@dataclass(slots=True)
class Do:
    """A function without a result is called."""

    name: str
    args: Sequence[Node] = ()


@dataclass(slots=True)
class Block:
    """Statements of their own: they share no local variables with what is around."""

    body: "list[Statement]"


@dataclass(slots=True)
class Return:
    """The end of a function, with its result."""

    value: Node | None = None


Statement: TypeAlias = Set | Store | For | While | If | Do | Block | Return


@dataclass
class Function:
    """A function of a module; an `exported` one is seen by its host."""

    name: str
    params: tuple[Local, ...]
    result: Type | None
    body: list[Statement]
    exported: bool = False
