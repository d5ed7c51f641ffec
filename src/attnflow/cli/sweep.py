"""`attnflow sweep`: an experiment over a grid of settings."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.output import (
    OTHERWISE,
    Json,
    Output,
    guarded,
    shown_progress,
)
from attnflow.schema.files import check_place


@guarded
def sweep(
    experiment: Annotated[
        str | None,
        typer.Argument(metavar="PAPER/EXPERIMENT", help="mixture/figure1, say."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUES", help="omega=0.01..1:9:log, width=16,64, or steps=500."
        ),
    ] = None,
    zip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY,KEY", help="Vary these keys together, along one dim."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of seeds.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="loss|loss@0.1|loss~loglog|CLAIM",
            help="Statistic or claim to compute in each cell.",
        ),
    ] = None,
    executor: Annotated[
        str, typer.Option(metavar="NAME", help="local, dask or here.")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of processes.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="tcp://…", help="Address of a running Dask cluster."),
    ] = None,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Cells per batch.")
    ] = 32,
    limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time limit for a cell.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Compute failed cells again.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show progress; compute nothing.")
    ] = False,
    refine: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="Compute only cells near the boundary; fit its law."
        ),
    ] = None,
    coarse: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Spacing of the first cells of --refine."
        ),
    ] = 8,
    power: Annotated[
        float,
        typer.Option(
            metavar="P", help="Power of the second key in the boundary's law."
        ),
    ] = 2.0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.nc", help="Also write the result as netCDF."),
    ] = None,
    json: Json = None,
) -> int:
    """Run an experiment over a grid of settings; stored batches are not recomputed.

    KEY=a..b:n[:log] and KEY=x,y,z are swept, KEY=x is set. See docs/sweeps.md.
    """
    from attnflow.cli import show_sweep
    from attnflow.runs.run_files import export_netcdf
    from attnflow.sweeps import (
        BatchStore,
        choose_executor,
        make_batches,
        parse_settings,
        status_in,
        status_of,
    )
    from attnflow.sweeps.sweep import compute_sweep, plan_sweep

    output = Output(json)
    if out:
        check_place(out)
    if experiment is None:
        show_sweep.show_all(output, BatchStore(), status=status)
        return 0
    plan = plan_sweep(
        experiment,
        parse_settings(settings or ()),
        zip=[group.split(",") for group in zip or ()],
        seeds=seeds,
        measure=measure,
        batch=batch,
    )
    if status:
        done = status_of(make_batches(plan), BatchStore())
        show_sweep.show_status(output, plan, done)
        return 0
    pool = choose_executor(executor, workers=workers, scheduler=scheduler)
    with shown_progress() as bar, closing(pool):
        bar.begin(plan.name)
        result = compute_sweep(
            plan,
            pool,
            refine=refine,
            coarse=coarse,
            retry=retry,
            limit=limit,
            progress=bar,
        )
    if out:
        export_netcdf(result, out)
    show_sweep.show_result(output, plan, result, power=power)
    return 0 if status_in(result).is_complete else OTHERWISE
