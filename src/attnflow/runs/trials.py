"""Trials of claims that a store keeps, for when a verdict is explained again.

    <store>/trials/<key>.trial  the verdicts on a statement under generated changes

A trial follows from a judge, its rule and its runs, as a verdict does, and from the
code that generates changes: its key covers both. Changes that a claim names itself are
not part of it: they are functions, whose arguments no digest covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnflow.claims import Verdict
from attnflow.runs.code import code_digest
from attnflow.runs.store import Store
from attnflow.schema import files
from attnflow.schema.settings import digest

if TYPE_CHECKING:
    from attnflow.claims.trials import Trial

_CODE = ("attnflow.claims.trials",)
SUFFIX = ".trial"


def trials_of(store: Store) -> Path:
    """The directory of a store's trials, whether or not it exists."""
    return store.root / "trials"


@dataclass(frozen=True)
class Trials:
    """The trials behind one verdict in a store.

    **Arguments:**

    - `root`: the directory of the store.
    - `verdict`: the key of the verdict, as `verdict_key` gives it.
    """

    root: Path
    verdict: str

    def recall(self, statement: str, compute: Callable[[], Trial]) -> Trial:
        """The trial of a statement: the stored one, else a new one, which is stored.

        A trial that cannot be written is computed again the next time.
        """
        path = self._path(statement)
        with suppress(OSError, ValueError, KeyError, TypeError):
            return parse(path)
        trial = compute()
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            files.write_sealed(path, _as_json(trial))
        return trial

    def _path(self, statement: str) -> Path:
        key = digest(self.verdict, statement, code_digest(*_CODE))
        return trials_of(Store(self.root)) / f"{key}{SUFFIX}"


def parse(path: Path) -> Trial:
    """The trial in a file; an error where it is damaged."""
    from attnflow.claims.trials import Trial

    content = files.read_head(path)
    variables = {
        (str(run), str(name)): _verdicts(words)
        for run, name, words in content["variables"]
    }
    return Trial(
        variables, _verdicts(content["settings"]), _verdicts(content["unknown"])
    )


def _as_json(trial: Trial) -> dict[str, Any]:
    """A trial in plain Python, in its order, which reports have too."""
    variables = [(*pair, dict(found)) for pair, found in trial.variables.items()]
    return {
        "variables": variables,
        "settings": dict(trial.settings),
        "unknown": dict(trial.unknown),
    }


def _verdicts(words: Mapping[str, str | None]) -> dict[str, Verdict | None]:
    return {
        change: None if word is None else Verdict(word)
        for change, word in words.items()
    }
