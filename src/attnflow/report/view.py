"""What the page shows of one exhibit."""

import base64
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnflow.paper import Exhibit, Paper
from attnflow.report.markup import anchor
from attnflow.report.result import ExhibitResult
from attnflow.report.runs import RunRecord
from attnflow.report.table import tabulate

PIXELS_PER_POINT = 96 / 72


def exhibit_view(
    paper: Paper,
    exhibit: Exhibit,
    result: ExhibitResult | None,
    commands: Mapping[str, str],
) -> dict[str, Any]:
    """Names and values for the template; without a result, only how to get one."""
    command = commands.get(exhibit.id, f"attnflow reproduce {paper.slug}/{exhibit.id}")
    view = {"exhibit": exhibit, "result": result, "command": command}
    view |= {"anchor": anchor("exhibit", exhibit.id)}
    if result is None:
        return view
    files = [Path(name) for name in result.files]
    picture = next(f for f in files if f.suffix == ".svg").read_text(encoding="utf-8")
    return view | {
        "image": _inline(picture),
        "width": _width(picture),
        "files": [(f.suffix.removeprefix("."), f.name) for f in files],
        "table": tabulate(result.values),
        "settings": [_setting_view(run) for run in result.runs],
    }


def _inline(svg: str) -> str:
    """A picture as a URL that holds it: as an image it cannot clash with the page."""
    encoded = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f"data:image/svg+xml;base64,{encoded}"


def _width(svg: str) -> int:
    """The natural width of a picture in pixels."""
    found = re.search(r'<svg[^>]*\swidth="([\d.]+)pt"', svg)
    return round(float(found[1]) * PIXELS_PER_POINT) if found else 800


def _setting_view(run: RunRecord) -> dict[str, Any]:
    setting = run.setting.items()
    shown = [(name, value, name in run.changed) for name, value in setting]
    return {"run": run, "setting": shown}
