"""A run as `attnflow run` tells it."""

from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from attnflow.cli import text
from attnflow.cli.output import Output
from attnflow.cli.tables import Table
from attnflow.paper import Paper
from attnflow.runner import stage_rows
from attnflow.schema import outcomes_of
from attnflow.store import Store, summarise


def give_and_show(
    output: Output, paper: Paper, run: xr.Dataset, files: Sequence[Path] = ()
) -> None:
    """Give the run's summary as JSON, and show it to people."""
    summary = summarise(run, stage_rows(run, paper.stage_table))
    output.give({"runs": [summary]})
    output.say(f"{summary['paper']}/{summary['experiment']}  {summary['id']}")
    output.say(f"setting  {text.settings(summary['setting'])}")
    why = run.attrs["form_reason"] or "nothing is trained"
    output.say(f"form     {summary['form']}: {why}")
    for line in outcome_lines(run):
        output.say(f"outcome  {line}")
    output.say()
    output.show(stage_table(summary["stages"]))
    final = [(name, text.spread(value)) for name, value in summary["final"].items()]
    output.show(Table(("observable", "final value"), final))
    if summary["drift"] is not None:
        output.say(
            f"drift of the conserved quantities  {text.number(summary['drift'])}"
        )
    wall, compiled = summary["seconds"], summary["compile_seconds"]
    output.say(
        f"time     {text.seconds(wall)}, {text.seconds(compiled)} of it to compile"
    )
    for place in [*_stored(summary["id"]), *files]:
        output.say(f"kept in  {place}")


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
    found = outcomes_of(run)
    seeds = [int(seed) for seed in run["seed"].values]
    lines = []
    for outcome in dict.fromkeys(found):
        among = [s for s, o in zip(seeds, found, strict=True) if o is outcome]
        where = "" if len(among) == len(found) else f" (seeds {among})"
        lines.append(f"{outcome.label}{where}: {outcome.value}")
    return lines


def _stored(id: str) -> list[Path]:
    store = Store()
    return [store.path(id)] if store.has(id) else []
