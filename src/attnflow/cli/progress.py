"""How far the work is: a bar on a terminal, now and then a line in a pipe."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_QUIET_SECONDS = 2.0


class Bar:
    """Takes `bar(fraction, message)` from a run, and `bar.task` from a command."""

    def __init__(self, drawn: Any = None):
        self.task = ""
        self._drawn = drawn
        self._line = drawn.add_task("", total=1.0) if drawn else None
        self._told = time.monotonic()

    def __call__(self, fraction: float, message: str) -> None:
        """Show how far a run is."""
        text = ": ".join(part for part in (self.task, message) if part)
        if self._drawn:
            self._drawn.update(self._line, completed=fraction, description=text)
        elif time.monotonic() - self._told > _QUIET_SECONDS:
            self._told = time.monotonic()
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
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        yield Bar(drawn)
