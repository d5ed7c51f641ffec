"""`attnflow explore`: pages that compute experiments, without a server."""

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.output import Json, Output, guarded, shown_progress
from attnflow.cli.reproduce import OUTPUT
from attnflow.cli.run import parse_overrides
from attnflow.schema.files import check_place


@guarded
def explore(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER[/EXPERIMENT]", help="mixture/figure1, say (default: all)."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Settings: omega=0.05, say."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help=f"Write one file (default: pages in {OUTPUT})."
        ),
    ] = None,
    json: Json = None,
) -> int:
    """Write pages with sliders that compute experiments in the browser.

    One file, without a server: `attnflow explore mixture/figure1 --out a.html`
    Without a target, pages for all papers and an index, opened in a browser.
    """
    from attnflow.papers.base import select_papers
    from attnflow.runs.verify import pool_of
    from attnflow.site.explore import explore as build
    from attnflow.site.explore import write_explorers, write_shelf
    from attnflow.site.reproduce import output_place

    output = Output(json)
    overrides = parse_overrides(settings or ())
    if out:
        check_place(out)
        if target is None:
            raise ValueError(
                "--out is one file, and there are several papers. Name one, as in "
                f"attnflow explore mixture --out {out}."
            )
    chosen = select_papers(target)
    with shown_progress() as bar:
        if target is not None and (out or chosen[0][1] or overrides):
            bar.begin(target)
            explorer = build(target, overrides)
            paper, id = chosen[0]
            if out is None:
                place = output_place(None, paper, alone=True)
                out = place.directory / f"explore{f'-{id}' if id else ''}.html"
            pages = [explorer.save(out)]
        else:
            places = [
                (paper, output_place(None, paper, alone=False)) for paper, _ in chosen
            ]
            with pool_of(None) as pool:
                pages = write_explorers(places, bar, pool=pool)
            if target is None:
                pages = [write_shelf(places, places[0][1].site), *pages]
    output.give({"pages": pages})
    for page in pages:
        output.say(f"page  {page}")
    if sys.stdout.isatty() and json is None and pages:
        webbrowser.open(pages[0].resolve().as_uri())
    return 0
