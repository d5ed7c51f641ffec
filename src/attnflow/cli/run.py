"""`attnflow run`: one experiment, and how a run is shown."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from attnflow.cli.output import (
    ABSENT,
    INTERRUPTED,
    Json,
    Output,
    Table,
    guarded,
    in_background,
    number,
    seconds,
    shown_progress,
    spread,
)
from attnflow.schema.files import check_place
from attnflow.schema.settings import as_record, typed, typed_setting

OPTIONS = ("seeds", "data", "weights", "at", "out", "animate")
"""Options with a value, which are easily taken for settings."""


@guarded
def run(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="PAPER/EXPERIMENT", help="mixture/figure1, say (see: list)."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE", help="Settings: width=64 (see: list PAPER/EXPERIMENT)."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of seeds.")
    ] = None,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Ignore the stored run.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="Your own data (.npz)."
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Your own initial weights (.npz).",
        ),
    ] = None,
    record: Annotated[
        str | None, typer.Option(metavar="NAME,NAME", help="Observables to record.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="0,10,100", help="Times to record.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Repeat a flow at a tenth of its tolerance."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.nc", help="Also write the run as netCDF."),
    ] = None,
    animate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.gif|mp4|html",
            help="Write an animation of attention, or of scores.",
        ),
    ] = None,
    json: Json = None,
) -> int:
    """Run one experiment, or read its stored run; print its stages and final values."""
    from attnflow.runs.runner import Runner, find_experiment
    from attnflow.schema.declarations import Request

    output = Output(json)
    files = [place for place in (out, animate) if place]
    for place in files:
        check_place(place)
    if animate:
        from attnflow.figures.animation import check_kind

        check_kind(animate)
    paper, id = find_experiment(experiment)
    overrides = parse_overrides(settings or ())
    for name in sorted({*OPTIONS} & {*overrides} - {*vars(paper.recipe(id).setting)}):
        raise ValueError(
            f"{name} is an option, no setting. Write --{name} {overrides[name]}."
        )
    request = Request(id, overrides, seeds=seeds)
    inputs = {
        "data": data,
        "weights": weights,
        "record": parse_names(record),
        "at": parse_times(at),
        "check": check,
    }
    with shown_progress() as bar:
        bar.begin(f"{paper.slug}/{id}")
        runner = Runner(rerun=rerun, progress=bar, call=in_background)
        summary = None if files else runner.stored_summary(paper, request, **inputs)
        if summary is None:
            dataset = runner.run(paper, request, **inputs)
            summary = runner.summary(paper, dataset)
            if out:
                from attnflow.runs.run_files import export_netcdf

                export_netcdf(dataset, out)
            if animate:
                from attnflow.figures import animate as draw_frames

                bar(1.0, "drawing frames")
                draw_frames(dataset).save(animate)
    give_and_show(output, summary, files)
    return INTERRUPTED if summary["outcome"] == "interrupted" else 0


def parse_overrides(texts: Sequence[str]) -> dict[str, str]:
    """Settings from texts such as `width=64`."""
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"{text!r} is not a setting. Write it as width=64.")
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
            f"--at {text!r} is not a list of times. Write for example --at 0,10,100."
        ) from None
    return numbers or None


def give_and_show(
    output: Output, summary: dict[str, Any], files: Sequence[Path] = ()
) -> None:
    """Give the summary of a run as JSON, and show it to people."""
    from attnflow.runs.store import Store

    output.give({"runs": [summary]})
    output.say(f"{summary['paper']}/{summary['experiment']}  {summary['id']}")
    output.say(f"setting  {_setting_line(summary)}")
    if summary["system"] is not None:
        output.say(f"system   {summary['system']}")
    why = summary["form_reason"] or "nothing is trained"
    output.say(f"form     {summary['form']}: {why}")
    for line in outcome_lines(summary):
        output.say(f"outcome  {line}")
    output.say()
    output.show(stage_table(summary["stages"]))
    final = [(name, spread(value)) for name, value in summary["final"].items()]
    output.show(Table(("observable", "final value"), final))
    for line in [*rate_lines(summary), *error_lines(summary), *sign_lines(summary)]:
        output.say(line)
    wall, compiled = summary["seconds"], summary["compile_seconds"]
    output.say(f"time     {seconds(wall)}, {seconds(compiled)} of it to compile")
    store = Store()
    stored = [store.path(summary["id"])] if store.has(summary["id"]) else []
    for path in [*stored, *files]:
        output.say(f"kept in  {path}")


def changed_settings(summary: Mapping[str, Any]) -> list[str] | None:
    """What a run changes in the declared setting; `None` where none is known."""
    from attnflow.runs.runner import find_experiment

    # The settings of mixed experiments import JAX, and are no paper's.
    if summary["paper"] == "mix":
        return None
    try:
        paper, id = find_experiment(f"{summary['paper']}/{summary['experiment']}")
    except ValueError:
        return None
    declared = as_record(paper.recipe(id).setting)
    setting = summary["setting"].items()
    return typed({k: v for k, v in setting if k not in declared or declared[k] != v})


def _setting_line(summary: Mapping[str, Any]) -> str:
    changed = changed_settings(summary)
    if changed is None:
        return " ".join(typed_setting(summary["setting"]))
    name = f"{summary['paper']}/{summary['experiment']}"
    start = f"{' '.join(changed)}, otherwise " if changed else ""
    return f"{start}as declared (attnflow list {name})"


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


def outcome_lines(summary: Mapping[str, Any]) -> list[str]:
    """How the run ended: one line, or one for each way in which seeds ended."""
    from attnflow.schema import Outcome

    lines = []
    for label, seeds in summary["outcomes"].items():
        where = "" if len(seeds) == len(summary["seeds"]) else f" (seeds {seeds})"
        lines.append(f"{label}{where}: {Outcome.of(label).value}")
    return lines


def rate_lines(summary: Mapping[str, Any]) -> list[str]:
    """The learning rate beside the threshold of linear stability."""
    each = summary["rate_thresholds"]
    if each is None:
        return []
    rate, limits = summary["learning_rate"], spread(each if len(each) > 1 else each[0])
    return [f"rate     {number(rate)}; linearly stable at the start up to {limits}"]


def error_lines(summary: Mapping[str, Any]) -> list[str]:
    """The error of a flow: drift, and change at a finer tolerance."""
    if summary["drift"] is None:
        return []
    lines = [f"drift of the conserved quantities  {number(summary['drift'])}"]
    change = summary["refinement"]
    if change is None:
        advice = "--check repeats the run at a tenth of the tolerance."
        return [*lines, f"A small drift alone does not bound the error: {advice}"]
    if math.isnan(change):
        text = f"{ABSENT} (there the run ended otherwise)"
    else:
        text = f"{number(change)} (of the largest entry of {summary['refined_most']})"
    return [
        *lines,
        f"change at a tenth of the tolerance  {text}",
        "A small drift alone does not bound the error; the change estimates it.",
    ]


def sign_lines(summary: Mapping[str, Any]) -> list[str]:
    """How sure the signs of updates were, at the recorded steps."""
    signs = summary["signs"]
    if signs is None:
        return []
    return [
        f"signs    of {signs['count']} at the recorded steps, {signs['zero']} were "
        f"exactly zero and {signs['tied']} within rounding of a tie"
    ]
