"""Modules of WebAssembly: functions, one memory and its first contents, as bytes."""

import struct
from collections.abc import Sequence

from attnflow.browser.wasm.function import Encoder
from attnflow.browser.wasm.nodes import CELL, Function
from attnflow.browser.wasm.opcodes import TYPES, signed, unsigned

PAGE = 65536
"""Bytes of a page of memory."""
HEADER = b"\0asm" + struct.pack("<I", 1)
Contents = Sequence[tuple[int, bytes]]
"""Bytes of the memory at the start, by the cell that they begin at."""


def module(
    functions: Sequence[Function], *, cells: int, contents: Contents = ()
) -> bytes:
    """A module that exports its `memory` of some cells, and its exported functions.

    Nothing is imported, so that the same bytes compute the same everywhere.
    """
    numbers = {function.name: n for n, function in enumerate(functions)}
    if len(numbers) < len(functions):
        raise ValueError("Two functions of a module have one name.")
    types: dict[bytes, int] = {}
    used = [types.setdefault(_type(function), len(types)) for function in functions]
    exports = [
        _name(f.name) + b"\0" + unsigned(numbers[f.name])
        for f in functions
        if f.exported
    ]
    exports.append(_name("memory") + b"\x02\0")
    pages = -(-max(1, CELL * cells) // PAGE)
    return HEADER + b"".join(
        (
            _section(1, list(types)),
            _section(3, [unsigned(number) for number in used]),
            _section(5, [b"\0" + unsigned(pages)]),
            _section(7, exports),
            _section(10, [Encoder(f, numbers).encode() for f in functions]),
            _section(11, [_segment(cell, data) for cell, data in contents]),
        )
    )


def _type(function: Function) -> bytes:
    params = [bytes([TYPES[param.type]]) for param in function.params]
    results = [] if function.result is None else [bytes([TYPES[function.result]])]
    return b"\x60" + _vector(params) + _vector(results)


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _section(number: int, items: Sequence[bytes]) -> bytes:
    body = _vector(items)
    return bytes([number]) + unsigned(len(body)) + body if items else b""


def _name(text: str) -> bytes:
    data = text.encode()
    return unsigned(len(data)) + data


def _segment(cell: int, data: bytes) -> bytes:
    return b"\0\x41" + signed(CELL * cell) + b"\x0b" + unsigned(len(data)) + data
