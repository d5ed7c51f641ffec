"""`attnflow export-site`: the pages and what they show, in a folder to give away."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.reproduce import OUTPUT, QUICK


@guarded
def export_site(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to fill.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help=f"The site; without it {OUTPUT}."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"Of the smaller runs in {QUICK}.")
    ] = False,
    json: Json = None,
) -> int:
    """Write what was reproduced as a static site, with the verdicts known by now."""
    from attnflow.site.export import export_site as export

    output = Output(json)
    pages = export(source or (QUICK if quick else OUTPUT), target)
    output.give({"site": target, "pages": pages})
    for page in pages:
        output.say(f"page  {page}")
    return 0
