"""Write a new paper's package from the files beside this one."""

import shutil
import string
from dataclasses import asdict
from importlib.resources import as_file, files
from pathlib import Path

from attnflow._version import __version__
from attnflow.cli.scaffold.names import Names, names_of

SUFFIX = ".template"
FOLDER = "PACKAGE"


class _Template(string.Template):
    """Text with places such as `§package`: `$` and braces stay what they are."""

    delimiter = "§"


def write_paper(name: str, into: Path = Path()) -> list[Path]:
    """Write the package of a new paper into the directory `into`.

    **Arguments:**

    - `name`: the paper's short name, such as `needle`; the package gets a directory
      of this name.

    **Returns:** the files, as paths below `into`. Nothing is overwritten, and nothing
    is left where not all of it could be written.
    """
    names = names_of(name)
    home = into / names.slug
    _check_place(into, home)
    try:
        return [_write(home, path, text) for path, text in _filled(names)]
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _check_place(into: Path, home: Path) -> None:
    if not into.is_dir():
        raise ValueError(
            f"There is no directory {into} to write into. Make it, or give another by "
            "--into."
        )
    if home.exists():
        raise ValueError(
            f"{home} exists already, and nothing is overwritten. Move it away, choose "
            "another name, or write elsewhere by --into."
        )


def _filled(names: Names) -> list[tuple[str, str]]:
    """Relative paths and texts of all files, with the names in their places."""
    places = {**asdict(names), "version": __version__}
    with as_file(files("attnflow.cli.scaffold") / "template") as root:
        found = [(path, path.read_text("utf-8")) for path in root.rglob(f"*{SUFFIX}")]
        relative = [(path.relative_to(root).as_posix(), text) for path, text in found]
    return [
        (
            path.removesuffix(SUFFIX).replace(FOLDER, names.package),
            _Template(text).substitute(places),
        )
        for path, text in sorted(relative)
    ]


def _write(home: Path, path: str, text: str) -> Path:
    place = home / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")
    return place
