"""Panels of a figure as records: what each shows, and how its axes are set."""

import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from attnflow import figures
from attnflow.schema.declarations import Evidence, Numbers

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from attnflow.figures.axes import Scale

ENDS = "ends"
"""Where names of curves stand unless said: beside their right ends."""
End = float | None
"""An end of an axis; `None` where the curves decide."""


@dataclass(frozen=True, kw_only=True)
class AbstractPanel(abc.ABC):
    """A panel: a table of the evidence, its picture on some axes, and its numbers.

    **Arguments:**

    - `title`: above the panel; `name`: the key of its table, without it the title.
    - `x`, `y`: names of the axes; `scales` of both.
    - `xlim`, `ylim`: ends of the axes.
    - `ticks`: how many numbers each axis has; one that is left out keeps its own.
    - `levels`: by name, numbers on the upward axis to compare with.
    - `names`: where the names of curves stand: `ends`, a place for a legend such as
      `upper left`, or nowhere if empty; or all options of `Axes.legend`.
    - `finish`: draws what no field says, given the axes and the panel's table.
    """

    title: str = ""
    name: str = ""
    x: str | None = None
    y: str = ""
    scales: "tuple[Scale, Scale]" = ("linear", "linear")
    xlim: tuple[End, End] | None = None
    ylim: tuple[End, End] | None = None
    ticks: "Mapping[Literal['x', 'y'], int]" = field(
        default_factory=lambda: {"x": 5, "y": 5}
    )
    levels: Mapping[str, float] = field(default_factory=dict[str, float])
    names: str | Mapping[str, Any] = ENDS
    finish: "Callable[[Axes, Any], None] | None" = None

    @property
    def key(self) -> str:
        """The name of the panel's table."""
        return self.name or self.title

    @abc.abstractmethod
    def table(self, evidence: Evidence) -> Any:
        """What is drawn, from the runs."""

    @abc.abstractmethod
    def draw(self, ax: "Axes", table: Any) -> None:
        """The table on its axes, which `set_axes` then names."""

    @abc.abstractmethod
    def values(self, table: Any) -> Numbers:
        """The table's numbers by name."""

    def set_axes(self, ax: "Axes", table: Any) -> None:
        """Scales, ends, numbers and names of the axes; levels; names of curves."""
        for which, scale in zip("xy", self.scales, strict=True):
            # Setting a scale anew would forget the ticks.
            if scale != getattr(ax, f"get_{which}scale")():
                ax.set(**{f"{which}scale": scale})
        names = {"xlabel": self.x, "ylabel": self.y or None}
        ends = {"xlim": self.xlim, "ylim": self.ylim}
        said = {n: value for n, value in (names | ends).items() if value is not None}
        ax.set(**said)
        for which, count in self.ticks.items():
            figures.number_axis(ax, which, ticks=count)
        for name, level in self.levels.items():
            figures.reference(ax, level, name)
        if self.finish is not None:
            self.finish(ax, table)
        if self.names == ENDS:
            figures.label_ends(ax)
        elif self.names:
            where = {"loc": self.names} if isinstance(self.names, str) else self.names
            ax.legend(**dict[str, Any](where))


@dataclass(frozen=True)
class Tables(Mapping[str, Any]):
    """Tables of a figure's panels, by the panels' names.

    `runs` is the evidence, for sentences on what is not drawn.
    """

    runs: Evidence
    panels: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.panels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.panels)

    def __len__(self) -> int:
        return len(self.panels)


@dataclass(frozen=True)
class Panels:
    """A figure of some panels, lettered (a), (b), … row by row.

    **Arguments:**

    - `columns`: panels in a row; all without it.
    - `size`: inches.
    - `share_time`, `share_values`: one horizontal or upward axis for all; its name
      stands only at the lowest row, or at the first column.
    - `letters`: whether panels are lettered where there are several.
    - `finish`: draws what belongs to no panel, given figure, axes and tables.
    """

    panels: tuple[AbstractPanel, ...]
    columns: int | None = None
    size: tuple[float, float] | None = None
    share_time: bool = False
    share_values: bool = False
    letters: bool = True
    finish: "Callable[[Figure, np.ndarray, Tables], None] | None" = None

    def __post_init__(self) -> None:
        keys = [panel.key for panel in self.panels]
        if len(set(keys)) < len(keys):
            raise ValueError(f"Panels have names of their own, and these: {keys}.")

    def table(self, evidence: Evidence) -> Tables:
        """The tables of all panels."""
        return Tables(evidence, {p.key: p.table(evidence) for p in self.panels})

    def draw(self, table: Tables) -> "Figure":
        """The panels side by side."""
        columns = self.columns or len(self.panels)
        figure, grid = figures.panels(
            -(-len(self.panels) // columns),
            columns,
            titles=[panel.title for panel in self.panels],
            size=self.size,
            share_time=self.share_time,
            share_values=self.share_values,
            letters=self.letters,
        )
        for ax, panel in zip(grid.flat, self.panels, strict=False):
            panel.draw(ax, table[panel.key])
            panel.set_axes(ax, table[panel.key])
        for ax in grid.flat[len(self.panels) :]:
            ax.set_axis_off()
        for ax in grid[:-1].flat if self.share_time else ():
            ax.set_xlabel("")
        for ax in grid[:, 1:].flat if self.share_values else ():
            ax.set_ylabel("")
        if self.finish is not None:
            self.finish(figure, grid, table)
        return figure

    def values(self, table: Tables) -> Numbers:
        """The numbers of each panel; of a single one without its name."""
        numbers = {p.key: p.values(table[p.key]) for p in self.panels}
        return numbers if len(numbers) > 1 else next(iter(numbers.values()))


@dataclass(frozen=True, kw_only=True)
class Free(AbstractPanel):
    """A panel that no kind draws.

    **Arguments:**

    - `of`: evidence → its table.
    - `picture`: draws the table on axes.
    - `numbers`: table → numbers by name.
    """

    of: Callable[[Evidence], Any]
    picture: "Callable[[Axes, Any], None]"
    numbers: Callable[[Any], Numbers] = lambda table: {}

    def table(self, evidence: Evidence) -> Any:
        """What `of` gives."""
        return self.of(evidence)

    def draw(self, ax: "Axes", table: Any) -> None:
        """What `picture` draws."""
        self.picture(ax, table)

    def values(self, table: Any) -> Numbers:
        """What `numbers` gives."""
        return self.numbers(table)
