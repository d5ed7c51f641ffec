"""Attention or scores of a run as they move: a GIF, a film or a page."""

from __future__ import annotations

import base64
import io
import json
import math
import os
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import animation
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from attnflow.figures.axes import (
    name_panel,
    number,
    number_axis,
    time_axis,
    time_name,
    typeset,
)
from attnflow.figures.curves import curve
from attnflow.figures.scores import Colours, heatmap
from attnflow.figures.style import FULL_WIDTH, Theme, current_theme, parameters, styled
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import look_up

MOST = 8
"""Panels that are drawn without being asked for."""
ACROSS = 4
WRITTEN = 36
"""Cells of a matrix whose numbers are written into them."""
HELD = 1.0
"""Seconds for which the last record stays."""


@dataclass(frozen=True)
class Animation:
    """Frames of a run: `save` writes a file, and a notebook shows them moving.

    **Arguments:**

    - `figure`: the figure; `draw(place)` changes it into the frame of a record, and
      `moving` are the artists that this changes.
    - `places`: the records that are frames, in their order; `rate`: frames in a second.
    """

    figure: Figure
    draw: Callable[[int], None]
    moving: tuple[Artist, ...]
    places: tuple[int, ...]
    rate: int
    theme: Theme

    def save(self, path: str | Path, *, dots: int = 110) -> Path:
        """Write a `.gif`, an `.html` page, or an `.mp4` where ffmpeg is installed.

        **Arguments:**

        - `dots`: pixels per inch.
        """
        path = Path(path)
        write = {".gif": self._gif, ".html": self._html, ".mp4": self._film}
        kind = check_kind(path)
        # Whole or not at all: a film that is interrupted is no film.
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".tmp-") as folder:
            file = Path(folder) / path.name
            write[kind](file, dots)
            os.replace(file, path)
        return path

    def images(self, dots: int = 110) -> Iterator[np.ndarray]:
        """The frames as arrays `(height, width, 3)` of bytes.

        What stays the same is drawn once, and what moves upon it.
        """
        canvas = FigureCanvasAgg(self.figure)
        with matplotlib.rc_context(parameters(self.theme)):
            self.figure.set_dpi(dots)
            # Drawn apart from the rest, which is drawn when the canvas is.
            with _animated(self.moving):
                canvas.draw()
                still = canvas.copy_from_bbox(self.figure.bbox)
                for place in self.places:
                    canvas.restore_region(still)
                    self.draw(place)
                    for artist in self.moving:
                        artist.draw(canvas.get_renderer())
                    yield np.array(canvas.buffer_rgba())[..., :3]

    def _gif(self, file: Path, dots: int) -> None:
        frames = [Image.fromarray(image) for image in self.images(dots)]
        # One palette, of the last frame and the first: colours do not flicker.
        both = Image.fromarray(
            np.vstack([np.asarray(frames[-1]), np.asarray(frames[0])])
        )
        palette = both.quantize(256, dither=Image.Dither.NONE)
        first, *rest = [
            frame.quantize(palette=palette, dither=Image.Dither.NONE)
            for frame in frames
        ]
        each = round(1000 / self.rate)
        times = [each] * len(rest) + [each + round(1000 * HELD)]
        first.save(
            file,
            save_all=True,
            append_images=rest,
            duration=times,
            loop=0,
            optimize=True,
        )

    def _html(self, file: Path, dots: int) -> None:
        frames = [_address(Image.fromarray(image)) for image in self.images(dots)]
        page = _PAGE.replace("FRAMES", json.dumps(frames))
        page = page.replace("PAUSE", str(round(1000 / self.rate)))
        file.write_text(page.replace("LAST", str(len(frames) - 1)), "utf-8")

    def _film(self, file: Path, dots: int) -> None:
        held = [self.places[-1]] * math.ceil(HELD * self.rate)
        film = animation.FuncAnimation(
            self.figure, self.draw, frames=[*self.places, *held], init_func=lambda: None
        )
        with matplotlib.rc_context(parameters(self.theme)):
            film.save(str(file), writer="ffmpeg", fps=self.rate, dpi=dots)

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory(prefix="attnflow-") as folder:
            file = self.save(Path(folder) / "animation.gif", dots=80)
            data = base64.b64encode(file.read_bytes()).decode("ascii")
        return f'<img alt="animation" src="data:image/gif;base64,{data}">'


def check_kind(path: Path) -> str:
    """How the name of a file ends, which can be written here; an error where not."""
    kinds: dict[str, None] = dict.fromkeys((".gif", ".html", ".mp4"))
    kind = path.suffix.lower()
    look_up("kind of animation", kind, kinds)
    if kind == ".mp4" and not animation.writers.is_available("ffmpeg"):
        raise ValueError(
            f"{path} needs ffmpeg, which is not installed. Install it, or write a .gif "
            "or an .html page."
        )
    return kind


@contextmanager
def _animated(artists: Sequence[Artist]) -> Iterator[None]:
    """Leave artists out while the rest is drawn."""
    for artist in artists:
        artist.set_animated(True)
    try:
        yield
    finally:
        for artist in artists:
            artist.set_animated(False)


