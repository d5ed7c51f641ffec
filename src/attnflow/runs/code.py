"""The code that a result depends on, derived from imports, and a digest of it.

A stored run, verdict or figure is stale where code that can change it has changed.
Which code that is follows from imports: a result begins with the modules that compute,
judge or draw it, and depends on every module of their packages that these import, at
any depth. The digest of a module leaves out what changes no number: comments,
docstrings, imports for type checkers, and those fields of declarations that only pages
show (`PAGE_TEXTS`).

Two habits of the code base make this exact. An `__init__` holds exports alone, so that
an import from a lazy package means the module that its `__init__.pyi` names; and a
function that is named by a text (`module:function`) counts as imported.
"""

import ast
import functools
import hashlib
import importlib.util
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from attnflow.schema import files
from attnflow.schema.installation import LIBRARIES, cache_directory, library_versions

RUN = ("attnflow.experiments.run", "attnflow.observables")
"""What computes every run, beside the experiment's own modules."""

PAGE_TEXTS = {
    "Exhibit": {"title", "caption", "silent"},
    "Claim": {"source"},
    "Note": {"place", "printed", "ours", "status", "source"},
    "Paper": {"title", "summary", "version_read", "notes", "inventory", "bibtex"}
    | {"replies"},
}
"""Fields of declarations that no computation, judge or drawing reads."""

Reference = tuple[str, str, tuple[str, ...]]
"""A module, a name imported from it (or none), and what is taken from that name."""

_BEGUN = time.time()
_MODULE = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|\.[A-Za-z_]\w*")
_FORMAT = 2


@functools.cache
def code_digest(*modules: str) -> str:
    """A digest of these modules, of all that they import, and of library versions."""
    total = hashlib.sha256(repr(sorted(library_versions().items())).encode())
    for name, content in sorted(_closure(modules).items()):
        total.update(f"{name} {content}\n".encode())
    return total.hexdigest()[:16]


def code_file() -> Path:
    """The file with what was parsed of code in earlier sessions."""
    return cache_directory() / "attnflow" / "code.sealed"


def sources(*modules: str) -> set[Path]:
    """The files of the modules on which a result that begins with these depends."""
    return {path for name in _closure(modules) if (path := _file(name)) is not None}


def imports_others(*modules: str) -> bool:
    """Whether the digest of these modules leaves out a package that they import.

    Of code that is not ours, only the packages of the modules themselves are covered.
    What attnflow imports too, such as xarray, is taken not to change any number.
    """
    ours, theirs = set[str](), set[str]()
    known = _files(code_file())
    reached = _closure(modules)
    for name in reached:
        path = _file(name)
        assert path is not None
        tops = {module.partition(".")[0] for module, *_ in known.module(name, path)[1]}
        (ours if name.startswith("attnflow.") else theirs).update(tops)
    covered = {name.partition(".")[0] for name in (*modules, *reached)}
    others = theirs - ours - covered - sys.stdlib_module_names - {*LIBRARIES}
    return any(map(_is_installed, others))


@functools.cache
def _is_installed(package: str) -> bool:
    with suppress(ImportError, ValueError):
        return bool(package) and importlib.util.find_spec(package) is not None
    return False


def is_newer_than_session(*modules: str) -> bool:
    """Whether a source of these modules was written after this session began.

    The digest is that of the file; what this session has imported may be older.
    """
    try:
        return any(_written(path) > _BEGUN for path in sources(*modules))
    except FileNotFoundError:
        # Another version is being put in place, or was.
        return True


def _written(path: Path) -> float:
    """When a file was written, or put in its place with an older time."""
    state = path.stat()
    return max(state.st_mtime, state.st_ctime)


def modules_behind(value: object) -> Iterator[str]:
    """Modules that define a function or a record, with what is bound or stored in it.

    A function counts by its module, a record by that of its class and by its fields, a
    partial function by the function and its arguments.
    """
    if isinstance(value, functools.partial):
        yield from modules_behind((value.func, *value.args, value.keywords))
    elif isinstance(value, Mapping):
        yield from modules_behind(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from modules_behind(part)
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value).__module__
        for field in fields(value):
            yield from modules_behind(getattr(value, field.name, None))
    elif callable(value):
        yield getattr(value, "__module__", None) or type(value).__module__


def signature(value: object) -> str:
    """A function or record as text: names, with arguments and fields that they carry.

    Texts of functions as Python gives them have addresses in memory, which differ from
    process to process.
    """
    if isinstance(value, functools.partial):
        arguments = (*value.args, *sorted(value.keywords.items()))
        return f"{signature(value.func)}{signature(arguments)}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(signature, value))})"
    if isinstance(value, Mapping):
        return f"{{{signature(list(value.items()))}}}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = [(f.name, getattr(value, f.name)) for f in fields(value)]
        return f"{type(value).__qualname__}{signature(parts)}"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    return repr(value)


def _closure(modules: Iterable[str]) -> dict[str, str]:
    """Digests of the modules that are reached, by name."""
    waiting = list(modules)
    lost = [m for m in waiting if m.startswith("attnflow.") and _file(m) is None]
    if lost:
        raise ValueError(f"There are no modules {lost}: their code would be missed.")
    packages = {"attnflow", *(module.partition(".")[0] for module in waiting)}
    reached: dict[str, str] = {}
    files = _files(code_file())
    while waiting:
        name = waiting.pop()
        path = _file(name) if name.partition(".")[0] in packages else None
        if path is not None and name not in reached:
            reached[name], references = files.module(name, path)
            for module, imported, attributes in references:
                waiting += _targets(files, module, imported, tuple(attributes))
    files.keep()
    return reached


