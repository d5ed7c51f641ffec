"""`attnflow doctor`, `data` and `bench`: this machine, its data sets and its speed."""

import os
import platform
import shutil
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow._version import __version__
from attnflow.cli.output import (
    OTHERWISE,
    Json,
    Output,
    Table,
    complain,
    guarded,
    number,
    shown_progress,
)

if TYPE_CHECKING:
    from attnflow.data.real import DataSet


VARIABLES = {
    "ATTNFLOW_STORE": "the directory of stored runs and verdicts",
    "ATTNFLOW_DATA": "the directory of data sets",
    "ATTNFLOW_CACHE": "the directory of compiled programs",
    "ATTNFLOW_DEBUG": "show tracebacks of wrong usage too",
    "XDG_CACHE_HOME": "the user's cache: where these three are by default",
    "ATTNFLOW_TRACES": "kept: what this code has traced before is not traced again",
    "XLA_FLAGS": "flags of the compiler; without it workers get one thread",
    "OMP_NUM_THREADS": "threads; without it workers get one",
    "OPENBLAS_NUM_THREADS": "threads; without it workers get one",
    "MKL_NUM_THREADS": "threads; without it workers get one",
    "MALLOC_MMAP_THRESHOLD_": "bytes of arrays that are returned at once; workers: 10⁶",
    "MALLOC_ARENA_MAX": "heaps of the C library; without it workers get one",
    "EQX_ON_ERROR": "checks inside compiled flows, which commands turn off",
    "PYTHONDONTWRITEBYTECODE": "Python keeps no compiled modules (see modules, above)",
}
"""Environment variables that attnflow reads, and what each of them decides."""


@guarded
def doctor(json: Json = None) -> int:
    """Show versions, directories, environment variables and float64 support."""
    output = Output(json)
    packages, directories, has_x64 = (
        _packages(),
        _directories(),
        _has_double_precision(),
    )
    facts = {
        "attnflow": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": _cores(),
        "cache": directories["cache"]["path"],
        "store": _store(),
        "directories": directories,
        "variables": variables(),
        "data": {item.id: _state(item) for item in _data_sets(None)},
        "torch": _version("torch"),
        "ffmpeg": shutil.which("ffmpeg"),
        "packages": packages,
        "x64": has_x64,
        "modules": _modules(),
    }
    output.give(facts)
    _show(output, facts)
    return 0 if has_x64 and all(packages.values()) else OTHERWISE


def variables() -> dict[str, str | None]:
    """The values of all variables that attnflow reads; `None` where one is not set."""
    return {name: os.environ.get(name) for name in VARIABLES}


def _show(output: Output, facts: dict[str, Any]) -> None:
    store = facts["store"]
    lines = {name: facts[name] for name in ("attnflow", "python", "platform", "cores")}
    lines["x64"] = "works" if facts["x64"] else "DOES NOT WORK"
    lines["modules"] = facts["modules"]["trouble"] or "compiled"
    use = "bench, .pt files and the published random numbers of scansnap"
    lines["torch"] = facts["torch"] or f"not installed (for {use})"
    lines["ffmpeg"] = facts["ffmpeg"] or "not installed (for .mp4 animations)"
    for name, value in lines.items():
        output.say(f"{name:<12} {value}")
    output.say("\nDirectories")
    rows = [
        (name, entry["path"], entry["trouble"] or entry["holds"])
        for name, entry in facts["directories"].items()
    ]
    output.show(Table(("directory", "path", "holds"), rows))
    output.say(f"Stored runs: {store['runs']}; {store['trouble'] or 'writable'}.")
    states = ", ".join(f"{name} {state}" for name, state in facts["data"].items())
    output.say(f"Data sets: {states}.\n")
    rows = [
        (name, "not set" if value is None else value, VARIABLES[name])
        for name, value in facts["variables"].items()
    ]
    output.show(Table(("variable", "value", "what it decides"), rows))
    rows = [(n, version or "MISSING") for n, version in facts["packages"].items()]
    output.show(Table(("package", "version"), rows))


def _directories() -> dict[str, dict[str, Any]]:
    """Every directory that attnflow uses, as it would be used now."""
    from attnflow.data.real import data_directory
    from attnflow.runs.store import Store
    from attnflow.schema.installation import cache_directory, programs_directory

    every = {
        "store": (Store().root, "runs and verdicts"),
        "data": (data_directory(), "data sets"),
        "compiled": (programs_directory(), "compiled programs"),
        "digests": (cache_directory() / "attnflow", "digests of code"),
        "cache": (cache_directory(), "the user's cache: by default the above"),
        "output": (
            Path("attnflow-output").absolute(),
            "figures and pages, unless --out",
        ),
    }
    return {
        name: {"path": str(path), "holds": holds, "trouble": _trouble(path)}
        for name, (path, holds) in every.items()
    }


