"""Papers of other packages: entry points of the group `attnflow.papers`.

A package registers a paper in its `pyproject.toml`, under the paper's short name:

    [project.entry-points."attnflow.papers"]
    needle = "needle:PAPER"

This file only finds entry points and files; `attnflow.papers` loads them.
"""

import importlib.util
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

GROUP = "attnflow.papers"


def registered() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points by the short name that they claim, which several may."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def package_of(slug: str) -> str | None:
    """The module in which the paper of another package is; `None` without one."""
    points = registered().get(slug, ())
    return points[0].module if points else None


def files_of(slug: str) -> tuple[Path, list[Path]] | None:
    """The folder of another package's paper and its Python files, in a fixed order."""
    module = package_of(slug)
    spec = importlib.util.find_spec(module) if module else None
    if spec is None or spec.origin is None:
        return None
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        return origin.parent, [origin]
    return origin.parent, sorted(origin.parent.rglob("*.py"))


def distribution_of(point: EntryPoint) -> str:
    """The name of the package to which an entry point belongs, for messages."""
    return f"the package {point.dist.name}" if point.dist else "an unnamed package"
