"""The bytes of one function: statements, addresses and local variables.

In a nest of loops an address is a sum of terms, each of which varies with one loop.
Its partial sums are computed at the head of the loop that they vary with, once for
each statement of the same address: engines do not do that themselves.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from attnflow.browser.wasm.nodes import (
    CELL,
    Block,
    Buffer,
    Do,
    For,
    Function,
    If,
    Index,
    Local,
    Node,
    Return,
    Set,
    Statement,
    Store,
    Type,
    While,
)
from attnflow.browser.wasm.opcodes import (
    LOADS,
    OPERATIONS,
    STORES,
    TYPES,
    signed,
    unsigned,
)

GET, SET, TEE = b"\x20", b"\x21", b"\x22"
BLOCK, LOOP, IF, ELSE, END = b"\x02\x40", b"\x03\x40", b"\x04\x40", b"\x05", b"\x0b"
ADD, MULTIPLY = OPERATIONS["i32.add"], OPERATIONS["i32.mul"]
LARGEST = 2**31


@dataclass(slots=True, eq=False)
class Slot:
    """A local variable of the function, whose number is known at its end."""

    type: Type
    number: int = -1


Code = list[bytes | Slot]


@dataclass(slots=True)
class Scope:
    """A loop: its variable, and what its head computes, by what that is."""

    variable: Local | None
    head: Code = field(default_factory=list)
    sums: dict[tuple, Slot] = field(default_factory=dict)


class Encoder:
    """Encodes a function; `numbers` are those of all functions of the module."""

    def __init__(self, function: Function, numbers: Mapping[str, int]):
        self.function, self.numbers = function, numbers
        self.params = {p: Slot(p.type) for p in function.params}
        self.slots: dict[Local, Slot] = dict(self.params)
        # Slots are used again from one block to the next.
        self.pool: dict[Type, list[Slot]] = {"f64": [], "i64": [], "i32": []}
        self.used: dict[Type, int] = {"f64": 0, "i64": 0, "i32": 0}
        self.scopes: list[Scope] = []
        self.shared: dict[Node, Slot | None] = {}

    def encode(self) -> bytes:
        """The function's entry in the section of code."""
        code = self.statements(self.function.body)
        number = 0
        for slot in self.params.values():
            slot.number, number = number, number + 1
        groups = [(type, slots) for type, slots in self.pool.items() if slots]
        for _, slots in groups:
            for slot in slots:
                slot.number, number = number, number + 1
        head = unsigned(len(groups)) + b"".join(
            unsigned(len(slots)) + bytes([TYPES[type]]) for type, slots in groups
        )
        body = head + b"".join(
            unsigned(x.number) if isinstance(x, Slot) else x for x in code
        )
        # A function with a result ends with a return; the code after it is unreachable.
        body += (b"\x00" if self.function.result else b"") + END
        return unsigned(len(body)) + body

    # -- statements

    def statements(self, body: Iterable[Statement]) -> Code:
        """Statements one after the other; outside of loops, each has a head."""
        code: Code = []
        for statement in body:
            if self.scopes:
                code += self.statement(statement)
                continue
            root = Scope(None)
            self.scopes = [root]
            inner = self.statement(statement)
            self.scopes = []
            code += root.head + inner
        return code

    def statement(self, statement: Statement) -> Code:
        """One statement."""
        self.shared = {}
        match statement:
            case Set(local, value):
                self.count(value)
                code = self.node(value)
                return [*code, SET, self.slot(local)]
            case Store(buffer, index, value):
                self.count(value)
                address, offset = self.address(buffer, index)
                memory = bytes([STORES[value.type]]) + b"\x03" + unsigned(offset)
                return [*address, *self.node(value), memory]
            case For():
                return self.loop(statement)
            case Do(name, args):
                code = [piece for arg in args for piece in self.node(arg)]
                return [*code, b"\x10" + unsigned(self.numbers[name])]
            case Return(value):
                if value is None:
                    return [b"\x0f"]
                self.count(value)
                return [*self.node(value), b"\x0f"]
            case Block(body):
                used = dict(self.used)
                code = self.apart(body)
                self.used = used
                return code
            case If() | While():
                return self.branch(statement)

    def loop(self, statement: For) -> Code:
        """A loop over a count that is known, or computed before it."""
        variable = self.slot(statement.variable)
        scope = Scope(statement.variable)
        zero: Code = [b"\x41\x00", SET, variable]
        if isinstance(statement.count, int):
            end: Code = [b"\x41" + signed(statement.count)]
            opening, closing = zero, []
        else:
            last = self.fresh("i32")
            end = [GET, last]
            self.shared = {}
            count = self.node(statement.count)
            opening = [*zero, *count, TEE, last, b"\x41\x00", b"\x4a", IF]
            closing = [END]
        self.scopes.append(scope)
        inner = self.statements(statement.body)
        self.scopes.pop()
        step: Code = [GET, variable, b"\x41\x01", ADD, TEE, variable]
        again: Code = [*step, *end, OPERATIONS["i32.lt_s"], b"\x0d\x00"]
        return [*opening, LOOP, *scope.head, *inner, *again, END, *closing]

    def branch(self, statement: If | While) -> Code:
        """What is done once or not, or again and again."""
        if isinstance(statement, If):
            self.count(statement.condition)
            condition = self.node(statement.condition)
            then = self.apart(statement.then)
            other = self.apart(statement.otherwise)
            return [*condition, IF, *then, *([ELSE, *other] if other else []), END]
        before = self.apart(statement.before)
        self.shared = {}
        self.count(statement.condition)
        condition = self.node(statement.condition)
        leave: Code = [OPERATIONS["i32.eqz"], b"\x0d\x01"]
        body = self.apart(statement.body)
        return [BLOCK, LOOP, *before, *condition, *leave, *body, b"\x0c\x00", END, END]

    def apart(self, body: Sequence[Statement]) -> Code:
        """Statements whose heads stay with them, unless a loop is around."""
        outer = self.scopes
        if all(scope.variable is None for scope in outer):
            self.scopes = []
        code = self.statements(body)
        self.scopes = outer
        return code

    # -- local variables

    def slot(self, local: Local) -> Slot:
        """The slot of a variable, from its first use on."""
        if local not in self.slots:
            self.slots[local] = self.fresh(local.type)
        return self.slots[local]

    def fresh(self, type: Type) -> Slot:
        """A slot that nothing else uses."""
        pool, used = self.pool[type], self.used[type]
        if used == len(pool):
            pool.append(Slot(type))
        self.used[type] += 1
        return pool[used]

    # -- expressions

    def count(self, node: Node) -> None:
        """Find the nodes that an expression has more than once: they are kept."""
        seen: set[Node] = set()
        todo = [node]
        while todo:
            node = todo.pop()
            if node.op in ("local", "const"):
                continue
            if node in seen:
                self.shared[node] = None
                continue
            seen.add(node)
            todo += [arg for arg in node.args if isinstance(arg, Node)]

    def node(self, node: Node) -> Code:
        """An expression; what is shared is computed once."""
        if node not in self.shared:
            return self.plain(node)
        slot = self.shared[node]
        if slot is not None:
            return [GET, slot]
        code = self.plain(node)
        slot = self.shared[node] = self.fresh(node.type)
        return [*code, TEE, slot]

    def plain(self, node: Node) -> Code:
        """An expression that is computed here."""
        if node.op == "const":
            return [_constant(node)]
        if node.op == "local":
            assert isinstance(node, Local)
            return [GET, self.slot(node)]
        if node.op == "load":
            *buffer, index = node.args
            assert isinstance(index, Index)
            whole = buffer[0] if buffer else None
            assert whole is None or isinstance(whole, Buffer)
            address, offset = self.address(whole, index)
            return [*address, bytes([LOADS[node.type]]) + b"\x03" + unsigned(offset)]
        code = [x for arg in node.args if isinstance(arg, Node) for x in self.node(arg)]
        if node.op == "call":
            return [*code, b"\x10" + unsigned(self.numbers[str(node.args[0])])]
        return [*code, OPERATIONS[node.op]]

    # -- addresses

    def address(self, buffer: Buffer | None, index: Index) -> tuple[Code, int]:
        """The code of an address, and the constant that the instruction adds."""
        start = 0
        if buffer is not None:
            assert buffer.offset is not None, f"The buffer {buffer.name} has no place."
            start = buffer.offset
        base = CELL * (start + index.constant)
        fixed = base < 0 or any(factor < 0 for factor in index.terms.values())
        parts: dict[int, list[tuple[Node, int]]] = {}
        for term, factor in index.terms.items():
            parts.setdefault(self.depth(term), []).append((term, CELL * factor))
        total = self.total(parts, base if fixed else 0)
        return total or [b"\x41\x00"], 0 if fixed else base

    def total(self, parts: dict[int, list[tuple[Node, int]]], base: int) -> Code:
        """A sum over terms by depth, whose part before a loop is kept at its head."""
        code: Code = [b"\x41" + signed(base)] if base else []
        key: tuple = (base,)
        innermost = len(self.scopes) - 1
        for depth in sorted(parts):
            for term, factor in parts[depth]:
                code = [*code, *self.product(term, factor), *([ADD] if code else [])]
                key = (*key, term, factor)
            if depth < innermost:
                scope = self.scopes[depth]
                if key not in scope.sums:
                    slot = scope.sums[key] = self.fresh("i32")
                    scope.head += [*code, SET, slot]
                code = [GET, scope.sums[key]]
        return code

    def product(self, term: Node, factor: int) -> Code:
        """A term of an address times its factor; nothing in it is shared."""
        shared, self.shared = self.shared, {}
        code = self.node(term)
        self.shared = shared
        return code if factor == 1 else [*code, b"\x41" + signed(factor), MULTIPLY]

    def depth(self, term: Node) -> int:
        """The innermost loop that a term varies with."""
        innermost = len(self.scopes) - 1
        if isinstance(term, Local):
            for depth, scope in enumerate(self.scopes):
                if scope.variable is term:
                    return depth
            return 0 if term in self.params else innermost
        inner = [x for x in term.args if isinstance(x, Node)]
        inner += [t for x in term.args if isinstance(x, Index) for t in x.terms]
        return max((self.depth(x) for x in inner), default=0)


def _constant(node: Node) -> bytes:
    value = node.args[0]
    if node.type == "f64":
        assert isinstance(value, float)
        return b"\x44" + struct.pack("<d", value)
    assert isinstance(value, int)
    return (b"\x41" if node.type == "i32" else b"\x42") + signed(value)
