"""A figure or table of a paper, made from its runs and saved beside its numbers."""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path

import xarray as xr

from attnflow.figures.style import themed
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.site.pages.compare import Compared, compare
from attnflow.site.pages.files import DARK, save_figure, write_text
from attnflow.site.pages.markup import table_page
from attnflow.site.pages.plain import plain
from attnflow.site.pages.result import ExhibitResult, keep_result
from attnflow.site.pages.runs import RunRecord, changed_settings, record_run, stages_of
from attnflow.site.pages.swept import record_sweep
from attnflow.site.pages.table import as_csv, tabulate

_ENDINGS = {"light": (".svg", ".png"), "dark": (DARK,)}


def make_exhibit(
    paper: Paper,
    exhibit: Exhibit,
    evidence: Mapping[str, xr.Dataset],
    directory: Path,
    *,
    quick: bool = False,
    key: str = "",
) -> ExhibitResult:
    """Draw an exhibit from its runs and write its files into `directory`.

    The files are `<id>.svg`, `<id>.png`, `<id>.dark.svg` and `<id>.json`; of a table
    also `<id>.csv` and `<id>.html`. Each of them is complete or absent.

    **Arguments:**

    - `quick`: whether the runs are the smaller ones of `--quick`, which is said.
    - `key`: what the result hangs on, kept with it; see `reproducing/identity.py`.
    """
    start = time.perf_counter()
    directory.mkdir(parents=True, exist_ok=True)
    values = plain(exhibit.values(evidence))
    seen = {text: bool(answer) for text, answer in exhibit.seen(evidence).items()}
    compared = compare(values, exhibit.printed, exhibit.tolerance)
    result = ExhibitResult(
        paper=paper.slug,
        id=exhibit.id,
        files=_draw(exhibit, evidence, directory),
        values=values,
        printed=plain(exhibit.printed),
        agrees=_agrees(compared, seen),
        seen=seen,
        seconds=0.0,
        compared=compared,
        runs=_records(paper, exhibit, evidence),
        quick=quick,
        key=key,
    )
    files = [*result.files, *_write_table(exhibit, result, directory)]
    files.append(str(directory / f"{exhibit.id}.json"))
    seconds = time.perf_counter() - start + _run_seconds(evidence)
    result = dataclasses.replace(result, files=files, seconds=seconds)
    keep_result(result, directory)
    return result


def _draw(exhibit: Exhibit, evidence: Evidence, directory: Path) -> list[str]:
    figures = {}
    for theme in _ENDINGS:
        with themed(theme):
            figures[theme] = exhibit.draw(evidence)
    saved = []
    for theme, endings in _ENDINGS.items():
        places = [directory / f"{exhibit.id}{ending}" for ending in endings]
        saved += save_figure(figures[theme], places, theme)
    return [str(place) for place in saved]


def _write_table(exhibit: Exhibit, result: ExhibitResult, directory: Path) -> list[str]:
    if exhibit.kind != "table":
        return []
    table = tabulate(result.values)
    page = table_page(exhibit.title, exhibit.caption, table)
    places = [
        write_text(directory / f"{exhibit.id}.csv", as_csv(table)),
        write_text(directory / f"{exhibit.id}.html", page),
    ]
    return [str(place) for place in places]


def _agrees(compared: tuple[Compared, ...], seen: Mapping[str, bool]) -> bool | None:
    if not compared and not seen:
        return None
    return all(row.agrees for row in compared) and all(seen.values())


def _records(
    paper: Paper, exhibit: Exhibit, evidence: Evidence
) -> tuple[RunRecord, ...]:
    runs = (
        record_run(
            name,
            evidence[name],
            changed=changed_settings(paper, request, evidence[name]),
            stages=stages_of(paper, evidence[name]),
        )
        for name, request in exhibit.needs.items()
    )
    swept = (record_sweep(name, evidence[name]) for name in exhibit.sweeps)
    return (*runs, *swept)


def _run_seconds(evidence: Evidence) -> float:
    """Wall time of the runs, which holds their compilation, each of them once."""
    walls = {run.attrs["id"]: run.attrs["wall_seconds"] for run in evidence.values()}
    return sum(map(float, walls.values()))
