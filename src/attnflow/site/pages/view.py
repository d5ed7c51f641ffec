"""What the page shows of one exhibit."""

import re
from dataclasses import dataclass
from pathlib import Path

from attnflow.papers.base import Paper
from attnflow.schema.declarations import Exhibit
from attnflow.site.pages.files import DARK
from attnflow.site.pages.markup import anchor
from attnflow.site.pages.result import ExhibitResult
from attnflow.site.pages.settings import Settings, settings_by_experiment
from attnflow.site.pages.table import Table, tabulate

PIXELS_PER_POINT = 96 / 72
USUAL_SIZE = (800, 500)
_SIZE = re.compile(r'<svg[^>]*\swidth="([\d.]+)pt"\s+height="([\d.]+)pt"')


@dataclass(frozen=True)
class ExhibitView:
    """An exhibit as the page shows it.

    Without a result, how to get one, and the `reason` why it could not be made here.
    """

    exhibit: Exhibit
    command: str
    result: ExhibitResult | None
    reason: str = ""

    @property
    def anchor(self) -> str:
        """Its id within the page."""
        return anchor("exhibit", self.exhibit.id)

    @property
    def picture(self) -> str:
        """The name of the picture."""
        return next(name for name in self._names() if name.endswith(".svg"))

    @property
    def dark_picture(self) -> str:
        """The name of the picture for a dark page; empty where there is none."""
        return next((name for name in self._names() if name.endswith(DARK)), "")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels, so that the page keeps still."""
        assert self.result is not None
        return _size(Path(self.result.files[0]))

    @property
    def files(self) -> list[tuple[str, str]]:
        """What there is to take away: kind and name of each file."""
        names = [name for name in self._names() if not name.endswith(DARK)]
        return [(Path(name).suffix.removeprefix("."), name) for name in names]

    @property
    def table(self) -> Table:
        """The values in the picture."""
        return tabulate(self.result.values if self.result else {})

    @property
    def settings(self) -> list[Settings]:
        """The settings of its runs, by experiment."""
        return settings_by_experiment(self.result.runs if self.result else ())

    def _names(self) -> list[str]:
        assert self.result is not None
        return [Path(name).name for name in self.result.files]


def exhibit_view(
    paper: Paper, exhibit: Exhibit, result: ExhibitResult | None, reason: str = ""
) -> ExhibitView:
    """The view of an exhibit of a paper."""
    command = f"attnflow reproduce {paper.slug}/{exhibit.id}"
    if result is not None and result.quick:
        command += " --quick"
    return ExhibitView(exhibit, command, result, reason)


def _size(svg: Path) -> tuple[int, int]:
    """The natural size of a picture in pixels."""
    with svg.open(encoding="utf-8") as file:
        head = file.read(2000)
    found = _SIZE.search(head)
    if found is None:
        return USUAL_SIZE
    width, height = (round(float(side) * PIXELS_PER_POINT) for side in found.groups())
    return width, height
