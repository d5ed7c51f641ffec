"""`attnflow demo`: a paper's headline result, its stages, claims and figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import (
    OTHERWISE,
    Json,
    Output,
    guarded,
    in_background,
    shown_progress,
)
from attnflow.cli.reproduce import as_json, exhibit_table

if TYPE_CHECKING:
    from attnflow.papers.base import Paper
    from attnflow.runs.runner import Runner

SEEDS = 3
"""For claims about seeds: enough to see what a verdict is."""


@guarded
def demo(
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output directory.")
    ] = None,
    json: Json = None,
) -> int:
    """Show one headline result: its stages, some claims, figures and a page."""
    from attnflow.cli.verdicts import claims_table, is_surprise
    from attnflow.papers import papers
    from attnflow.runs.runner import Runner
    from attnflow.runs.verify import verify_claims
    from attnflow.site.pages import write_page
    from attnflow.site.reproduce import Drawing, output_place
    from attnflow.site.write import write_site_index

    output = Output(json)
    paper = next(iter(papers().values()))
    place = output_place(out, paper, alone=True)
    output.say(f"{paper.title}\n{paper.summary}\n")
    with shown_progress() as bar:
        runner = Runner(seeds=SEEDS, progress=bar, call=in_background)
        bar.begin(f"{paper.slug}/{paper.headline}")
        headline = Drawing(paper, paper.exhibit(paper.headline), place.directory)
        results = [headline.draw(runner)]
        bar.begin("claims")
        claims = [paper.claim(id) for id in paper.headline_claims]
        rows = verify_claims([(paper, claims)], seeds=SEEDS, progress=bar)
    page = write_page(
        paper, results, rows, place.directory, runs=runner.runs, site=place.site
    )
    if place.index:
        write_site_index(place.site)
    exhibits = [as_json(result) for result in results]
    output.give({"exhibits": exhibits, "claims": [row.as_json() for row in rows]})
    _show_stages(output, paper, runner)
    output.show(claims_table(rows))
    output.show(exhibit_table(results))
    output.say(f"Open {page}")
    output.say(f"Next: attnflow list, or attnflow verify {paper.slug}")
    differs = any(map(is_surprise, rows)) or any(r.surprises for r in results)
    return OTHERWISE if differs else 0


def _show_stages(output: Output, paper: "Paper", runner: "Runner") -> None:
    from attnflow.cli.run import stage_table
    from attnflow.runs.runner import stage_rows

    for name, request in paper.exhibit(paper.headline).needs.items():
        rows = stage_rows(runner.run(paper, request), paper.stage_table)
        if rows:
            output.say(f"Stages of {paper.slug}/{request.experiment} ({name})")
            output.show(stage_table(rows))
