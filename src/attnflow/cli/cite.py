"""`attnflow cite`: BibTeX."""

from typing import Annotated

import typer

from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output


@guarded
def cite(
    paper: Annotated[str, typer.Argument(metavar="PAPER")], json: Json = None
) -> int:
    """Print the BibTeX entries of a paper and of attnflow."""
    from attnflow.papers.citation import citation

    output = Output(json)
    entries = citation(paper)
    output.give({"paper": paper, "bibtex": entries})
    output.say(entries)
    return 0
