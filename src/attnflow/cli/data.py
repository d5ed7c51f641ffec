"""`attnflow data`: data sets that are kept in files."""

from typing import Annotated, Any

import typer

from attnflow.cli.guard import OTHERWISE, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.tables import Table

app = typer.Typer(no_args_is_help=True, help="Data sets: what is here, and get more.")
Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A data set; all without it.")
]


@app.command("list")
@guarded
def list_sets(json: Json = None) -> int:
    """List the data sets, their files, and whether these are here."""
    from attnflow.data.real import data_directory

    output = Output(json)
    found = _described(None)
    output.give({"directory": str(data_directory()), "datasets": found})
    output.say(f"Data sets in {data_directory()}\n")
    for one in found:
        output.say(f"{one['id']}: {one['title']} ({one['licence']})")
        rows = [
            (f["name"], f["state"], str(f["size"]), f["sha256"]) for f in one["files"]
        ]
        output.show(Table(("file", "state", "bytes", "sha256"), rows))
    return 0


@app.command("fetch")
@guarded
def fetch_sets(name: Name = None, json: Json = None) -> int:
    """Download what is not here, and check it."""
    from attnflow.cli.progress import shown_progress
    from attnflow.data.real import fetch

    output = Output(json)
    with shown_progress() as bar:
        for one in _wanted(name):
            bar.begin(one.id)
            fetch(one.id, progress=bar)
    found = _described(name)
    output.give({"datasets": found})
    for file in (file for one in found for file in one["files"]):
        output.say(file["path"])
    return 0


@app.command("path")
@guarded
def path(name: Name = None, json: Json = None) -> int:
    """Print where the files are, or belong; 1 where one is missing or damaged."""
    output = Output(json)
    found = _described(name)
    output.give({"datasets": found})
    files = [file for one in found for file in one["files"]]
    for file in files:
        output.say(file["path"])
    return 0 if all(file["state"] == "present" for file in files) else OTHERWISE


def _wanted(name: str | None) -> list[Any]:
    from attnflow.data.real import CATALOGUE, data_set

    return list(CATALOGUE.values()) if name is None else [data_set(name)]


def _described(name: str | None) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "title": one.title,
            "licence": one.licence,
            "files": [_file(one, file) for file in one.files],
        }
        for one in _wanted(name)
    ]


def _file(owner: Any, file: Any) -> dict[str, Any]:
    from attnflow.data.real import place_of, state_of

    return {
        "name": file.name,
        "path": str(place_of(owner, file)),
        "state": state_of(owner, file),
        "size": file.size,
        "sha256": file.sha256,
        "content_sha256": file.content,
        "url": file.url,
    }
