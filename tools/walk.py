"""Count the files of attnflow through which one command goes.

    python tools/walk.py run mixture/figure1 width=256 --seeds 2
    python tools/walk.py verify mixture/B-L6.1
    python tools/walk.py reproduce mixture/figure1a

The command is carried out in this process, in a temporary directory with an empty store
and an empty cache, so that everything is computed. A file counts once a function of it
is entered. Import time does not count: neither the bodies of modules and classes nor
the functions that they call; templates of pages are no functions. After the command's
own output come the files, numbered in the order in which they are entered first and
grouped by room, each with how many of its functions are entered and the first of them;
then their count.

A reader of the code follows one command through these files: docs/architecture.md tells
what happens in each of them.
"""

import inspect
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "attnflow"


Files = dict[str, list[str]]
"""The functions that were entered, by file, both in the order of their first entry."""


class Walk:
    """The files of attnflow that are entered, with their functions: a profiler."""

    def __init__(self) -> None:
        self.files: Files = {}
        self._known: set[CodeType] = set()
        self._importing = threading.local()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note the file of a function that is called, unless a module is imported."""
        code = frame.f_code
        if code.co_name == "<module>":
            change = {"call": 1, "return": -1}.get(event, 0)
            self._importing.depth = self._depth + change
        elif event == "call" and code not in self._known and not self._depth:
            self._known.add(code)
            file = _file(code)
            if file is not None:
                self.files.setdefault(file, []).append(code.co_qualname)

    @property
    def _depth(self) -> int:
        """How many modules this thread is importing inside of each other."""
        return getattr(self._importing, "depth", 0)

    def __enter__(self) -> "Walk":
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def _file(code: CodeType) -> str | None:
    """The path of a function's file inside attnflow; none for all other code."""
    # The bodies of modules and classes are the code whose locals are not optimised.
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return None
    path = Path(code.co_filename)
    is_ours = path.suffix == ".py" and path.is_relative_to(PACKAGE)
    return path.relative_to(PACKAGE).as_posix() if is_ours else None


def walk(arguments: list[str]) -> tuple[Files, int]:
    """The files that `attnflow ARGUMENTS` enters, and its exit code."""
    from attnflow.cli import main
    from attnflow.runs import verify
    from attnflow.runs.pool import Here

    # Functions that are entered in worker processes would not be seen.
    verify.Pool = lambda *_, **__: Here()  # pyright: ignore[reportAttributeAccessIssue]
    sys.argv = ["attnflow", *arguments]
    code: Any = 0
    with Walk() as entered:
        try:
            main()
        except SystemExit as end:
            code = end.code
    sys.stdout.flush()
    return entered.files, code if isinstance(code, int) else 0


def listing(files: Files) -> str:
    """The files by room, with the numbers of their order, and the count."""
    rooms: dict[str, list[str]] = {}
    for number, (file, functions) in enumerate(files.items(), start=1):
        room = file.partition("/")[0]
        entry = f"{number:4}  {file:38} {len(functions):3}  {functions[0]}"
        rooms.setdefault(room, []).append(entry)
    lines = [
        line
        for room, entries in rooms.items()
        for line in (f"{room} ({len(entries)})", *entries)
    ]
    return "\n".join([*lines, f"{len(files)} files"])


def program() -> int:
    """Carry out the command in a temporary directory, and print its walk."""
    if not sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    sys.path.insert(0, str(SOURCE))
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="attnflow-walk-") as directory:
        os.environ["ATTNFLOW_STORE"] = f"{directory}/store"
        os.environ["XDG_CACHE_HOME"] = f"{directory}/cache"
        os.chdir(directory)
        try:
            files, code = walk(sys.argv[1:])
        finally:
            os.chdir(here)
    print(listing(files))
    return code


if __name__ == "__main__":
    sys.exit(program())
