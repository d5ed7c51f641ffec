"""`attnflow run`: one experiment."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli import target
from attnflow.cli.background import in_background
from attnflow.cli.guard import INTERRUPTED, guarded
from attnflow.cli.output import Json, Output, must_have_directory, shown_progress


@guarded
def run(
    experiment: Annotated[str, typer.Argument(metavar="PAPER/EXPERIMENT")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="How many seeds.")] = None,
    rerun: Annotated[bool, typer.Option("--rerun", help="Even if stored.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Your own data, an .npz file."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Your own initial weights."),
    ] = None,
    record: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="What to record.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="0,10,100", help="When to record.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Repeat a flow at a tenth of its tolerance."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.nc", help="Write the run as netCDF too."),
    ] = None,
    json: Json = None,
) -> int:
    """Run one experiment, or read its run where it is stored."""
    from attnflow.cli.show_run import give_and_show
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.runner import Runner, find_experiment, is_interrupted
    from attnflow.schema.declarations import Request

    output = Output(json)
    if out:
        must_have_directory(out)
    paper, id = find_experiment(experiment)
    request = Request(id, target.overrides(settings or ()), seeds=seeds)
    with shown_progress() as bar:
        bar.begin(f"{paper.slug}/{id}")
        runner = Runner(rerun=rerun, progress=bar, call=in_background)
        dataset = runner.run(
            paper,
            request,
            data=data,
            weights=weights,
            record=target.names(record),
            at=target.times(at),
            check=check,
        )
    if out:
        export_netcdf(dataset, out)
    give_and_show(output, paper, dataset, [place for place in (out,) if place])
    return INTERRUPTED if is_interrupted(dataset) else 0
