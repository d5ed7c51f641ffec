"""A run as `attnflow run` shows it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from attnflow.cli import text
from attnflow.cli.output import Output
from attnflow.cli.text import Table
from attnflow.papers.base import Paper
from attnflow.runs.runner import stage_rows
from attnflow.runs.store import Store
from attnflow.runs.summary import summarise
from attnflow.schema import outcomes_of


def give_and_show(
    output: Output, paper: Paper, run: xr.Dataset, files: Sequence[Path] = ()
) -> None:
    """Give the run's summary as JSON, and show it to people."""
    summary = summarise(run, stage_rows(run, paper.stage_table))
    output.give({"runs": [summary]})
    output.say(f"{summary['paper']}/{summary['experiment']}  {summary['id']}")
    output.say(f"setting  {text.settings(summary['setting'])}")
    if "system" in run.attrs:
        output.say(f"system   {run.attrs['system']}")
    why = run.attrs["form_reason"] or "nothing is trained"
    output.say(f"form     {summary['form']}: {why}")
    for line in outcome_lines(run):
        output.say(f"outcome  {line}")
    output.say()
    output.show(stage_table(summary["stages"]))
    final = [(name, text.spread(value)) for name, value in summary["final"].items()]
    output.show(Table(("observable", "final value"), final))
    for line in [*rate_lines(run), *error_lines(run), *sign_lines(run)]:
        output.say(line)
    wall, compiled = summary["seconds"], summary["compile_seconds"]
    output.say(
        f"time     {text.seconds(wall)}, {text.seconds(compiled)} of it to compile"
    )
    store = Store()
    stored = [store.path(summary["id"])] if store.has(summary["id"]) else []
    for path in [*stored, *files]:
        output.say(f"kept in  {path}")


def stage_table(rows: Sequence[dict]) -> Table:
    """Stages of training: the paper's formula beside what was detected."""
    cells = [
        (
            row["name"],
            text.number(row["formula"]),
            text.number(row["detected"]),
            " … ".join(text.number(time) for time in row["spread"] or ()),
            row["note"],
        )
        for row in rows
    ]
    return Table(("stage", "formula", "detected", "over seeds", "note"), cells)


def outcome_lines(run: xr.Dataset) -> list[str]:
    """How the run ended: one line, or one for each way in which seeds ended."""
    outcomes = outcomes_of(run)
    seeds = [int(seed) for seed in run["seed"].values]
    lines = []
    for outcome in dict.fromkeys(outcomes):
        among = [s for s, o in zip(seeds, outcomes, strict=True) if o is outcome]
        where = "" if len(among) == len(seeds) else f" (seeds {among})"
        lines.append(f"{outcome.label}{where}: {outcome.value}")
    return lines


def rate_lines(run: xr.Dataset) -> list[str]:
    """The learning rate beside the threshold of linear stability."""
    if "rate_threshold" not in run:
        return []
    rate = run["rate_threshold"].attrs["learning_rate"]
    each = run["rate_threshold"].values.tolist()
    limits = text.spread(each if len(each) > 1 else each[0])
    return [
        f"rate     {text.number(rate)}; linearly stable at the start up to {limits}"
    ]


def error_lines(run: xr.Dataset) -> list[str]:
    """The error of a flow: drift, and change at a finer tolerance."""
    if "drift" not in run:
        return []
    lines = [f"drift of the conserved quantities  {_largest(run['drift'])}"]
    if "refinement" not in run:
        advice = "--check repeats the run at a tenth of the tolerance."
        return [*lines, f"A small drift alone does not bound the error: {advice}"]
    each = run["refinement_by_observable"].values.max(axis=0)
    if np.isnan(each).any():
        change = f"{text.ABSENT} (there the run ended otherwise)"
    else:
        at = run["observable"].values[each.argmax()]
        change = f"{_largest(run['refinement'])} (of the largest entry of {at})"
    return [
        *lines,
        f"change at a tenth of the tolerance  {change}",
        "A small drift alone does not bound the error; the change estimates it.",
    ]


def sign_lines(run: xr.Dataset) -> list[str]:
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


def _largest(values: xr.DataArray) -> str:
    return text.number(float(values.max()))
