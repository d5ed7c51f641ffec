"""`--profile`: where the time of `verify` and `reproduce` went, for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli.output import Output, Table, seconds

if TYPE_CHECKING:
    from attnflow.runs.profile import Profile

Profiled = Annotated[bool, typer.Option("--profile", help="Report time and memory.")]
FEW = 10
"""Experiments, claims or exhibits that are shown; `--json` has all of them."""


def show_profile(output: Output, profile: "Profile") -> Mapping[str, Any]:
    """Show tables of a profile; as plain values, for `--json`."""
    from attnflow.runs.profile import PHASES

    content = profile.as_json()
    if not profile.jobs:
        output.say("No job of a worker was measured: what was needed was stored.")
        return content
    total = sum(profile.phases.values())
    rows = [
        (name, seconds(spent), f"{spent / total:.0%}", PHASES[name])
        for name, spent in profile.phases.items()
    ]
    output.show(Table(("", "time", "share", "what"), rows))
    experiments = [
        (name, str(runs), str(programs), seconds(spent))
        for name, (runs, spent, programs) in list(profile.experiments.items())[:FEW]
    ]
    output.show(Table(("dearest experiments", "runs", "programs", "time"), experiments))
    dearest = list(profile.with_runs.items())[:FEW]
    rows = [(name, seconds(spent)) for name, spent in dearest]
    output.show(Table(("dearest with their runs", "time"), rows))
    name, largest = max(profile.jobs, key=lambda job: job[1].grown)
    output.say(
        f"{content['programs']} programs, {content['kept']} of them kept and read. "
        f"{seconds(total)} of work in {seconds(content['wall'])}, "
        f"{seconds(content['cpu'])} of it on a core. The largest worker "
        f"had {profile.peak / 1e9:.1f} GB; {name} added {largest.grown / 1e9:.1f} GB."
    )
    return content
