"""What came out of an exhibit, kept so that a later page can show it."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnflow.claims.stages import StageRow
from attnflow.site.pages.compare import Compared
from attnflow.site.pages.files import write_json, write_text
from attnflow.site.pages.plain import plain
from attnflow.site.pages.runs import RunRecord

REASON = ".missing.txt"
"""How the name of the file ends that says why an exhibit could not be made."""


@dataclass(frozen=True)
class ExhibitResult:
    """What came out of an exhibit.

    - `files`: paths as texts, the SVG first.
    - `agrees`: whether every printed number is met at the exhibit's tolerance; where
      the paper prints none, whether all that must be seen is seen; `None` where
      there is nothing to compare.
    - `seconds`: what it takes from nothing: the runs with their compilation, and the
      drawing.
    - `quick`: whether it was made from the smaller runs of `--quick`.
    - `key`: what it hangs on: where that is the same, it need not be made again.
    """

    paper: str
    id: str
    files: list[str]
    values: dict[str, Any]
    printed: dict[str, Any]
    agrees: bool | None
    seen: dict[str, bool]
    seconds: float
    compared: tuple[Compared, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    quick: bool = False
    key: str = ""

    @property
    def is_smaller(self) -> bool:
        """Whether `--quick` made any of its runs smaller than the paper's."""
        return self.quick and any(run.changed for run in self.runs)


def keep_result(result: ExhibitResult, directory: Path) -> Path:
    """Write a result beside its files as `<id>.json`, their names without folders."""
    record = plain(dataclasses.asdict(result))
    record["files"] = [Path(name).name for name in result.files]
    place = write_json(directory / f"{result.id}.json", record)
    _reason_file(result.id, directory).unlink(missing_ok=True)
    return place


def keep_reason(id: str, reason: str, directory: Path) -> Path:
    """Write why an exhibit could not be made, for pages to say, until it is made."""
    directory.mkdir(parents=True, exist_ok=True)
    return write_text(_reason_file(id, directory), reason)


def earlier_reason(id: str, directory: Path) -> str:
    """Why an exhibit could not be made when it was last tried; else nothing."""
    try:
        return _reason_file(id, directory).read_text(encoding="utf-8")
    except OSError:
        return ""


def _reason_file(id: str, directory: Path) -> Path:
    return directory / f"{id}{REASON}"


def earlier_result(paper: str, id: str, directory: Path) -> ExhibitResult | None:
    """What an earlier call kept in this directory; `None` where nothing whole is."""
    try:
        text = (directory / f"{id}.json").read_text(encoding="utf-8")
        record = json.loads(text)
        result = _restored(record, directory)
    except (OSError, ValueError, TypeError, KeyError):
        # Nothing was kept, or by another version: then it counts as not made.
        return None
    whole = all(Path(name).is_file() for name in result.files)
    return result if whole and (result.paper, result.id) == (paper, id) else None


def _restored(record: dict[str, Any], directory: Path) -> ExhibitResult:
    parts: dict[str, Any] = {
        "files": [str(directory / name) for name in record["files"]],
        "compared": tuple(Compared(**row) for row in record["compared"]),
        "runs": tuple(_restored_run(run) for run in record["runs"]),
    }
    return ExhibitResult(**(record | parts))


def _restored_run(record: dict[str, Any]) -> RunRecord:
    parts: dict[str, Any] = {
        name: tuple(record[name]) for name in ("seeds", "outcomes", "changed")
    }
    parts["stages"] = tuple(_restored_stage(stage) for stage in record["stages"])
    return RunRecord(**{**record, **parts})


def _restored_stage(record: dict[str, Any]) -> StageRow:
    spread = None if record["spread"] is None else tuple(record["spread"])
    return StageRow(**{**record, "spread": spread})
