"""Files of a site, from templates: complete or absent, and equal for equal contents.

    <site>/index.html            all papers
    <site>/assets/               style, script and KaTeX with its fonts
    <site>/<paper>/index.html    one paper, its figures and tables beside it

A page finds the shared files by relative addresses, so that the folder works from a
disk, from a web server, and wherever it is moved.
"""

import functools
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from attnflow.figures.formulas import mathematics
from attnflow.figures.style import themed
from attnflow.schema.files import new_file
from attnflow.site.pages.values import Table, number_text, seconds_text, sort_key

EXPLORER = "explore.html"
"""The explorer of a paper, beside its page."""
DARK = ".dark.svg"
"""How the name of a picture for dark pages ends."""

_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "attnflow"},
    "png": {"Software": None},
}


def copy_file(file: Path, target: Path) -> Path:
    """Copy a file in one step, into a folder that is created if need be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    content = file.read_bytes()
    with new_file(target) as copy:
        copy.write(content)
    return target


def save_figure(
    figure: Figure, paths: Iterable[Path], theme: str = "light"
) -> list[Path]:
    """Save a figure as SVG or PNG files; equal figures give equal files.

    The date that matplotlib writes by itself is left out, and ids in the SVG follow
    from its contents (`svg.hashsalt` of the style).
    """
    files = list(paths)
    with themed(theme), _laid_out(figure):
        for path in files:
            with new_file(path) as file:
                kind = path.suffix.removeprefix(".")
                figure.savefig(file, format=kind, metadata=_METADATA[kind])
    return files


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """The figure with its layout computed once, for whatever is saved meanwhile.

    For each file matplotlib computes it anew, and draws all of it twice.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        yield
        return
    engine.execute(figure)
    figure.set_layout_engine(None)
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


ASSETS = "assets"
_SOURCE = Path(__file__).parent / ASSETS


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
    """The place of a page in `directory`, after writing the shared files."""
    place = Place(directory, site or directory)
    place.directory.mkdir(parents=True, exist_ok=True)
    write_assets(place.site)
    return place


def write_assets(site: Path) -> Path:
    """Put style, script and KaTeX into the site; what is there already stays."""
    target = site / ASSETS
    for file in sorted(path for path in _SOURCE.rglob("*") if path.is_file()):
        copy = target / file.relative_to(_SOURCE)
        if not (copy.is_file() and copy.read_bytes() == file.read_bytes()):
            copy_file(file, copy)
    return target


@functools.cache
def environment() -> Environment:
    """The templates of the package; whatever they show is escaped."""
    templates = Environment(
        loader=PackageLoader("attnflow.site.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "number": number_text,
        "seconds": seconds_text,
        "anchor": anchor,
        "mathematics": mathematics,
        "sortable": sort_key,
    }
    return templates


def render(template: str, **values: object) -> str:
    """A template with values filled in, as HTML."""
    return environment().get_template(template).render(values)


def table_page(title: str, caption: str, table: Table) -> str:
    """A table on a page of its own."""
    sheet = Markup((_SOURCE / "style.css").read_text(encoding="utf-8"))
    return render("table.html", title=title, caption=caption, table=table, style=sheet)


def anchor(*parts: str) -> str:
    """An id within the page, such as `claim-B-Thm4.1-T2`."""
    return re.sub(r"[^\w.\-]+", "-", "-".join(parts)).strip("-")
