"""A course: series of one or several runs along training, with ends of stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.claims.stages import Event, select
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from attnflow.figures.curves import Band, Dashes, Middle, Role

Edges = tuple[Sequence[float | None], Sequence[str]]
"""Times between stages, and names of the stages, as `figures.shade_stages` takes."""


@dataclass(frozen=True)
class Line:
    """A series of a run, drawn as its median over seeds with its spread as a band.

    **Arguments:**

    - `name`: of the series in the panel's table, and on the picture unless `label`.
    - `of`: a selector such as `score[+,c1,v1]`, or a function of the run. Further dims
      than seed and time, such as samples, belong to the spread.
    - `run`: the name of the run in the evidence.
    - `kind`, `shade`: what sort of quantity it is, which gives the colour; `ramp`: the
      number among how many of one kind, from pale to full.
    - `band`, `role`, `middle`, `dashes`: as in `figures.series`.
    - `whole`: draw only the times that all seeds have reached.
    - `style`: of the line, for `Line2D.set`.
    """

    name: str
    of: str | Callable[[xr.Dataset], xr.DataArray]
    run: str = "run"
    label: str | None = None
    kind: str = "other"
    shade: int = 0
    ramp: tuple[int, int] | None = None
    band: Band = "range"
    role: Role = "finite"
    middle: Middle = "median"
    dashes: Dashes = "-"
    whole: bool = False
    style: Mapping[str, Any] = field(default_factory=dict[str, Any])


def ramp(
    of: str | Callable[[xr.Dataset], xr.DataArray],
    runs: Mapping[str, str],
    **fields: Any,
) -> tuple[Line, ...]:
    """Lines of one series in several runs, from pale to full, with their labels."""
    return tuple(
        Line(run, of, run=run, label=label, ramp=(number, len(runs)), **fields)
        for number, (run, label) in enumerate(runs.items())
    )


@dataclass(frozen=True)
class Series(Mapping[str, "xr.DataArray"]):
    """Series of a panel by name, NaN where nothing was recorded.

    **Arguments:**

    - `rows`: dims `seed`, `time` and perhaps others.
    - `ends`: their last recorded values.
    - `marks`: events by name; `edges`: of the stages that are shaded.
    - `time`: what the time axis is called.
    """

    rows: Mapping[str, xr.DataArray]
    ends: Mapping[str, xr.DataArray]
    marks: Mapping[str, Event]
    edges: Edges | None
    time: str

    def __getitem__(self, name: str) -> xr.DataArray:
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, kw_only=True)
class Course(AbstractPanel):
    """Series along training.

    **Arguments:**

    - `marks`: by name, detectors of events, which dotted lines show where half of the
      seeds have them; `symbols`: how names are written that are no mathematics yet,
      or an empty text where `finish` names a mark.
    - `shades`: evidence → edges and names of stages, which are shaded by turns.
    - `clock`: the name of the run whose events and times count: other runs are drawn
      as far as it goes. Without it the events of the first line's run and all times.
    """

    lines: tuple[Line, ...]
    marks: Mapping[str, Callable[[xr.Dataset], Event]] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict[str, str])
    shades: Callable[[Evidence], Edges] | None = None
    clock: str = ""

    def table(self, evidence: Evidence) -> Series:
        """The series with all their members, and when stages end."""
        run = evidence[self.clock or self.lines[0].run]
        rows = {line.name: series(evidence[line.run], line.of) for line in self.lines}
        ends = {
            line.name: at_end(evidence[line.run], rows[line.name])
            for line in self.lines
        }
        marks = {name: detect(run) for name, detect in self.marks.items()}
        edges = self.shades(evidence) if self.shades else None
        # A run that is no course, such as a table by step, has no time to name.
        time = figures.time_name(run) if self.x is None else self.x
        return Series(rows, ends, marks, edges, time)

    def draw(self, ax: Axes, table: Series) -> None:
        """Each series with its band, stages behind them."""
        times = self._times(table)
        for line in self.lines:
            rows = table[line.name]
            shown = rows[TIME].values <= times.max(initial=0.0)
            self._draw_line(ax, line, rows.isel({TIME: shown}))
        self._set_time(ax, times, table.time)
        medians = {name: event.median for name, event in table.marks.items()}
        symbols = {name: self.symbols.get(name, name) for name in medians}
        named = {symbols[name]: time for name, time in medians.items() if symbols[name]}
        figures.mark_times(ax, named)
        for name, time in medians.items():
            if time is not None and not symbols[name]:
                figures.mark_place(ax, time)
        if table.edges is not None:
            figures.shade_stages(ax, *table.edges)

    def _draw_line(self, ax: Axes, line: Line, rows: xr.DataArray) -> None:
        members = rows.transpose(TIME, ...).values.reshape(rows.sizes[TIME], -1).T
        pool = xr.DataArray(members, {TIME: rows[TIME].values}, (SEED, TIME))
        if line.whole:
            pool = pool.where(pool.notnull().all(SEED))
        colour = None
        if line.ramp is not None:
            number, count = line.ramp
            colour = figures.current_theme().ramp(line.kind, count)[number]
        drawn = figures.series(
            ax,
            xr.Dataset(),
            pool,
            kind=line.kind,
            shade=line.shade,
            colour=colour,
            label=line.name if line.label is None else line.label,
            band=line.band,
            role=line.role,
            middle=line.middle,
            dashes=line.dashes,
        )
        drawn.set(**line.style)

    def _times(self, table: Series) -> np.ndarray:
        """Recorded times, those of the clock's lines where it has some."""
        lines = [line for line in self.lines if line.run == self.clock] or self.lines
        return np.concatenate([_known_times(table[line.name]) for line in lines])

    def _set_time(self, ax: Axes, times: np.ndarray, name: str) -> None:
        """The time axis spans what was recorded; a logarithmic one has no time 0."""
        times = times[times > 0] if self.scales[0] == "log" else times
        ax.set_xscale(self.scales[0])
        if times.size:
            ax.set_xlim(times.min(), times.max())
        ax.set_xlabel(name)

    def values(self, table: Series) -> dict[str, Any]:
        """Medians over all members at the end, and of the times of events."""
        ends = {
            name: float(end.median(skipna=False)) for name, end in table.ends.items()
        }
        events = {name: event.median for name, event in table.marks.items()}
        return {"at the end": ends} | ({"events": events} if events else {})


