"""Versions of what can change a result."""

import functools
import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable
from pathlib import Path

from attnflow.experiments.reached import reached
from attnflow.schema import installation as _installation

LIBRARIES = ("jax", "jaxlib", "diffrax", "equinox", "optax", "numpy", "scipy")
# What lies to the right of the Dataset cannot change a run.
NUMERICS = (
    "data",
    "models",
    "training",
    "observables",
    "experiments",
    "claims/statistics",
)
# Of a paper's folder: modules or packages of these names compute, the others judge.
OWN = (
    "experiments",
    "deep_experiments",
    "systems",
    "features",
    "maps",
    "computations",
)
# Of another package's paper everything may compute but what has these names.
JUDGING = ("claims", "figures", "exhibits", "notes", "stages")


@functools.cache
def library_versions() -> dict[str, str]:
    """Versions of the libraries that compute."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"python": platform.python_version(), **found}


@functools.cache
def code_version(paper: str) -> str:
    """A digest of the sources and libraries that can change a run of a paper."""
    root = Path(__file__).resolve().parent.parent
    total = hashlib.sha256(repr(sorted(library_versions().items())).encode())
    for folder, files in ((root, sources(root, paper)), foreign_sources(paper)):
        for file in files:
            total.update(file.relative_to(folder).as_posix().encode())
            total.update(file.read_bytes())
    return total.hexdigest()[:16]


@functools.cache
def setting_version(paper: str) -> str:
    """`code_version`, with the sources that say what a setting means.

    For what is known by its setting alone: computations, and cells of sweeps. The
    record of any other experiment has all numbers that its setting stands for.
    """
    root = Path(__file__).resolve().parent.parent
    return digest_files(code_version(paper), setting_sources(root, paper))


def digest_files(start: str, files: Iterable[Path]) -> str:
    """A digest of a text and of what is in some files."""
    total = hashlib.sha256(start.encode())
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:16]


def sources(root: Path, paper: str) -> list[Path]:
    """The files under `root` that can change a run of a paper, in a fixed order."""
    own = root / "papers" / paper
    places = [root / name for name in NUMERICS]
    places += [own / f"{name}{kind}" for name in OWN for kind in (".py", "")]
    return python_files(places)


def python_files(places: Iterable[Path]) -> list[Path]:
    """Files, and the Python files in folders, in this order; what is not there, not."""
    return [
        file
        for place in places
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
        if file.is_file()
    ]


def setting_sources(root: Path, paper: str) -> list[Path]:
    """The files under `root` that turn settings of a paper into numbers.

    Beside those that compute, whatever of the paper these import; and what mixes parts
    by their names.
    """
    within = f"papers/{paper}"
    own = [file for file in sources(root, paper) if root / within in file.parents]
    return [
        *reached(root, within, own),
        *python_files([root / "experiments" / "mixing"]),
    ]


def foreign_sources(paper: str) -> tuple[Path, list[Path]]:
    """The folder of another package's paper, and its files that can change a run."""
    folder, files = _installation.files_of(paper) or (Path(), [])
    parts = {file: file.relative_to(folder).parts[0] for file in files}
    return folder, [f for f in files if parts[f].removesuffix(".py") not in JUDGING]
