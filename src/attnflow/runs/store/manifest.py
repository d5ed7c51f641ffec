"""Which files a stored run has: zarr takes a chunk that is gone for one of zeros.

Caches are cleaned file by file, and copies of them break off.
"""

import json
from pathlib import Path

NAME = "files.json"


def write_manifest(directory: Path, of: str) -> None:
    """Write down the names and sizes of all files of a folder of the directory."""
    (directory / NAME).write_text(json.dumps(_sizes(directory / of)), "utf-8")


def damage(directory: Path, of: str) -> str | None:
    """What is not as it was written; `None` where all is, or nothing is known."""
    try:
        written = json.loads((directory / NAME).read_text("utf-8"))
    except FileNotFoundError:
        # Runs that were stored before there were manifests.
        return None
    except (OSError, ValueError) as error:
        return f"{NAME} cannot be read ({error})."
    found = _sizes(directory / of)
    odd = [name for name in written if found.get(name) != written[name]]
    if not odd:
        return None
    return (
        f"{len(odd)} of {len(written)} files are gone or cut off, {odd[0]} the first."
    )


def _sizes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
