"""`attnflow new-paper`: a package for a paper of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output


@guarded
def new_paper(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    into: Annotated[
        Path, typer.Option(metavar="DIR", help="The directory to write it into.")
    ] = Path(),
    json: Json = None,
) -> int:
    """Write a package for a paper of your own: settings, figures, claims and tests.

    Once installed, it is listed, verified, reproduced and swept like the others.
    """
    from attnflow.cli.scaffold import write_paper

    output = Output(json)
    files = write_paper(name, into)
    output.give({"paper": name, "files": files})
    for file in files:
        output.say(str(file))
    output.say(f"\nNext:\n  pip install -e '{into / name}[test]'")
    output.say(f"  pytest {into / name}\n  attnflow verify {name}")
    output.say(f"Then change what is in {into / name}; its README says where.")
    return 0
