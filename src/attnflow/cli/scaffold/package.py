"""A new paper's package, written from the template beside this file."""

import importlib.util
import keyword
import re
import shutil
import string
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path

from attnflow._version import __version__
from attnflow.papers import TAKEN
from attnflow.schema.files import write_text
from attnflow.schema.installation import registered

LONGEST_LETTER = 12
SUFFIX = ".template"
FOLDER = "PACKAGE"


@dataclass(frozen=True)
class Names:
    """What a new paper is called.

    - `slug`: on the command line; `package`: in Python.
    - `letter`: what ids of its claims begin with; `title`: in words.
    """

    slug: str
    package: str
    letter: str
    title: str


class _Template(string.Template):
    """Text with fields such as `§package`: `$` and braces stay what they are."""

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
    try:
        with as_file(files("attnflow.cli.scaffold") / "template") as root:
            templates = sorted(root.rglob(f"*{SUFFIX}"), key=Path.as_posix)
            return [_write(home, names, path, root) for path in templates]
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise


def _write(home: Path, names: Names, template: Path, root: Path) -> Path:
    """Write the file of a template, with the names filled in."""
    path = template.relative_to(root).as_posix().removesuffix(SUFFIX)
    file = home / path.replace(FOLDER, names.package)
    text = _Template(template.read_text("utf-8"))
    file.parent.mkdir(parents=True, exist_ok=True)
    fields = {**asdict(names), "version": __version__}
    return write_text(file, text.substitute(fields))


def names_of(name: str) -> Names:
    """All names of a paper, or a `ValueError` that says why this name cannot be."""
    if not re.fullmatch(r"[a-z][a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(
            f"{name!r} is not a valid paper name. Use two or more lower-case letters "
            "and digits that begin with a letter, words joined by hyphens, as in "
            f"{_near(name)!r}."
        )
    package = name.replace("-", "_")
    _check_free(name, package)
    words = name.split("-")
    letter = "".join(word.capitalize() for word in words)[:LONGEST_LETTER]
    return Names(name, package, letter, " ".join(words).capitalize())


def _near(name: str) -> str:
    parts = re.findall(r"[a-z0-9]+", name.lower())
    near = "-".join(parts).lstrip("0123456789-")
    return near if len(near) > 1 else "needle"


def _check_free(name: str, package: str) -> None:
    if name in TAKEN:
        raise ValueError(
            f"attnflow has experiments {name + '/…'!r} already. Choose another name, "
            f"such as {name + '-2'!r}."
        )
    if name in registered():
        raise ValueError(
            f"A paper {name!r} is installed already. Choose another name, or uninstall "
            "its package first."
        )
    if keyword.iskeyword(package) or importlib.util.find_spec(package) is not None:
        raise ValueError(
            f"{package!r} is a word of Python, or a module that is installed already, "
            f"so that no package can have this name. Use {name + '-paper'!r}."
        )
