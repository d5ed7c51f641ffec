"""`attnflow run`: one experiment, and how a run is shown."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import (
    ABSENT,
    INTERRUPTED,
    Json,
    Output,
    Table,
    guarded,
    in_background,
    must_have_directory,
    number,
    seconds,
    shown_progress,
    spread,
)
from attnflow.schema.settings import typed

if TYPE_CHECKING:
    import xarray as xr

    from attnflow.papers.base import Paper


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
    from attnflow.runs.run_files import export_netcdf
    from attnflow.runs.runner import Runner, find_experiment, is_interrupted
    from attnflow.schema.declarations import Request

    output = Output(json)
    if out:
        must_have_directory(out)
    paper, id = find_experiment(experiment)
    request = Request(id, parse_overrides(settings or ()), seeds=seeds)
    with shown_progress() as bar:
        bar.begin(f"{paper.slug}/{id}")
        runner = Runner(rerun=rerun, progress=bar, call=in_background)
        dataset = runner.run(
            paper,
            request,
            data=data,
            weights=weights,
            record=parse_names(record),
            at=parse_times(at),
            check=check,
        )
    if out:
        export_netcdf(dataset, out)
    give_and_show(output, paper, dataset, [place for place in (out,) if place])
    return INTERRUPTED if is_interrupted(dataset) else 0


def parse_overrides(texts: Sequence[str]) -> dict[str, str]:
    """Settings from texts such as `width=64`."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is no setting. Write it as width=64.")
        if name in settings:
            raise ValueError(f"{name} is set twice. Give it once.")
        settings[name] = value
    return settings


def parse_names(text: str | None) -> list[str] | None:
    """Names from a text such as `loss,attention`."""
    if text is None:
        return None
    parts = [name.strip() for name in text.split(",") if name.strip()]
    if not parts:
        raise ValueError(f"{text!r} names nothing. Write for example loss,attention.")
    return parts


def parse_times(text: str | None) -> list[float] | None:
    """Times from a text such as `0,10,100`."""
    try:
        numbers = [float(name) for name in parse_names(text) or ()]
    except ValueError:
        raise ValueError(
            f"--at {text!r} is no list of times. Write for example --at 0,10,100."
        ) from None
    return numbers or None


def give_and_show(
    output: Output, paper: "Paper", run: "xr.Dataset", files: Sequence[Path] = ()
) -> None:
    """Give the run's summary as JSON, and show it to people."""
    from attnflow.runs.runner import stage_rows
    from attnflow.runs.store import Store, summarise

    summary = summarise(run, stage_rows(run, paper.stage_table))
    output.give({"runs": [summary]})
    output.say(f"{summary['paper']}/{summary['experiment']}  {summary['id']}")
    output.say(f"setting  {' '.join(typed(summary['setting']))}")
    if "system" in run.attrs:
        output.say(f"system   {run.attrs['system']}")
    why = run.attrs["form_reason"] or "nothing is trained"
    output.say(f"form     {summary['form']}: {why}")
    for line in outcome_lines(run):
        output.say(f"outcome  {line}")
    output.say()
    output.show(stage_table(summary["stages"]))
    final = [(name, spread(value)) for name, value in summary["final"].items()]
    output.show(Table(("observable", "final value"), final))
    for line in [*rate_lines(run), *error_lines(run), *sign_lines(run)]:
        output.say(line)
    wall, compiled = summary["seconds"], summary["compile_seconds"]
    output.say(f"time     {seconds(wall)}, {seconds(compiled)} of it to compile")
    store = Store()
    stored = [store.path(summary["id"])] if store.has(summary["id"]) else []
    for path in [*stored, *files]:
        output.say(f"kept in  {path}")


def stage_table(rows: Sequence[dict]) -> Table:
    """Stages of training: the paper's formula beside what was detected."""
    cells = [
        (
            row["name"],
            number(row["formula"]),
            number(row["detected"]),
            " … ".join(number(time) for time in row["spread"] or ()),
            row["note"],
        )
        for row in rows
    ]
    return Table(("stage", "formula", "detected", "over seeds", "note"), cells)


def outcome_lines(run: "xr.Dataset") -> list[str]:
    """How the run ended: one line, or one for each way in which seeds ended."""
    from attnflow.schema import outcomes_of

    outcomes = outcomes_of(run)
    seeds = [int(seed) for seed in run["seed"].values]
    lines = []
    for outcome in dict.fromkeys(outcomes):
        among = [s for s, o in zip(seeds, outcomes, strict=True) if o is outcome]
        where = "" if len(among) == len(seeds) else f" (seeds {among})"
        lines.append(f"{outcome.label}{where}: {outcome.value}")
    return lines


def rate_lines(run: "xr.Dataset") -> list[str]:
    """The learning rate beside the threshold of linear stability."""
    if "rate_threshold" not in run:
        return []
    rate = run["rate_threshold"].attrs["learning_rate"]
    each = run["rate_threshold"].values.tolist()
    limits = spread(each if len(each) > 1 else each[0])
    return [f"rate     {number(rate)}; linearly stable at the start up to {limits}"]


def error_lines(run: "xr.Dataset") -> list[str]:
    """The error of a flow: drift, and change at a finer tolerance."""
    if "drift" not in run:
        return []
    lines = [f"drift of the conserved quantities  {_largest(run['drift'])}"]
    if "refinement" not in run:
        advice = "--check repeats the run at a tenth of the tolerance."
        return [*lines, f"A small drift alone does not bound the error: {advice}"]
    each = run["refinement_by_observable"].values.max(axis=0)
    if math.isnan(each.max()):
        change = f"{ABSENT} (there the run ended otherwise)"
    else:
        at = run["observable"].values[each.argmax()]
        change = f"{_largest(run['refinement'])} (of the largest entry of {at})"
    return [
        *lines,
        f"change at a tenth of the tolerance  {change}",
        "A small drift alone does not bound the error; the change estimates it.",
    ]


def sign_lines(run: "xr.Dataset") -> list[str]:
    """How sure the signs of updates were, at the recorded steps."""
    names = ("zero_signs", "tied_signs", "signs_count")
    if any(name not in run for name in names):
        return []
    zero, tied, every = (
        int(run[name].where(run["recorded"]).sum().item()) for name in names
    )
    return [
        f"signs    of {every} at the recorded steps, {zero} were exactly zero and "
        f"{tied} within rounding of a tie"
    ]


def _largest(values: "xr.DataArray") -> str:
    return number(float(values.max()))
