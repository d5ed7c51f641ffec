"""Files of a report: complete or absent, and equal for equal contents."""

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from attnflow.figures.style import themed
from attnflow.runs.atomic import new_file

DARK = ".dark.svg"
"""How the name of a picture for dark pages ends."""

_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "attnflow"},
    "png": {"Software": None},
}


def write_text(place: Path, text: str) -> Path:
    """Write a text file in one step."""
    with new_file(place) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return place


def write_json(place: Path, value: Any) -> Path:
    """Write a JSON file in one step, with the names in the order given."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return write_text(place, text + "\n")


def copy_file(file: Path, target: Path) -> Path:
    """Copy a file in one step, into a folder that is made if need be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_file(target) as temporary:
        shutil.copyfile(file, temporary)
    return target


def save_figure(
    figure: Figure, places: Iterable[Path], theme: str = "light"
) -> list[Path]:
    """Save a figure as SVG or PNG files; equal figures give equal files.

    The date that matplotlib writes by itself is left out, and ids in the SVG follow
    from its contents (`svg.hashsalt` of the style).
    """
    saved = list(places)
    with themed(theme), _laid_out(figure):
        for place in saved:
            with new_file(place) as temporary:
                kind = place.suffix.removeprefix(".")
                figure.savefig(temporary, format=kind, metadata=_METADATA[kind])
    return saved


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """The figure with its layout found once, for whatever is saved meanwhile.

    For each file matplotlib finds it anew, and draws all of it twice.
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
