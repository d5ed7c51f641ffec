"""From the name that somebody typed to all names of a paper's package."""

import importlib.util
import keyword
import re
from dataclasses import dataclass

from attnflow.papers import TAKEN
from attnflow.schema.installation import registered

LONGEST_LETTER = 12


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


def names_of(name: str) -> Names:
    """All names of a paper, or a `ValueError` that says why this name cannot be."""
    if not re.fullmatch(r"[a-z][a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError(
            f"{name!r} is no name of a paper. Use two or more small letters and digits "
            f"that begin with a letter, words joined by hyphens, as in {_near(name)!r}."
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