def _address(image: Image.Image) -> str:
    """A picture as an address that holds it."""
    file = io.BytesIO()
    image.quantize(64, dither=Image.Dither.NONE).save(file, "png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Attention over time</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body { margin: 1rem auto; max-width: 70rem; font: 1rem system-ui, sans-serif; }
img { width: 100%; } div { display: flex; gap: 1rem; } input { flex: 1; }</style></head>
<body><img alt="attention over time"><div><button>Pause</button>
<input type="range" min="0" max="LAST" value="0" aria-label="record"></div><script>
const frames = FRAMES, image = document.querySelector("img");
const slider = document.querySelector("input");
const button = document.querySelector("button");
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
let timer = null;
const show = n => { slider.value = n; image.src = frames[n]; };
const stop = () => { clearInterval(timer); timer = null; button.textContent = "Play"; };
const play = () => { button.textContent = "Pause";
  timer = setInterval(() => show((+slider.value + 1) % frames.length), PAUSE); };
slider.oninput = () => { stop(); show(+slider.value); };
button.onclick = () => timer ? stop() : play();
show(0); if (still) stop(); else play();
</script></body></html>
"""


@styled
def animate(
    run: xr.Dataset,
    variable: str | None = None,
    *,
    fixed: Mapping[str, Hashable | Sequence[Hashable]] | None = None,
    seed: int | None = None,
    frames: int = 60,
    seconds: float = 6.0,
    below: str = "loss",
) -> Animation:
    """Attention maps or score tables of a run over time, with a curve below them.

    **Arguments:**

    - `variable`: with two dims beside seed, time and those that give a panel each;
      without it the attention, or else the scores.
    - `fixed`: labels of dims to select, one or several:
      `fixed={"head": "+", "sample": ["c1 v1 v2", "c1 v1 -v2"]}`.
    - `seed`: which one; without it the first.
    - `frames`: how many records are shown, evenly chosen; `seconds`: for how long.
    - `below`: the series that is drawn below, by its selector; `""` for none.

    !!! example
        ```python
        run = af.run("mixture/figure1")
        figures.animate(run, fixed={"head": "+"}).save("attention.gif")
        ```
    """
    name = variable or _default(run)
    table = look_up("variable of this run", name, {str(v): v for v in run.data_vars})
    values = run[table].sel({SEED: run[SEED].values[0] if seed is None else seed})
    values = values.sel(dict(fixed or {}))
    matrices, words = _panels(values)
    places = _places(values, frames)
    figure, axes, ax = _layout(len(matrices), has_curve=bool(below))
    colours, limits = _scale(name, values)
    cells = [
        _Cells.of(panel, title, matrix, places[0], colours, limits)
        for panel, (title, matrix) in zip(axes, matrices, strict=True)
    ]
    # The names of both axes, once for each row and column.
    across = min(len(axes), ACROSS)
    for k, panel in enumerate(axes):
        panel.set_ylabel(panel.get_ylabel() if k % across == 0 else "")
        panel.set_xlabel(panel.get_xlabel() if k + across >= len(axes) else "")
    dot = None if ax is None else _Dot.of(ax, run, below, values)
    about = f"{name}, seed {int(values[SEED])}{words}"
    title = figure.suptitle("", x=0.01, ha="left")
    draw = partial(_draw, cells=cells, dot=dot, title=title, about=about, run=run)
    draw(places[0])
    # Laid out once: otherwise each frame would move a little.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    moving = [title, *(artist for panel in cells for artist in panel.artists)]
    moving += [] if dot is None else [dot.point]
    rate = max(1, round(len(places) / seconds))
    return Animation(figure, draw, tuple(moving), places, rate, current_theme())


def _default(run: xr.Dataset) -> str:
    for name in ("attention", "score"):
        if name in run:
            return name
    raise ValueError(
        "The run recorded neither attention nor scores. Record them "
        '(record=["attention"]), or name another variable.'
    )


def _panels(values: xr.DataArray) -> tuple[list[tuple[str, xr.DataArray]], str]:
    """The matrices by the labels of their other dims, and which of them are shown."""
    dims = [str(dim) for dim in values.dims if dim != TIME]
    if len(dims) < 2 or TIME not in values.dims:
        raise ValueError(
            f"{values.name} has dims {values.dims}; an animation shows matrices over "
            "time. Give a variable with two dims beside seed and time, or leave fewer "
            "dims fixed."
        )
    others = dims[:-2]
    if not others:
        return [("", values)], ""
    flat = values.stack(panel=others, create_index=False)
    count = flat.sizes["panel"]
    matrices = []
    for k in range(min(count, MOST)):
        matrix = flat.isel(panel=k).transpose(TIME, *dims[-2:])
        labels = [f"{dim} {matrix[dim].values}" for dim in others if dim in flat.coords]
        matrices.append(("; ".join(labels) or str(k + 1), matrix))
    words = f", the first {MOST} of {count} panels" if count > MOST else ""
    return matrices, words


def _places(values: xr.DataArray, frames: int) -> tuple[int, ...]:
    """Records that are frames: known ones, evenly, with the first and the last."""
    others = [dim for dim in values.dims if dim != TIME]
    known = np.flatnonzero(values.notnull().any(others).values)
    if known.size == 0:
        raise ValueError(f"No record of {values.name} is known: there is no frame.")
    chosen = np.linspace(0, known.size - 1, max(1, min(frames, known.size)))
    return tuple(known[np.unique(chosen.round().astype(int))].tolist())


def _layout(count: int, *, has_curve: bool) -> tuple[Figure, list[Axes], Axes | None]:
    across = min(count, ACROSS)
    down = -(-count // across)
    side = min((FULL_WIDTH - 0.4) / across, 2.6)
    height, curve_height = (side + 0.5) * down + 0.4, 1.9 if has_curve else 0.0
    size = (max(side * across + 0.4, 5.2), height + curve_height)
    figure = Figure(figsize=size, layout="constrained")
    if not has_curve:
        grid = figure.subplots(down, across, squeeze=False)
        return figure, _without_rest(grid, count), None
    heights = (height, curve_height)
    parts = figure.subfigures(2, 1, height_ratios=heights, squeeze=False)
    above, below = parts[:, 0]
    grid = above.subplots(down, across, squeeze=False)
    return figure, _without_rest(grid, count), below.subplots()


def _without_rest(grid: np.ndarray, count: int) -> list[Axes]:
    for ax in grid.flat[count:]:
        ax.set_axis_off()
    return list(grid.flat[:count])


def _scale(name: str, values: xr.DataArray) -> tuple[Colours, tuple[float, float]]:
    """Shares from 0 to 1; all else around 0, as far as it reaches in the run."""
    if "attention" in name and not name.endswith("rate"):
        return "mass", (0.0, 1.0)
    reach = float(np.nanmax(np.abs(values.values), initial=0.0)) or 1.0
    return "signed", (-reach, reach)


@dataclass(frozen=True)
class _Cells:
    """A heat map whose numbers and colours change."""

    ax: Axes
    matrix: xr.DataArray
    mesh: Any

    @classmethod
    def of(
        cls,
        ax: Axes,
        title: str,
        matrix: xr.DataArray,
        place: int,
        colours: Colours,
        limits: tuple[float, float],
    ) -> _Cells:
        """The heat map of a record."""
        first = matrix.isel({TIME: place})
        mesh = heatmap(ax, first, colours=colours, limits=limits)
        if first.size > WRITTEN:
            for text in list(ax.texts):
                text.remove()
        if title:
            ax.set_title(typeset(title), loc="center", size="small")
        return cls(ax, matrix, mesh)

    @property
    def artists(self) -> list[Artist]:
        """What changes from record to record: the colours below the numbers."""
        return [self.mesh, *self.ax.texts]

    def show(self, place: int) -> None:
        """Change to another record."""
        values = np.asarray(self.matrix.isel({TIME: place}).values, float)
        self.mesh.set_array(values)
        shades = self.mesh.to_rgba(values)[..., :3] ** 2.2 @ [0.2126, 0.7152, 0.0722]
        for text, value, shade in zip(
            self.ax.texts, values.flat, shades.flat, strict=False
        ):
            # As `heatmap` writes them.
            text.set_text("—" if np.isnan(value) else f"{value:.2f}".replace("-", "−"))
            text.set_color("#1B1E23" if shade > 0.18 else "#FFFFFF")


@dataclass(frozen=True)
class _Dot:
    """A curve with a point at the time of the frame."""

    times: np.ndarray
    values: np.ndarray
    point: Any

    @classmethod
    def of(cls, ax: Axes, run: xr.Dataset, selector: str, like: xr.DataArray) -> _Dot:
        """The curve of one seed."""
        line = curve(run, selector).sel({SEED: like[SEED]})
        times, values = (np.asarray(a, float) for a in (run[TIME].values, line.values))
        known = np.isfinite(values)
        theme = current_theme()
        ax.plot(times[known], values[known], color=theme.colour("loss"), lw=1.4)
        (point,) = ax.plot([], [], "o", ms=7, color=theme.colour("signal"), zorder=5)
        point.set_clip_on(False)
        time_axis(ax, run)
        number_axis(ax, "y", ticks=4)
        name_panel(ax, selector)
        return cls(times, values, point)

    def show(self, place: int) -> None:
        """Move the point to another record."""
        self.point.set_data([self.times[place]], [self.values[place]])


def _draw(
    place: int,
    *,
    cells: Sequence[_Cells],
    dot: _Dot | None,
    title: Any,
    about: str,
    run: xr.Dataset,
) -> None:
    """Change a figure into the frame of a record."""
    for panel in cells:
        panel.show(place)
    if dot is not None:
        dot.show(place)
    time = number(float(run[TIME].values[place]))
    title.set_text(f"{time_name(run)} {time}: {about}")
