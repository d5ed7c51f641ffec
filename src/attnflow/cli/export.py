"""`attnflow export`: a stored run as a file to give away."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output


@guarded
def export(
    run: Annotated[str, typer.Argument(help="Its address, or how that begins.")],
    netcdf: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
    json: Json = None,
) -> int:
    """Write a stored run as a netCDF file."""
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.store import Store

    output = Output(json)
    store = Store()
    id = store.find(run)
    path = export_netcdf(store.read(id), netcdf)
    output.give({"run": id, "file": path})
    output.say(f"{id} is in {path}")
    return 0
