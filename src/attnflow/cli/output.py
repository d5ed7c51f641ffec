"""The output of a command: text and tables for people, JSON for programs, progress."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.text import Table, draw, plain_lines
from attnflow.schema.plain_values import plain

if TYPE_CHECKING:
    from rich.progress import Progress

VERSION = 1
"""The version of the JSON that every command writes."""

Json = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="FILE", help="Write JSON to a file; - is the terminal, alone."
    ),
]
Workers = Annotated[int | None, typer.Option(min=0, help="Processes; 0: this one.")]


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

    def give(self, content: Mapping[str, object]) -> None:
        """Write the JSON, if it was requested."""
        if self.target is None:
            return
        text = json.dumps(
            plain({"version": VERSION, **content}), ensure_ascii=False, allow_nan=False
        )
        if self.target == "-":
            print(text)
            return
        from attnflow.runs.atomic import new_file

        with new_file(Path(self.target)) as temporary:
            temporary.write_text(text + "\n", "utf-8")


def must_have_directory(path: Path) -> None:
    """Refuse a file for which there is no directory, before the work is done."""
    if not path.absolute().parent.is_dir():
        raise ValueError(
            f"{path} cannot be written: there is no directory {path.parent}. "
            "Make it, or give another file."
        )


_QUIET_SECONDS = 2.0


class Bar:
    """Takes `bar(fraction, message)` from a run, and `bar.task` from a command."""

    def __init__(self, progress: "Progress | None" = None):
        self.task = ""
        self._progress = progress
        self._line = progress.add_task("", total=1.0) if progress else None
        self._last = time.monotonic()

    def __call__(self, fraction: float, message: str) -> None:
        """Show how far a run is."""
        text = ": ".join(part for part in (self.task, message) if part)
        if self._progress and self._line is not None:
            self._progress.update(self._line, completed=fraction, description=text)
        elif time.monotonic() - self._last > _QUIET_SECONDS:
            self._last = time.monotonic()
            print(f"{fraction:4.0%}  {text}", file=sys.stderr, flush=True)

    def begin(self, task: str) -> None:
        """Start the next piece of work."""
        self.task = task
        self(0.0, "")


@contextmanager
def shown_progress() -> Iterator[Bar]:
    """A bar on stderr while the work lasts; it is gone afterwards."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)
