"""A figure or table of a paper: drawn from its runs, compared, and kept in files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnflow.claims.stages import StageRow
from attnflow.figures.style import themed
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Display, Evidence, Exhibit
from attnflow.schema.files import write_text
from attnflow.schema.installation import xr
from attnflow.schema.settings import digest, plain
from attnflow.site.pages.files import DARK, save_figure, table_page
from attnflow.site.pages.runs import (
    RunRecord,
    changed_settings,
    record_run,
    record_sweep,
    stages_of,
)
from attnflow.site.pages.values import Compared, Plain, as_csv, compare, tabulate

_ENDINGS = {"light": (".svg", ".png"), "dark": (DARK,)}
REASON = ".missing.txt"
"""How the name of the file ends that says why an exhibit could not be drawn."""
_SEAL = "seal"


@dataclass(frozen=True)
class Stated:
    """A sentence of the paper about a picture, its place, and whether it is true.

    `differs` is the recorded reason why it is not; empty where it should be true.
    """

    sentence: str
    place: str
    is_true: bool
    differs: str = ""


@dataclass(frozen=True)
class ExhibitResult:
    """The result of an exhibit: its files, its values, and whether they agree.

    - `files`: paths as texts, the SVG first.
    - `compared`, `stated`, `checks`: printed numbers beside ours, sentences of the
      paper about the picture, and sentences of our own.
    - `agrees`: whether every printed number is met at the exhibit's tolerance and
      every sentence of the paper is true; `None` where the paper gives neither.
    - `seconds`: the time of the runs with their compilation, and of the drawing.
    - `quick`: whether it comes from the smaller runs of `--quick`.
    - `key`: a digest of what it depends on: while that is the same, it is up to date.
    """

    paper: str
    id: str
    files: list[str]
    values: dict[str, Plain]
    printed: dict[str, Plain]
    stated: tuple[Stated, ...]
    checks: dict[str, bool]
    agrees: bool | None
    seconds: float
    compared: tuple[Compared, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    quick: bool = False
    key: str = ""

    @property
    def is_smaller(self) -> bool:
        """Whether `--quick` made any of its runs smaller than the paper's."""
        return self.quick and any(run.changed for run in self.runs)

    @property
    def surprises(self) -> tuple[str, ...]:
        """Names of values and sentences that differ from the recorded ones.

        Smaller runs may come nearer to the paper than recorded, by chance, and printed
        numbers are not those of their sizes.
        """
        near = not self.is_smaller
        printed = self.compared if near else ()
        paper = [(row.name, row.agrees, row.differs) for row in printed]
        paper += [(row.sentence, row.is_true, row.differs) for row in self.stated]
        otherwise = [n for n, ok, why in paper if (near and why if ok else not why)]
        return (*otherwise, *(text for text, ok in self.checks.items() if not ok))


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
    - `key`: what the result depends on, kept with it; see `site/reproduce.py`.
    """
    start = time.perf_counter()
    directory.mkdir(parents=True, exist_ok=True)
    display = exhibit.display(evidence)
    values, checks = plain(display.values()), display.checks()
    stated = tuple(stated_sentences(display))
    compared = tuple(
        dataclasses.replace(row, differs=exhibit.differs.get(row.name, ""))
        for row in compare(
            values, exhibit.printed, exhibit.tolerance, display.deviations()
        )
    )
    answers = [row.agrees for row in compared] + [row.is_true for row in stated]
    runs = _records(paper, exhibit, evidence)
    files = _draw(display, directory)
    if exhibit.kind == "table":
        table = tabulate(values)
        page = table_page(exhibit.title, exhibit.caption, table)
        for ending, text in ((".csv", as_csv(table)), (".html", page)):
            files.append(str(write_text(directory / f"{exhibit.id}{ending}", text)))
    files.append(str(directory / f"{exhibit.id}.json"))
    # Wall time of the runs holds their compilation; each run counts once.
    walls = {run.attrs["id"]: run.attrs["wall_seconds"] for run in evidence.values()}
    result = ExhibitResult(
        paper=paper.slug,
        id=exhibit.id,
        files=files,
        values=values,
        printed=plain(exhibit.printed),
        stated=stated,
        checks={text: bool(answer) for text, answer in checks.items()},
        agrees=all(answers) if answers else None,
        seconds=time.perf_counter() - start + sum(map(float, walls.values())),
        compared=compared,
        runs=runs,
        quick=quick,
        key=key,
    )
    keep_result(result, directory)
    return result


def _draw(display: Display, directory: Path) -> list[str]:
    id, figures = display.exhibit.id, {}
    for theme in _ENDINGS:
        with themed(theme):
            figures[theme] = display.draw()
    saved = []
    for theme, endings in _ENDINGS.items():
        paths = [directory / f"{id}{ending}" for ending in endings]
        saved += save_figure(figures[theme], paths, theme)
    return [str(path) for path in saved]


def stated_sentences(display: Display) -> Iterator[Stated]:
    """What the paper says of the picture, each sentence with its place."""
    differs = display.exhibit.differs
    for place, sentences in display.stated().items():
        for text, answer in sentences.items():
            yield Stated(text, place, bool(answer), differs.get(text, ""))


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


def keep_result(result: ExhibitResult, directory: Path) -> Path:
    """Write a result beside its files as `<id>.json`, their names without folders."""
    record = plain(dataclasses.asdict(result))
    record["files"] = [Path(name).name for name in result.files]
    record[_SEAL] = _seal(record, directory)
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    path = write_text(directory / f"{result.id}.json", text + "\n")
    _reason_file(result.id, directory).unlink(missing_ok=True)
    return path


def keep_reason(id: str, reason: str, directory: Path) -> Path:
    """Write why an exhibit could not be drawn, for its page to say until it is."""
    directory.mkdir(parents=True, exist_ok=True)
    return write_text(_reason_file(id, directory), reason)


def earlier_reason(id: str, directory: Path) -> str:
    """Why an exhibit could not be drawn when it was last tried; else nothing."""
    try:
        return _reason_file(id, directory).read_text(encoding="utf-8")
    except OSError:
        return ""


def _reason_file(id: str, directory: Path) -> Path:
    return directory / f"{id}{REASON}"


def earlier_result(paper: str, id: str, directory: Path) -> ExhibitResult | None:
    """The result that an earlier call kept here, if it is complete; else `None`."""
    try:
        text = (directory / f"{id}.json").read_text(encoding="utf-8")
        record = json.loads(text)
        is_whole = record.pop(_SEAL) == _seal(record, directory)
        result = _result_of(record, directory)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # No record, or one of another version, which counts as none.
        return None
    return result if is_whole and (result.paper, result.id) == (paper, id) else None


def _seal(record: dict[str, Any], directory: Path) -> str:
    """A checksum of a record and of the files that it names."""
    record_file = f"{record['id']}.json"
    names = [name for name in record["files"] if name != record_file]
    files = [(directory / name).read_bytes() for name in names]
    sums = [hashlib.sha256(content).hexdigest() for content in files]
    return digest(json.dumps(record, sort_keys=True), *sums)


def _result_of(record: dict[str, Any], directory: Path) -> ExhibitResult:
    """The result that `keep_result` wrote: JSON has lists in place of tuples."""
    for run in record["runs"]:
        for stage in run["stages"]:
            stage["spread"] = stage["spread"] and tuple(stage["spread"])
        run["stages"] = [StageRow(**stage) for stage in run["stages"]]
        for name in ("seeds", "outcomes", "changed", "stages"):
            run[name] = tuple(run[name])
    record["files"] = [str(directory / name) for name in record["files"]]
    record["compared"] = tuple(Compared(**row) for row in record["compared"])
    record["stated"] = tuple(Stated(**row) for row in record["stated"])
    record["runs"] = tuple(RunRecord(**run) for run in record["runs"])
    return ExhibitResult(**record)