def _trouble(path: Path) -> str:
    """Why nothing could be written there; nothing where it could."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        return f"CANNOT BE USED: {place} is not a directory"
    return "" if os.access(place, os.W_OK | os.X_OK) else f"{place} is READ-ONLY"


def _state(item: "DataSet") -> str:
    """Whether the files of a data set are here."""
    from attnflow.data.real import state_of

    try:
        states = {state_of(item, file) for file in item.files}
    except OSError as error:
        return f"not readable ({error.strerror})"
    return str(states.pop()) if len(states) == 1 else "incomplete"


def _cores() -> int:
    # The cores that this process may use, in a container fewer than the machine has.
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> dict[str, str | None]:
    import re

    required = metadata.requires("attnflow") or ()
    core = [text for text in required if "extra ==" not in text]
    names = [re.split(r"[^A-Za-z0-9_.-]", text, maxsplit=1)[0] for text in core]
    return {name: _version(name) for name in ("jaxlib", *names)}


def _store() -> dict[str, str | bool | int]:
    from attnflow.runs.store import Store, StoreError

    store = Store()
    trouble = ""
    try:
        store.check_writable()
    except StoreError as error:
        trouble = str(error)
    return {
        "path": str(store.root),
        "writable": not trouble,
        "trouble": trouble,
        "runs": len(store.list()),
    }


def _modules() -> dict[str, str | bool]:
    """Whether compiled modules of JAX, the largest import, are kept between starts."""
    found = find_spec("jax")
    compiled = bool(found and found.cached and Path(found.cached).is_file())
    place = Path(found.origin).parents[1] if found and found.origin else Path()
    trouble = f"NOT COMPILED, which slows every start: python -m compileall -q {place}"
    return {"compiled": compiled, "trouble": "" if compiled else trouble}


def _has_double_precision() -> bool:
    import jax

    with jax.enable_x64(True):
        return bool(1.0 + jax.numpy.asarray(1e-12) > 1.0)


data = typer.Typer(no_args_is_help=True, help="List and download data sets.")
Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A data set (default: all).")
]


@data.command("list")
@guarded
def list_sets(json: Json = None) -> int:
    """List the data sets, their files, and which of them are on this machine."""
    from attnflow.data.real import data_directory

    output = Output(json)
    content = _content(None)
    output.give({"directory": str(data_directory()), **content})
    output.say(f"Data sets in {data_directory()}\n")
    for item in content["datasets"]:
        output.say(f"{item['id']}: {item['title']} ({item['licence']})")
        rows = [
            (f["name"], f["state"], str(f["size"]), f["sha256"]) for f in item["files"]
        ]
        output.show(Table(("file", "state", "bytes", "sha256"), rows))
    return 0


@data.command("fetch")
@guarded
def fetch_sets(name: Name = None, json: Json = None) -> int:
    """Download missing files and verify their checksums."""
    from attnflow.cli.output import shown_progress
    from attnflow.data.real import fetch

    output = Output(json)
    with shown_progress() as bar:
        for item in _data_sets(name):
            bar.begin(item.id)
            fetch(item.id, progress=bar)
    _show_paths(output, name)
    return 0


@data.command("path")
@guarded
def path(name: Name = None, json: Json = None) -> int:
    """Print the paths of the files; exit code 1 if one is missing or damaged."""
    return 0 if _show_paths(Output(json), name) else OTHERWISE


def _show_paths(output: Output, name: str | None) -> bool:
    """Show where the files of data sets belong; whether all of them are there."""
    content = _content(name)
    output.give(content)
    files = [file for item in content["datasets"] for file in item["files"]]
    for file in files:
        output.say(file["path"])
    return all(file["state"] == "present" for file in files)


def _data_sets(name: str | None) -> "list[DataSet]":
    from attnflow.data.real import CATALOGUE, data_set

    return list(CATALOGUE.values()) if name is None else [data_set(name)]


def _content(name: str | None) -> dict[str, list[dict[str, Any]]]:
    """One data set, or all of them, as JSON gives them."""
    from attnflow.data.real import place_of, state_of

    return {
        "datasets": [
            {
                "id": item.id,
                "title": item.title,
                "licence": item.licence,
                "files": [
                    {
                        "name": file.name,
                        "path": str(place_of(item, file)),
                        "state": state_of(item, file),
                        "size": file.size,
                        "sha256": file.sha256,
                        "content_sha256": file.content,
                        "url": file.url,
                    }
                    for file in item.files
                ],
            }
            for item in _data_sets(name)
        ]
    }


@guarded
def bench(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="mixture, say (default: all).")
    ] = None,
    json: Json = None,
) -> int:
    """Benchmark reduced forms against plain weights and against PyTorch."""
    from attnflow import papers
    from attnflow.cli import benchmarks
    from attnflow.schema.installation import MissingData

    output = Output(json)
    if find_spec("torch") is None:
        complain(
            "Warning: PyTorch is not installed, so its column stays empty. "
            "Install it with: pip install 'attnflow[torch]'"
        )
    every = benchmarks.cases()
    # Mixed experiments (`mix`) have cases and are no paper.
    if paper is not None and paper not in {c.paper for c in every}:
        paper = papers.paper(paper).slug
    cases = [c for c in every if paper in (None, c.paper)]
    rows, failed = [], []
    with shown_progress() as bar:
        for k, case in enumerate(cases):
            bar.begin(f"{case.id} ({k + 1} of {len(cases)})")
            # A case that fails must not lose the minutes spent on the others.
            try:
                rows.append(benchmarks.run_case(case, bar))
            except RuntimeError as problem:
                failed.append(str(problem))
            except MissingData as missing:
                complain(f"{case.paper}/{case.id} is left out: {missing}")
    output.give({"cases": rows})
    times = ("first", "ours", "weights", "torch", "lean")
    fields = ("size", *times, "ratio", "lean_ratio", "spread", "agreement", "memory")
    cells = [
        (f"{row['paper']}/{row['id']}", *(number(row[name]) for name in fields))
        for row in rows
    ]
    output.show(Table(("case", *fields), cells))
    for message in failed:
        complain(message)
    return 1 if failed else 0
