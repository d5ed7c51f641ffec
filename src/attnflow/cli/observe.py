"""`attnflow observe`: what somebody else trained, as a run like ours."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli import checkpoints, target
from attnflow.cli.guard import guarded
from attnflow.cli.output import Json, Output, must_have_directory


@guarded
def observe(
    experiment: Annotated[str, typer.Argument(metavar="PAPER/EXPERIMENT")],
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE... [KEY=VALUE]...",
            help="Checkpoints (.npz, .safetensors, .pt, .pth), and settings.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.nc", help="The run to write.")
    ],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="0,10,100",
            help="When the files are, one after the other; without it each file holds "
            "a whole series, of a seed each.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OURS=THEIRS",
            help="Where a weight is in the files; THEIRS+THEIRS are stacked.",
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="0,1,2", help="Whose samples they are.")
    ] = None,
    record: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="What else to record.")
    ] = None,
    json: Json = None,
) -> int:
    """See weights or tables that you trained through our observables.

    What is written is a run: `attnflow verify PAPER/CLAIM --run FILE.nc` judges it.
    """
    from attnflow import observe as see
    from attnflow.cli.show_run import give_and_show
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.runner import find_experiment
    from attnflow.schema import left_out_of

    output = Output(json)
    must_have_directory(out)
    paper, _ = find_experiment(experiment)
    files, settings = checkpoints.files_and_settings(given)
    found = checkpoints.typed(files, at, seeds)
    made = see(
        experiment,
        found.checkpoints,
        at=found.at,
        names=checkpoints.name_map(name or ()),
        seeds=found.seeds,
        record=target.names(record),
        **settings,
    )
    export_netcdf(made, out)
    give_and_show(output, paper, made, [out])
    for left, why in left_out_of(made).items():
        output.say(f"left out {left}: {why}")
    if missing := made.attrs.get("missing_times"):
        output.say(f"lacks    {missing}")
    return 0
