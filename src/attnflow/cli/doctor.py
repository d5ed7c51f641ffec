"""`attnflow doctor`: what this machine has."""

import os
import platform
from importlib import metadata
from typing import Any

from attnflow.cli.guard import OTHERWISE, guarded
from attnflow.cli.output import Json, Output


@guarded
def doctor(json: Json = None) -> int:
    """Say what this machine has: versions, cores, the store, double precision."""
    from attnflow.schema.places import cache_directory

    output = Output(json)
    found = {
        "attnflow": metadata.version("attnflow"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": _cores(),
        "cache": str(cache_directory()),
        "store": _store(),
        "torch": _version("torch"),
        "packages": _packages(),
        "x64": _has_double_precision(),
    }
    output.give(found)
    for line in _lines(found):
        output.say(line)
    healthy = found["x64"] and all(found["packages"].values())
    return 0 if healthy else OTHERWISE


def _cores() -> int:
    # What this process may use, which in a container is less than there are.
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> dict[str, str | None]:
    import re

    wanted = metadata.requires("attnflow") or ()
    core = [text for text in wanted if "extra ==" not in text]
    names = [re.split(r"[^A-Za-z0-9_.-]", text, maxsplit=1)[0] for text in core]
    return {name: _version(name) for name in ("jaxlib", *names)}


def _store() -> dict[str, Any]:
    from attnflow.runs.run_files import StoreError
    from attnflow.runs.store import Store

    store = Store()
    trouble = ""
    try:
        store.check_writable()
    except StoreError as error:
        trouble = str(error)
    found = {"path": str(store.root), "writable": not trouble, "trouble": trouble}
    return {**found, "runs": len(store.list())}


def _has_double_precision() -> bool:
    import jax

    with jax.enable_x64(True):
        return bool(1.0 + jax.numpy.asarray(1e-12) > 1.0)


def _lines(found: dict[str, Any]) -> list[str]:
    store = found["store"]
    plain = ("attnflow", "python", "platform", "cores")
    return [
        *(f"{name:<12} {found[name]}" for name in plain),
        f"{'store':<12} {store['path']} ({store['runs']} runs)",
        f"{'':<12} {store['trouble'] or 'writable'}",
        f"{'cache':<12} {found['cache']}",
        f"{'x64':<12} {'works' if found['x64'] else 'DOES NOT WORK'}",
        f"{'torch':<12} {found['torch'] or 'not installed (only bench needs it)'}",
        *(f"{name:<12} {v or 'MISSING'}" for name, v in found["packages"].items()),
    ]
