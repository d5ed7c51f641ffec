"""`attnflow runs`, `export`, `export-site` and `diff`: results that are kept."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli.output import (
    ABSENT,
    OTHERWISE,
    Json,
    Output,
    Table,
    complain,
    guarded,
    number,
    seconds,
)
from attnflow.cli.reproduce import OUTPUT, QUICK
from attnflow.cli.run import changed_settings
from attnflow.schema.files import check_place
from attnflow.schema.settings import typed_setting

if TYPE_CHECKING:
    from attnflow.claims import Row


@guarded
def runs(
    paper: Annotated[
        str | None, typer.Option(metavar="PAPER", help="List only runs of this paper.")
    ] = None,
    json: Json = None,
) -> int:
    """List the stored runs, newest first."""
    from attnflow import papers
    from attnflow.runs.store import Store

    output = Output(json)
    store = Store()
    slug = papers.paper(paper).slug if paper else None
    summaries = [s for s in store.list() if slug in (None, s["paper"])]
    output.give({"runs": summaries})
    output.say(f"{len(summaries)} runs in {store.root}\n")
    if old := store.old_folders():
        output.say(
            f"{len(old)} runs of an earlier attnflow are there as folders without "
            f"checksums. They are not read; remove them, {old[0]} the first.\n"
        )
    columns = ("run", "experiment", "form", "outcome", "seeds", "time", "changed")
    rows = [
        (
            summary["id"],
            f"{summary['paper']}/{summary['experiment']}",
            summary["form"],
            summary["outcome"],
            str(len(summary["seeds"])),
            seconds(summary["seconds"]),
            _changed(summary),
        )
        for summary in summaries
    ]
    output.show(Table(columns, rows))
    return 0


def _changed(summary: Mapping[str, Any]) -> str:
    """The changed settings of a run, or all of them if none are declared."""
    changed = changed_settings(summary)
    if changed is None:
        return " ".join(typed_setting(summary["setting"]))
    return " ".join(changed) or ABSENT


@guarded
def export(
    run: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the run, or its beginning.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file.")
    ] = None,
    netcdf: Annotated[Path | None, typer.Option(hidden=True)] = None,
    json: Json = None,
) -> int:
    """Write a stored run as a netCDF file."""
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.store import Store

    output = Output(json)
    if netcdf is not None:
        complain("Warning: --netcdf is deprecated and goes in 0.3: write --out FILE.")
    place = out or netcdf
    if place is None:
        raise ValueError("The file is missing. Write --out FILE.nc.")
    store = Store()
    check_place(place)
    id = store.find(run)
    path = export_netcdf(store.read(id), place)
    output.give({"run": id, "file": path})
    output.say(f"{id} is in {path}")
    return 0


@guarded
def export_site(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="Output directory.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help=f"Site to export (default: {OUTPUT})."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"Export the smaller runs in {QUICK}.")
    ] = False,
    json: Json = None,
) -> int:
    """Write reproduced figures, tables and stored verdicts as a static site."""
    from attnflow.site.write import export_site as export

    output = Output(json)
    pages = export(source or (QUICK if quick else OUTPUT), target, quick=quick)
    output.give({"site": target, "pages": pages})
    for page in pages:
        output.say(f"page  {page}")
    return 0


@guarded
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD.json", help="Before.")],
    new: Annotated[Path, typer.Argument(metavar="NEW.json", help="After.")],
    json: Json = None,
) -> int:
    """Compare two claims tables that `attnflow verify --json FILE` wrote.

    Tables of version 1 are read too. The exit code is 1 if a claim was decided
    in both tables, with different verdicts.
    """
    from attnflow.claims.differences import Difference, compare, read_table

    output = Output(json)
    before, after = read_table(old), read_table(new)
    changes = compare(before, after)
    same = len(before) - sum(change.old is not None for change in changes)
    output.give({"changes": [c.as_json() for c in changes], "same": same})
    rows = [
        (c.row.id, str(c.kind), _summary(c.old), _summary(c.new), c.row.statement)
        for c in changes
    ]
    output.show(Table(("claim", "differs", "old", "new", "statement"), rows))
    kinds = Counter(str(change.kind) for change in changes)
    counts = "; ".join(f"{kind}: {count}" for kind, count in kinds.items())
    output.say(f"Alike in both: {same}. {counts}".rstrip())
    return OTHERWISE if any(c.kind is Difference.OPPOSITE for c in changes) else 0


def _summary(row: "Row | None") -> str:
    """`holds as printed; … (theorem) 5/5, margin 0.93`."""
    if row is None:
        return ABSENT
    held = f"{row.held}/{row.seeds}, margin {number(row.margin)}"
    return f"{row.words} ({row.scope}) {held}"
