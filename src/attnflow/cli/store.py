"""`attnflow store check`: whether what is kept is as it was written."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import OTHERWISE, Bar, Json, Output, Table, guarded
from attnflow.cli.reproduce import OUTPUT

if TYPE_CHECKING:
    from attnflow.runs.check import Finding
    from attnflow.runs.store import Store

store = typer.Typer(no_args_is_help=True, help="Check and repair stored files.")
_STATES = ("sound", "damaged", "leftover", "foreign")


@store.command("check")
@guarded
def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Recompute or remove damaged files.")
    ] = False,
    site: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Site to check too (default: {OUTPUT})."),
    ] = None,
    json: Json = None,
) -> int:
    """Read every stored file and compare it with its checksums.

    These are runs, sweeps, verdicts, figures and tables, and compiled programs.
    The exit code is 1 if something is damaged and was not repaired.
    """
    from attnflow.cli.output import shown_progress
    from attnflow.runs.store import Store

    output = Output(json)
    kept = Store()
    _check_folders(kept, site)
    counts: Counter[tuple[str, str]] = Counter()
    records, unrepaired = [], 0
    with shown_progress() as bar:
        for finding in _findings(kept, site or OUTPUT, bar):
            counts[finding.kind, finding.state] += 1
            if finding.state != "sound":
                record = _told(finding, repair=repair)
                records.append(record)
                unrepaired += finding.state == "damaged" and not record["done"]
    kinds = list(dict.fromkeys(kind for kind, _ in counts))
    table = {kind: {state: counts[kind, state] for state in _STATES} for kind in kinds}
    places = {"store": kept.root, "site": site or OUTPUT}
    output.give(
        {**places, "kinds": table, "findings": records, "unrepaired": unrepaired}
    )
    output.say(_answer(counts, unrepaired, repair=repair))
    output.say(f"store  {kept.root}\n")
    rows = [(kind, *map(str, table[kind].values())) for kind in kinds]
    output.show(Table(("kind", *_STATES), rows))
    for record in records:
        output.say(f"{record['path']} {record['sentence']}")
    return OTHERWISE if unrepaired else 0


def _check_folders(kept: "Store", site: Path | None) -> None:
    for folder, what in ((kept.root, "The store"), (site, "The site")):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise ValueError(f"{what} {folder} is not a folder. Name another one.")
    if site is not None and not site.exists():
        raise ValueError(f"There is no folder {site}. Name the folder of a site.")


def _findings(kept: "Store", site: Path, bar: Bar) -> "Iterator[Finding]":
    from attnflow.runs.check import (
        check_caches,
        check_runs,
        check_trials,
        check_verdicts,
        leftovers,
    )
    from attnflow.runs.trials import trials_of
    from attnflow.site.check import check_site
    from attnflow.sweeps.check import check_sweeps

    # Runs first: recomputing other results may need them.
    bar.begin("compiled programs")
    yield from check_caches()
    bar.begin("runs")
    for directory in (kept.root, kept.verdicts, trials_of(kept)):
        yield from leftovers(directory)
    yield from check_runs(kept, bar)
    bar.begin("verdicts")
    yield from check_verdicts(kept, bar)
    yield from check_trials(kept)
    bar.begin("sweeps")
    yield from check_sweeps(kept)
    bar.begin("figures and tables")
    yield from check_site(site, kept)


def _told(finding: "Finding", *, repair: bool) -> dict[str, object]:
    """A finding as JSON and as a sentence, after it was repaired if it is to be."""
    from attnflow.runs.check import Unrepaired

    done = why = ""
    if repair and finding.repair is not None:
        try:
            done = finding.repair()
        except (Unrepaired, OSError, ValueError) as error:
            why = f" It could not be repaired: {error}"
    sentence = finding.trouble + (f"; {done}" if done else "")
    return {
        "kind": finding.kind,
        "path": finding.path,
        "state": finding.state,
        "trouble": finding.trouble,
        "done": done,
        "sentence": f"{sentence.rstrip('.')}.{why}",
    }


def _answer(
    counts: "Counter[tuple[str, str]]", unrepaired: int, *, repair: bool
) -> str:
    """The first sentence: whether all is well, and what to do if it is not."""
    states: Counter[str] = Counter()
    for (_, state), count in counts.items():
        states[state] += count
    checked = states["sound"] + states["damaged"]
    if not states["damaged"]:
        answer = f"All {checked} files are as they were written."
    elif not unrepaired:
        answer = (
            f"{states['damaged']} of {checked} files were damaged, and are repaired."
        )
    else:
        answer = f"{unrepaired} of {checked} files are damaged."
        answer += "" if repair else " `attnflow store check --repair` repairs them."
    if states["leftover"]:
        verb = "are removed" if repair else "can go (--repair removes them)"
        answer += f" {states['leftover']} leftovers {verb}."
    return answer
