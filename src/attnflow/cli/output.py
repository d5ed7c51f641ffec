"""What a command says: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from attnflow.cli.tables import Table, draw, plain_lines

VERSION = 1
"""The version of the JSON that every command writes."""

Json = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="FILE", help="Write JSON to a file; - is the terminal, alone."
    ),
]


class Output:
    """Where a command's results go: people read stdout unless JSON is there."""

    def __init__(self, target: str | None):
        self.target = target
        if target is not None and target.startswith("--"):
            # Otherwise the next option becomes a file, and its value an argument.
            raise ValueError(
                f"--json was given {target!r}, which is an option: it takes a file, or "
                f"- for the terminal. Write --json out.json {target}, or --json - "
                f"{target}."
            )
        if target not in (None, "-"):
            must_have_directory(Path(str(target)))

    def say(self, text: str = "") -> None:
        """Print a line for people."""
        if self.target != "-":
            print(text)

    def show(self, table: Table) -> None:
        """Print a table for people: drawn on a terminal, plain in a pipe."""
        if self.target == "-" or not table.rows:
            return
        if sys.stdout.isatty():
            draw(table)
        else:
            print("\n".join(plain_lines(table)))

    def give(self, content: Mapping[str, Any]) -> None:
        """Write the JSON, if it was asked for."""
        if self.target is None:
            return
        text = json.dumps(
            plain({"version": VERSION, **content}), ensure_ascii=False, allow_nan=False
        )
        if self.target == "-":
            print(text)
        else:
            _write(Path(self.target), text + "\n")


def must_have_directory(path: Path) -> None:
    """Refuse a file for which there is no directory, before the work is done."""
    if not path.absolute().parent.is_dir():
        raise ValueError(
            f"{path} cannot be written: there is no directory {path.parent}. "
            "Make it, or give another file."
        )


def plain(value: Any) -> Any:
    """The `value` in JSON's own types; what is not finite becomes null."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if callable(to_list := getattr(value, "tolist", None)):
        return plain(to_list())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _write(path: Path, text: str) -> None:
    from attnflow.runs.atomic import new_file

    with new_file(path) as temporary:
        temporary.write_text(text, "utf-8")
