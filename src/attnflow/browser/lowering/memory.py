"""Where buffers lie in memory: those that are never alive together share cells."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attnflow.browser.wasm.nodes import (
    Block,
    Buffer,
    Do,
    For,
    If,
    Index,
    Node,
    Return,
    Set,
    Statement,
    Store,
    While,
)

Phases = Mapping[str, Sequence[Statement]]
"""Statements by the name of the function that executes them."""


def parts(item: Any) -> Iterable[Any]:
    """What a statement, an expression or an index consists of."""
    match item:
        case Node():
            return item.args
        case Index():
            return item.terms
        case Set(_, value) | Return(value):
            return (value,)
        case Store(buffer, index, value):
            return (buffer, index, value)
        case For(_, count, body):
            return (count, *body)
        case While(before, condition, body):
            return (*before, condition, *body)
        case If(condition, then, otherwise):
            return (condition, *then, *otherwise)
        case Do(_, args):
            return args
        case Block(body):
            return body
    return ()


def walk(item: Any) -> Iterator[Any]:
    """A statement and all that it consists of; what is shared comes once."""
    seen, todo = set(), [item]
    while todo:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        todo += parts(item)


def place(phases: Phases, fixed: Sequence[Buffer], start: int = 0) -> int:
    """Give each buffer its offset, and return the number of cells.

    `fixed` come first, in this order. A buffer that only one phase uses is alive from
    its first to its last statement there; cells after that serve others. One that
    several phases use, or that is kept, has its cells alone.
    """
    for buffer in fixed:
        buffer.offset, start = start, start + buffer.size
    spans: dict[Buffer, dict[str, tuple[int, int]]] = {}
    for name, statements in phases.items():
        for number, statement in enumerate(statements):
            for item in walk(statement):
                if isinstance(item, Buffer) and item.offset is None:
                    own = spans.setdefault(item, {})
                    own[name] = (own.get(name, (number, number))[0], number)
    shared = [b for b, by_phase in spans.items() if b.kept or len(by_phase) > 1]
    for buffer in shared:
        buffer.offset, start = start, start + buffer.size
        del spans[buffer]
    ends = [_place_phase(name, spans, start) for name in phases]
    return max([start, *ends])


def _place_phase(
    phase: str, spans: dict[Buffer, dict[str, tuple[int, int]]], start: int
) -> int:
    """Place the buffers of one phase; the first gap that is large enough is taken."""
    own = [(by[phase], buffer) for buffer, by in spans.items() if phase in by]
    own.sort(key=lambda item: item[0])
    alive: list[tuple[int, int, int]] = []
    end = start
    for (first, last), buffer in own:
        alive = [item for item in alive if item[2] >= first]
        offset = start
        for begin, stop, _ in sorted(alive):
            if begin - offset >= buffer.size:
                break
            offset = max(offset, stop)
        buffer.offset = offset
        alive.append((offset, offset + buffer.size, last))
        end = max(end, offset + buffer.size)
    return end
