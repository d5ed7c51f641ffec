"""The source code of a claim: its judge, and what that calls of its paper.

A judge that is a record counts by the functions in it.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import CodeType
from typing import Any

Function = Callable[..., Any]
MOST = 12
"""How many functions of a claim are shown; beyond, a reader goes to the file."""


@dataclass(frozen=True)
class Source:
    """The text of a function, with its file and line."""

    name: str
    file: str
    line: int
    text: str


def sources(judge: Function, most: float = MOST) -> list[Source]:
    """The judge, then the functions of its own package that it calls, each once.

    At most `most` of them, in the order in which they are named.
    """
    seen: dict[Function, None] = {}
    waiting = list(functions_in(judge))
    package = next((_package(f) for f in waiting if not _is_core(f)), "attnflow")
    while waiting and len(seen) < most:
        function = waiting.pop(0)
        if function in seen or _package(function) != package:
            continue
        seen[function] = None
        waiting += list(_called(function))
    return [source for source in map(_source, seen) if source is not None]


def functions_in(value: object) -> Iterator[Function]:
    """The functions that a function, a record or a container of them consists of."""
    if isinstance(value, functools.partial):
        yield from functions_in((value.func, *value.args, value.keywords))
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from functions_in(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from functions_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from functions_in(part)
    elif inspect.isfunction(value):
        yield inspect.unwrap(value)


def _is_core(function: Function) -> bool:
    """Whether a function is attnflow's own, and of no paper."""
    return _package(function) == "attnflow"


def _package(function: Function) -> str:
    """`attnflow.papers.mixture` of a function in one of its modules."""
    parts = str(getattr(function, "__module__", "")).split(".")
    return ".".join(parts[:3] if parts[:2] == ["attnflow", "papers"] else parts[:1])


def _called(function: Function) -> Iterator[Function]:
    """Functions that a function names, in the order of their names in its code."""
    known = dict(getattr(function, "__globals__", {}))
    closure = inspect.getclosurevars(function).nonlocals
    for name in _names(function.__code__):
        value = closure.get(name, known.get(name))
        if not isinstance(value, type | Mapping | tuple | list):
            yield from functions_in(value)


def _names(code: CodeType) -> Iterator[str]:
    """Names in a function's code, and in functions that are written inside of it."""
    yield from (*code.co_names, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _source(function: Function) -> Source | None:
    """The text of a function; `None` where there is no file of it."""
    try:
        lines, line = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or ""
    except (OSError, TypeError):
        return None
    # The path relative to the package, or the whole path.
    parts = Path(file).parts
    # A clone, or a user, may be called so too: the package is the innermost of them.
    start = max((i for i, part in enumerate(parts) if part == "attnflow"), default=0)
    path = str(Path(*parts[start:]))
    return Source(function.__qualname__, path, line, "".join(lines).rstrip())
