"""Papers of other packages: entry points of the group `attnflow.papers`.

A package registers a paper in its `pyproject.toml`, under the paper's short name:

    [project.entry-points."attnflow.papers"]
    needle = "needle:PAPER"

This file only finds entry points; `attnflow.papers` loads them.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

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


def distribution_of(point: EntryPoint) -> str:
    """The name of the package to which an entry point belongs, for messages."""
    return f"the package {point.dist.name}" if point.dist else "an unnamed package"
