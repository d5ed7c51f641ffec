"""Programs: phases of lowered statements and drivers, as one module."""

from collections.abc import Iterable, Sequence

from attnflow.browser import libm
from attnflow.browser.lowering.memory import Phases, walk
from attnflow.browser.wasm.module import Contents, module
from attnflow.browser.wasm.nodes import (
    Do,
    Function,
    Local,
    Node,
    Return,
    Statement,
    choice,
    compare,
    constant,
    convert,
)

PART = 50
"""Statements of a function: engines take long over large ones."""


def functions_of(phases: Phases) -> list[Function]:
    """Functions without arguments that execute the statements of each phase."""
    functions = []
    for name, statements in phases.items():
        calls: list[Statement] = []
        for start in range(0, len(statements), PART):
            part = f"{name}.{start // PART}"
            body = list(statements[start : start + PART])
            functions.append(Function(part, (), None, body))
            calls.append(Do(part))
        functions.append(Function(name, (), None, calls, exported=True))
    return functions


def assemble(
    functions: Sequence[Function], *, cells: int, contents: Contents = ()
) -> bytes:
    """A module of these functions and of the elementary ones that they call."""
    used = _called(functions)
    helpers = [libm.function(name) for name in libm.FUNCTIONS if name in used]
    if "clamped" in used:
        helpers.append(_clamped())
    return module([*helpers, *functions], cells=cells, contents=contents)


def _called(functions: Iterable[Function]) -> set[str]:
    names = set()
    for function in functions:
        for statement in function.body:
            for item in walk(statement):
                if isinstance(item, Node) and item.op == "call":
                    names.add(item.args[0])
    return names


def _clamped() -> Function:
    """An index as i32, moved into the range from 0 to its second argument."""
    index, most = Local("i64"), Local("i64")
    below = choice(compare("gt", index, most), most, index)
    inside = choice(compare("lt", index, 0), constant(0, "i64"), below)
    result = Return(convert("i32.wrap_i64", "i32", inside))
    return Function("clamped", (index, most), "i32", [result])
