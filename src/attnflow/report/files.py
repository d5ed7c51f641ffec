"""Files of a report: complete or absent, and equal for equal contents."""

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from attnflow.figures.style import themed
from attnflow.store.atomic import new_file


def write_text(place: Path, text: str) -> Path:
    """Write a text file in one step."""
    with new_file(place) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return place


def write_json(place: Path, value: Any) -> Path:
    """Write a JSON file in one step, with the names in the order given."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return write_text(place, text + "\n")


def save_figure(figure: Figure, directory: Path, stem: str) -> list[Path]:
    """Save a figure as SVG and PNG; equal figures give equal files.

    The date that matplotlib writes by itself is left out, and ids in the SVG follow
    from its contents (`svg.hashsalt` of the style).
    """
    places = [directory / f"{stem}.svg", directory / f"{stem}.png"]
    metadata = {".svg": {"Date": None, "Creator": "attnflow"}, ".png": {}}
    metadata[".png"] = {"Software": None}
    with themed("light"):
        for place in places:
            with new_file(place) as temporary:
                kind = place.suffix.removeprefix(".")
                figure.savefig(temporary, format=kind, metadata=metadata[place.suffix])
    return places