def series(
    run: xr.Dataset, of: str | Callable[[xr.Dataset], xr.DataArray]
) -> xr.DataArray:
    """A series of a run with dims `seed`, `time`, …; NaN where nothing was recorded."""
    rows = select(run, of) if isinstance(of, str) else of(run)
    if TIME not in rows.dims:
        raise ValueError(f"A course goes along time, and {of!r} has dims {rows.dims}.")
    if SEED not in rows.dims:
        rows = rows.expand_dims(SEED)
    rows = rows.transpose(SEED, TIME, ...)
    if not _fits(run, rows):
        return rows
    # By position: the series may have a clock of its own.
    recorded = run["recorded"].transpose(SEED, TIME).values
    return rows.where(xr.DataArray(recorded, dims=(SEED, TIME)))


def _fits(run: xr.Dataset, rows: xr.DataArray) -> bool:
    """Whether the run says at which of these times it was recorded."""
    return "recorded" in run and all(
        run["recorded"].sizes[dim] == rows.sizes[dim] for dim in (SEED, TIME)
    )


def at_end(run: xr.Dataset, rows: xr.DataArray) -> xr.DataArray:
    """The last recorded values of a series, by seed and other members."""
    if not _fits(run, rows):
        return rows.isel({TIME: -1}, drop=True)
    recorded = run["recorded"].transpose(SEED, TIME).values
    last = recorded.shape[1] - 1 - np.argmax(recorded[:, ::-1], axis=1)
    return rows.isel({TIME: xr.DataArray(last, dims=SEED)}).drop_vars(TIME)


def _known_times(rows: xr.DataArray) -> np.ndarray:
    others = [dim for dim in rows.dims if dim != TIME]
    return rows[TIME].values[rows.notnull().any(others).values].astype(float)
