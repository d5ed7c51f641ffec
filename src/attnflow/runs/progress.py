"""Progress of long work in a notebook: a bar that comes after a second, and goes."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

Progress = Callable[[float, str], None]
"""Callback for progress: the fraction done, and what is being done."""
PATIENCE = 1.0
"""Seconds of work that need no bar."""
PAUSE = 0.2
"""Seconds between two looks of it: a kernel's messages cost more than the work."""


@contextmanager
def shown(progress: Progress | None) -> Iterator[Progress | None]:
    """The function that is told of progress: the user's own, or a notebook's bar.

    In a terminal or a script there is none unless the user gives one; `quiet` is one
    that shows nothing.
    """
    if progress is not None or not is_notebook():
        yield progress
        return
    bar = NotebookBar()
    try:
        yield bar
    finally:
        bar.close()


def quiet(fraction: float, message: str) -> None:
    """Show nothing: for a notebook without bars."""


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """A bar in the output of a cell, without widgets."""

    def __init__(self) -> None:
        self._begun = self._last = time.monotonic()
        self._handle: Any = None

    def __call__(self, fraction: float, message: str) -> None:
        """Show how far it is, unless that was shown just now."""
        now = time.monotonic()
        if now - self._begun < PATIENCE or now - self._last < PAUSE:
            return
        self._last = now
        self._show(
            f'<progress value="{fraction:.3f}" max="1"></progress> {fraction:.0%} '
            f"{escape(message)}"
        )

    def close(self) -> None:
        """Take the bar away."""
        if self._handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        # Notebooks have IPython; attnflow does not depend on it.
        from IPython.display import (  # pyright: ignore[reportMissingImports]
            HTML,
            display,
        )

        if self._handle is None:
            self._handle = display(HTML(text), display_id=True)
        else:
            self._handle.update(HTML(text))
