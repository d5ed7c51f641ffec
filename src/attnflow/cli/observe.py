"""`attnflow observe`: a checkpoint that a user trained, as a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.output import Json, Output, guarded
from attnflow.cli.run import give_and_show, parse_names, parse_overrides, parse_times
from attnflow.schema.files import check_place


@guarded
def observe(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="PAPER/EXPERIMENT", help="What was trained: mixture/figure1, say."
        ),
    ],
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|KEY=VALUE",
            help="Checkpoints (.npz, .safetensors, .pt, .pth), and settings.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.nc", help="Output file.")
    ],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="0,10,100",
            help="Times of the files, in order. Without it, each file is "
            "the whole series of one seed.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OURS=THEIRS",
            help="Name of a weight in the files; OURS=A+B stacks A and B.",
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="0,1,2", help="Seeds of the samples that were trained on."
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Further observables to record."),
    ] = None,
    json: Json = None,
) -> int:
    """Convert checkpoints (weights or tables that you trained) into a run.

    Then check claims on it: `attnflow verify PAPER/CLAIM --run FILE.nc`.
    """
    from attnflow import observe as observe_checkpoints
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.runner import find_experiment, stage_rows
    from attnflow.runs.store import summarise
    from attnflow.schema import left_out_of

    output = Output(json)
    check_place(out)
    paper, _ = find_experiment(experiment)
    files, settings = files_and_settings(arguments)
    times, seed_numbers = times_or_seeds(len(files), at, seeds)
    run = observe_checkpoints(
        experiment,
        files,
        at=times,
        names=name_map(name or ()),
        seeds=seed_numbers,
        record=parse_names(record),
        **settings,
    )
    export_netcdf(run, out)
    summary = summarise(run, stage_rows(run, paper.stage_table))
    give_and_show(output, summary, [out])
    for observable, why in left_out_of(run).items():
        output.say(f"left out {observable}: {why}")
    if missing := run.attrs.get("missing_times"):
        output.say(f"lacks    {missing}")
    return 0


def files_and_settings(texts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Texts with an equals sign are settings, unless there is such a file."""
    settings = [text for text in texts if "=" in text and not Path(text).exists()]
    files = [text for text in texts if text not in settings]
    if not files:
        raise ValueError("There are no files: give checkpoints, such as weights.npz.")
    return files, parse_overrides(settings)


def times_or_seeds(
    count: int, at: str | None, seeds: str | None
) -> tuple[list[float] | None, list[int] | None]:
    """The times of `count` files, or the seeds of files with a whole series each."""
    times, texts = parse_times(at), parse_names(seeds) or []
    if not all(text.isdecimal() for text in texts):
        raise ValueError(f"--seeds {seeds!r} is not a list. Write for example 0,1,2.")
    numbers = [int(text) for text in texts] or None
    if times is None:
        return None, numbers or list(range(count))
    if numbers is None:
        return times, None
    raise ValueError(
        f"--at {at} says that the files are moments of one training, and --seeds "
        f"{seeds} that each is a training of its own: give one of the two."
    )


def name_map(texts: Sequence[str]) -> dict[str, str | list[str]] | None:
    """Names from texts such as `W_V=plus.weight+minus.weight`."""
    return {
        ours: theirs.split("+") if "+" in theirs else theirs
        for ours, theirs in parse_overrides(texts).items()
    } or None
