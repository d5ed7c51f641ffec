"""The output of a command: text, tables and JSON, progress, errors and exit codes."""

import errno
import functools
import json
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec, TypeVar

import typer

from attnflow.schema.files import WriteError, check_place, write_text
from attnflow.schema.settings import plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

P = ParamSpec("P")
T = TypeVar("T")

ABSENT = "–"
VERSION = 2
"""The version of the JSON that every command writes."""
_READABLE = 24
"""Characters that a column of sentences needs at least."""
_QUIET_SECONDS = 2.0

Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON to a file (-: stdout)."),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="Number of processes (0: this one)."),
]


def number(value: object) -> str:
    """Four significant digits; a dash where there is no number."""
    if value is None:
        return ABSENT
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def spread(values: object) -> str:
    """A number, or the mean of several with their range."""
    if not isinstance(values, list):
        return number(values)
    known = [float(v) for v in values if v is not None and not math.isnan(v)]
    if not known:
        return ABSENT
    mean = number(sum(known) / len(known))
    return f"{mean} ({number(min(known))} … {number(max(known))})"


def seconds(value: float) -> str:
    """A duration with its unit."""
    if value >= 90:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


@dataclass(frozen=True)
class Table:
    """Rows of texts under columns; the last column may be long."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def plain_lines(table: Table) -> list[str]:
    """A table as aligned lines of text, none of them wrapped."""
    rows = [list(table.columns), *[list(row) for row in table.rows]]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return [*lines, ""]


def draw(table: Table) -> None:
    """Draw a table on the terminal, as wide as that is."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console()
    columns = list(zip(table.columns, *table.rows, strict=True))
    needed = sum(max(map(len, column)) + 3 for column in columns[:-1])
    if needed + _READABLE > console.width:
        _draw_below(table, console)
        return
    rich = RichTable(box=box.SIMPLE_HEAD)
    for k, column in enumerate(table.columns):
        rich.add_column(column, no_wrap=k < len(columns) - 1)
    for row in table.rows:
        rich.add_row(*map(Text, row))
    console.print(rich)


def _draw_below(table: Table, console: "Console") -> None:
    """On a narrow terminal, each row's long last column comes below the others."""
    from rich.padding import Padding
    from rich.text import Text

    short = Table(table.columns[:-1], [row[:-1] for row in table.rows])
    header, *lines, _ = plain_lines(short)
    console.print(Text(header, style="bold"))
    for line, row in zip(lines, table.rows, strict=True):
        console.print(Text(line))
        console.print(Padding(Text(row[-1], style="dim"), (0, 0, 0, 4)))
    console.print()


class Output:
    """Where a command's results go: people read stdout unless JSON is there."""

    def __init__(self, target: str | None):
        self.target = target
        if target is not None and target.startswith("--"):
            # Otherwise the next option would be taken for the file, and its value for
            # an argument.
            raise ValueError(
                f"--json was given {target!r}, which is an option: it takes a file, or "
                f"- for the terminal. Write --json out.json {target}, or --json - "
                f"{target}."
            )
        if target not in (None, "-"):
            check_place(Path(str(target)))

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
        write_text(Path(self.target), text + "\n")


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

    def say(self, text: str) -> None:
        """Print a line above the bar, on stderr."""
        if self._progress:
            self._progress.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

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


OTHERWISE = 1
"""A verdict or a number differs from the recorded one."""
WRONG_USAGE = 2
FAULT = 70
"""A fault of attnflow: the number that sysexits.h gives to software errors."""
INTERRUPTED = 130

_abandoned = threading.Event()


def guarded(command: Callable[P, int]) -> Callable[P, NoReturn]:
    """A `command` that returns its exit code, as one that ends the program.

    Wrong names and values give their message on stderr and no traceback; set
    `ATTNFLOW_DEBUG=1` to see it.
    """

    @functools.wraps(command)
    def guarded_command(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        raise typer.Exit(_exit_code(functools.partial(command, *args, **kwargs)))

    return guarded_command


def complain(message: str) -> None:
    """Say something on stderr."""
    print(message, file=sys.stderr, flush=True)


def warn(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning on stderr, as `warnings.showwarning` does."""
    complain(f"Warning: {message}")


def _exit_code(command: Callable[[], int]) -> int:
    try:
        code = command()
        # Flushed here, so that a full disk behind stdout is reported like any other
        # error.
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        complain("Interrupted: what was complete is stored, and nothing else.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        place = own_place(error)
        if _is_usage(error):
            complain(f"attnflow: {error}{_advice(error)}{place and f' ({place})'}")
            if os.environ.get("ATTNFLOW_DEBUG"):
                traceback.print_exc()
            return WRONG_USAGE
        traceback.print_exc()
        if place:
            kind = type(error).__name__
            complain(f"attnflow: {place}: a {kind} in the package of a paper.")
            return WRONG_USAGE
        complain("attnflow: this is a fault of attnflow; please report the above.")
        return FAULT


def own_place(error: BaseException) -> str:
    """The innermost file and line in the package of a user's paper; empty: none."""
    from attnflow.schema.installation import registered

    modules = [p.module for points in registered().values() for p in points]
    packages = {module.partition(".")[0] for module in modules}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if packages & {Path(frame.filename).stem, *Path(frame.filename).parts}:
            return f"{frame.filename}, line {frame.lineno}"
    return ""


def _advice(error: Exception) -> str:
    """What to do where the operating system says only what is wrong."""
    if isinstance(error, MemoryError):
        return ". Give smaller sizes: this machine has no room for these."
    is_full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    if not is_full or isinstance(error, WriteError):
        return ""
    return ". Make room, or write to another disk."


def _is_usage(error: Exception) -> bool:
    """Whether an error is about what the user gave: a value, a path or a data set."""
    from attnflow.schema.installation import MissingData

    if isinstance(error, OSError):
        from attnflow.runs.store import StoreError

        # An OSError without errno does not come from the operating system.
        return isinstance(error, StoreError) or error.errno is not None
    return isinstance(error, ValueError | MissingData | MemoryError)


def in_background(work: Callable[[], T]) -> T:
    """The result of `work`, done in a thread so that an interrupt is heard at once.

    A compiled loop is one call, and Python hears of an interrupt only between calls
    of its main thread. What is interrupted goes on until the program ends; see
    `leave`.
    """
    result: Future[T] = Future()
    thread = threading.Thread(target=_fulfil, args=(result, work), daemon=True)
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        if thread.is_alive():
            _abandoned.set()
        raise


def leave(code: Any) -> NoReturn:
    """End the program, without waiting for work that was abandoned."""
    if _abandoned.is_set():
        # Python's own way out would wait for the compiled loop.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)
    sys.exit(code)


def _fulfil(result: Future, work: Callable[[], Any]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:
        result.set_exception(error)