@functools.cache
def _targets(
    files: "_Files", module: str, name: str, attributes: tuple[str, ...]
) -> list[str]:
    """The modules that a reference means."""
    if _file(module) is None:
        return []
    inner = f"{module}.{name}" if name else module
    if _file(inner) is None:
        homes = files.exports(module)
        home = (homes or {}).get(name)
        return _targets(files, home, name, ()) if home else [module]
    exports = files.exports(inner)
    if exports is None:
        return [inner]
    inside = [
        name for name in attributes if name in exports or _file(f"{inner}.{name}")
    ]
    return [target for name in inside for target in _targets(files, inner, name, ())]


@functools.cache
def _file(module: str) -> Path | None:
    """The file of a module, found without importing it; `None` where there is none."""
    top, _, rest = module.partition(".")
    origin = _origin(top)
    if origin is None or not rest:
        return origin
    base = origin.parent.joinpath(*rest.split("."))
    candidates = (base / "__init__.py", base.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


@functools.cache
def _origin(package: str) -> Path | None:
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package) if package else None
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            return Path(spec.origin)
    return None


class _Files:
    """What was parsed of files, kept between sessions by their time and size."""

    def __init__(self, path: Path):
        self.path = path
        self.changed = False
        self.files: dict[str, list] = {}
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = files.read_head(path)
            self.files = content["files"] if content["format"] == _FORMAT else {}

    def module(self, name: str, path: Path) -> tuple[str, list[Reference]]:
        """The digest of a module's file, and what it refers to."""
        return self._read(name, path, path.stat(), _parse)

    def exports(self, package: str) -> dict[str, str] | None:
        """Names that a lazy package exports, with their modules; `None` if not lazy."""
        path = _file(package)
        if path is None or path.stem != "__init__":
            return None
        stub = path.with_suffix(".pyi")
        try:
            return self._read(package, stub, stub.stat(), _parse_stub)
        except FileNotFoundError:
            return None

    def _read(
        self,
        name: str,
        path: Path,
        state: os.stat_result,
        parse: Callable[[str, Path], Any],
    ) -> Any:
        # The time of the content may be set: packages that are built reproducibly have
        # one for all versions. That of the last change on this disk is never set.
        stamp = [name, state.st_mtime_ns, state.st_ctime_ns, state.st_size]
        entry = self.files.get(str(path))
        if entry is None or entry[0] != stamp:
            entry = self.files[str(path)] = [stamp, parse(name, path)]
            self.changed = True
        return entry[1]

    def keep(self) -> None:
        """Write what is new, where the directory allows it."""
        if self.changed:
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                content = {"format": _FORMAT, "files": self.files}
                files.write_sealed(self.path, content)
                self.changed = False


_files = functools.cache(_Files)


def _parse(module: str, path: Path) -> tuple[str, list[Reference]]:
    """The digest of a file without texts, and its references to other modules."""
    tree = ast.parse(path.read_text("utf-8"))
    _strip(tree)
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    references = sorted({*_imports(tree, package), *_paths(tree, package)})
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16], references


def _parse_stub(package: str, stub: Path) -> dict[str, str]:
    """Names that the stub of a lazy package exports, with their modules."""
    return {
        alias.asname or alias.name: f"{package}.{node.module}"
        for node in ast.parse(stub.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _strip(tree: ast.Module) -> None:
    """Take docstrings, texts of pages and imports for type checkers out of a tree."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [part for part in body if not _is_idle(part)] or [ast.Pass()]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = PAGE_TEXTS.get(node.func.id, set())
            node.keywords = [k for k in node.keywords if k.arg not in texts]


def _is_idle(node: ast.AST) -> bool:
    """Whether a statement does nothing when it runs."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _imports(tree: ast.AST, package: str) -> Iterator[Reference]:
    """The imports of a module, with what is taken from each of them."""
    taken: dict[str, set[str]] = {}
    bound: list[tuple[str, str, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            taken.setdefault(node.value.id, set()).add(node.attr)
        elif isinstance(node, ast.Import):
            bound += [(a.name, "", a.asname or a.name) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: package.count(".") + 2 - node.level]
            module = ".".join([*(parts if node.level else ()), node.module or ""])
            module = module.rstrip(".")
            bound += [(module, a.name, a.asname or a.name) for a in node.names]
    for module, name, local in bound:
        yield module, name, tuple(sorted(taken.get(local, ())))


def _paths(tree: ast.AST, package: str) -> Iterator[Reference]:
    """The modules that texts of a module name: `a.b:f`, or in parts `a.b` and `.c:f`.

    Parts are those of the paper to which the module belongs; a package that is named
    stands for all of it.
    """
    texts = {
        node.value.partition(":")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    paths = {path for path, colon, _ in texts if colon and _MODULE.fullmatch(path)}
    yield from ((path, "", ()) for path in paths if not path.startswith("."))
    paper = _paper_around(package)
    parts = {text for text, _, _ in texts if paper and text.startswith(f"{paper}.")}
    for part in sorted(parts):
        yield from ((module, "", ()) for module in _within(part))
    for end in paths:
        for base in (paper, *parts) if end.startswith(".") else ():
            yield f"{base}{end}", "", ()


def _paper_around(package: str) -> str:
    """The package of the paper to which a package belongs; none for the core."""
    parts = package.split(".")
    if parts[0] != "attnflow":
        return parts[0]
    return ".".join(parts[:3]) if parts[1:2] == ["papers"] and parts[2:] else ""


def _within(module: str) -> Iterator[str]:
    """A module, or all modules of a package."""
    path = _file(module)
    if path is not None and path.stem == "__init__":
        for inner in sorted(path.parent.rglob("*.py")):
            parts = inner.relative_to(path.parent).with_suffix("").parts
            yield ".".join([module, *parts]).removesuffix(".__init__")
    yield module
