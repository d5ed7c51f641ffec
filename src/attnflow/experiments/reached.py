"""Which files of a package some of its files import, found without running them."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path


def reached(root: Path, within: str, starts: Iterable[Path]) -> list[Path]:
    """The files from which the `starts` take something, and the starts themselves.

    **Arguments:**

    - `root`: the folder of a package, whose name all its imports begin with.
    - `within`: a folder below it. What lies elsewhere is passed over, and so is the
      folder's own `__init__`, which no import from its modules means.
    """
    found: dict[Path, None] = {}
    waiting = list(starts)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = None
            waiting += [f for f in _imported(root, file) if _is_below(root, within, f)]
    return sorted(found)


def _imported(root: Path, file: Path) -> Iterator[Path]:
    """The files of modules that a file names in its imports."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        package, _, rest = node.module.partition(".")
        if package != root.name:
            continue
        place = root.joinpath(*rest.split("."))
        # `from package import module` names a file, `from module import name` none.
        for one in (place, *(place / alias.name for alias in node.names)):
            yield from filter(
                Path.is_file, (one.with_suffix(".py"), one / "__init__.py")
            )


def _is_below(root: Path, within: str, file: Path) -> bool:
    folder = root / within
    return folder in file.parents and file != folder / "__init__.py"
