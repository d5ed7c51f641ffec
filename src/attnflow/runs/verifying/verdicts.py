"""Verdicts on disk: one small file each, complete or absent.

<store>/verdicts/<key>.json    a row of the claims table
"""

import json
from contextlib import suppress
from pathlib import Path

from attnflow.claims import Row, Verdict
from attnflow.runs.store import Store, atomic


class Verdicts:
    """The verdicts that a store keeps.

    **Arguments:**

    - `root`: the directory of the store; without it the user's own.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Store(root).root / "verdicts"

    def read(self, key: str) -> Row | None:
        """The row with this key; `None` where there is none that can be read."""
        with suppress(OSError, ValueError):
            return Row.from_json(json.loads(self._path(key).read_text("utf-8")))
        return None

    def write(self, key: str, row: Row) -> None:
        """Keep a row, unless it is unchecked: what was missing may come.

        A verdict that cannot be written is judged again the next time, from runs that
        are stored.
        """
        if row.verdict is Verdict.UNCHECKED:
            return
        with suppress(OSError):
            self.root.mkdir(parents=True, exist_ok=True)
            atomic.remove_stale(self.root)
            with atomic.new_file(self._path(key)) as temporary:
                temporary.write_text(json.dumps(row.as_json()), "utf-8")

    def _path(self, key: str) -> Path:
        return self.root / f"{key}.json"
