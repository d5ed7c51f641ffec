"""A check of what is kept: every file is read whole and compared with its checksums.

Each room yields findings about the files that it writes; `attnflow store check` puts
them together. What is damaged is computed anew where the file, or another one, still
says what it was; else it is removed, and computed when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

from attnflow import schema
from attnflow.papers import papers
from attnflow.runs.code import code_file
from attnflow.runs.runner import Progress, Runner, find_experiment
from attnflow.runs.store import SUFFIX, Store, read_run
from attnflow.runs.trials import parse, trials_of
from attnflow.runs.verify import Verdicts, verdict_keys, verify_claims
from attnflow.schema import files
from attnflow.schema.declarations import Request
from attnflow.schema.installation import programs_directory

State = Literal["sound", "damaged", "leftover", "foreign"]
"""`leftover`: of no use to anybody; `foreign`: of another version, or not of attnflow.

Only what is damaged is a fault. What is foreign is never touched.
"""

_PROGRAMS = (".program", ".trace")
_OLD_PROGRAMS = ("-cache", "-atime")


class Unrepaired(Exception):
    """What is damaged could not be repaired, and stays; the message says why."""


@dataclass(frozen=True)
class Finding:
    """A file that is kept, and its state.

    **Arguments:**

    - `kind`: what it holds: `run`, `verdict`, `batch`, …
    - `trouble`: what is the matter with it, as the end of a sentence.
    - `repair`: computes it anew, or removes it, and says which; it raises `Unrepaired`
      where it can do neither.
    """

    kind: str
    path: Path
    state: State = "sound"
    trouble: str = ""
    repair: Callable[[], str] | None = None


def check_runs(store: Store, progress: Progress | None = None) -> Iterator[Finding]:
    """Findings about the runs of a store, and about what else lies beside them."""
    for path in _files_in(store.root):
        if path.name.endswith(SUFFIX):
            repair = partial(_repair_run, store, path, progress)
            yield checked("run", path, partial(_read_run, store, path), repair)
        else:
            yield Finding("other", path, "foreign", "is not a file of attnflow")
    for folder in store.old_folders():
        yield Finding("run", folder, "foreign", _OLD)


_OLD = (
    "was stored by an earlier attnflow, without checksums: it is not read, and you can "
    "remove it"
)


def check_verdicts(store: Store, progress: Progress | None = None) -> Iterator[Finding]:
    """Findings about the verdicts of a store."""
    verdicts = Verdicts(store.root)
    for path in _files_in(store.verdicts):
        repair = partial(_repair_verdict, store, path, progress)
        yield checked("verdict", path, partial(verdicts.parse, path), repair)


def check_trials(store: Store) -> Iterator[Finding]:
    """Findings about the trials of a store."""
    for path in _files_in(trials_of(store)):
        repair = partial(remove, path, "the claim is tried again when it is exported")
        yield checked("trial", path, partial(parse, path), repair)


def check_caches() -> Iterator[Finding]:
    """Findings about compiled programs, and about digests of code."""
    parsed = code_file()
    yield from leftovers(parsed.parent)
    if parsed.is_file():
        repair = partial(remove, parsed, "the code is parsed anew when it is needed")
        yield checked(
            "digests of code", parsed, partial(files.read_head, parsed), repair
        )
    directory = programs_directory()
    yield from leftovers(directory)
    for path in _files_in(directory):
        if path.name.endswith(_PROGRAMS):
            repair = partial(remove, path, "it is compiled anew when it is needed")
            read = partial(files.read_sealed, path)
            yield checked("program", path, read, repair)
        elif path.name.endswith(_OLD_PROGRAMS):
            yield Finding("program", path, "foreign", _OLD)
        else:
            yield Finding("other", path, "foreign", "is not a file of attnflow")


def leftovers(directory: Path) -> Iterator[Finding]:
    """What processes that no longer live left half-written in a directory."""
    for path in files.stale(directory):
        repair = partial(remove, path, "nobody needs it")
        yield Finding("temporary", path, "leftover", "was never completed", repair)


def checked(
    kind: str, path: Path, read: Callable[[], Any], repair: Callable[[], str]
) -> Finding:
    """The finding about a file, by reading it."""
    try:
        read()
    except files.OtherVersion as error:
        return Finding(kind, path, "foreign", f"cannot be read: {error}")
    except FileNotFoundError:
        # Somebody removed or replaced it meanwhile.
        return Finding(kind, path)
    except PermissionError as error:
        return Finding(kind, path, "damaged", f"cannot be read: {error.strerror}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Finding(kind, path, "damaged", f"is damaged: {error}", repair)
    return Finding(kind, path)


def remove(path: Path, reason: str) -> str:
    """Remove a file, and say so."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Unrepaired(f"it could not be removed ({error.strerror})") from error
    return f"removed: {reason}"


def _files_in(directory: Path) -> Iterator[Path]:
    """The files of a directory that are no temporary ones, in order of their names."""
    if directory.is_dir():
        paths = (path for path in directory.iterdir() if path.is_file())
        yield from sorted(p for p in paths if not p.name.startswith(".tmp-"))


def _read_run(store: Store, path: Path) -> None:
    id = path.name.removesuffix(SUFFIX)
    schema.check(read_run(path))
    if store.summary(id) is None:
        raise ValueError("its summary is of another run, or none")


def _repair_run(store: Store, path: Path, progress: Progress | None) -> str:
    """Compute a run anew from its summary, which has a checksum of its own."""
    id = path.name.removesuffix(SUFFIX)
    summary = store.summary(id)
    if summary is None:
        return remove(
            path, "what run it was is not known; it is computed when it is asked for"
        )
    paper, experiment = find_experiment(f"{summary['paper']}/{summary['experiment']}")
    request = Request(experiment, summary["setting"], seeds=tuple(summary["seeds"]))
    runner = Runner(store, rerun=True, progress=progress)
    for check, lift in product((False, True), repeat=2):
        inputs = {"check": check, "lift": lift}
        if runner.address(paper, request, **inputs) == id:
            runner.run(paper, request, **inputs)
            _read_run(store, path)
            return "computed anew"
    return remove(
        path,
        "it is of earlier code, or of your own arrays, times or observables; run the "
        "experiment again",
    )


def _repair_verdict(store: Store, path: Path, progress: Progress | None) -> str:
    """Judge a claim anew whose verdict has this key."""
    claims = ((p, claim) for p in papers().values() for claim in p.claims)
    for paper, claim in claims:
        for key, seeds in verdict_keys(paper, claim):
            if key == path.stem:
                path.unlink(missing_ok=True)
                selection = [(paper, [claim])]
                verify_claims(selection, seeds=seeds, store=store, progress=progress)
                return f"judged anew: {paper.slug}/{claim.id}"
    return remove(path, "it is of earlier code, or of another number of seeds")
