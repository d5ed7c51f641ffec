"""The site: a folder with a page for each paper, an index, and what pages share.

    <site>/index.html            all papers
    <site>/assets/               style, script and KaTeX with its fonts
    <site>/<paper>/index.html    one paper, its figures and tables beside it

A page finds the shared files by relative addresses, so that the folder works from a
disk, from a web server, and wherever it is moved.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from attnflow.site.pages.files import copy_file

ASSETS = "assets"


@dataclass(frozen=True)
class Place:
    """Where a page lies: its folder, and that of the site it belongs to.

    A page that stands alone is a site of its own.
    """

    directory: Path
    site: Path

    @property
    def assets(self) -> str:
        """The address of the shared files, seen from the page."""
        return self._address(self.site / ASSETS)

    @property
    def index(self) -> str:
        """The address of the index of all papers; empty for a page alone."""
        alone = self.site.resolve() == self.directory.resolve()
        return "" if alone else self._address(self.site / "index.html")

    def _address(self, target: Path) -> str:
        return Path(os.path.relpath(target, self.directory)).as_posix()


def place_of(directory: Path, site: Path | None = None) -> Place:
    """The place of a page in `directory`, with the shared files put in order."""
    place = Place(directory, site or directory)
    place.directory.mkdir(parents=True, exist_ok=True)
    write_assets(place.site)
    return place


def write_assets(site: Path) -> Path:
    """Put style, script and KaTeX into the site; what is there already stays."""
    target = site / ASSETS
    source = _source()
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        place = target / file.relative_to(source)
        if not (place.is_file() and place.read_bytes() == file.read_bytes()):
            copy_file(file, place)
    return target


def style() -> str:
    """The style sheet as text, for a page that is to be one file."""
    return (_source() / "style.css").read_text(encoding="utf-8")


def _source() -> Path:
    return Path(__file__).parent / ASSETS
