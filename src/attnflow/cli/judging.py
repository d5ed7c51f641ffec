"""Claims judged: side by side with runs of ours, or with a user's own."""

from contextlib import closing
from pathlib import Path

from attnflow.claims import Row
from attnflow.cli.background import in_background
from attnflow.cli.output import shown_progress
from attnflow.cli.target import Chosen
from attnflow.runs.processes import Here, Pool
from attnflow.runs.runner import Runner
from attnflow.runs.store import read_run_file
from attnflow.runs.user_run import judge_own_run
from attnflow.runs.verifying import verify_claims

DEATHS = 3
"""Workers that a job may lose, by chance or for want of memory: then it is given up."""


def judge_chosen(
    chosen: Chosen, *, seeds: int, workers: int | None = None, changed: bool = False
) -> list[Row]:
    """Rows of the claims, with runs of ours that processes make or read."""
    with shown_progress() as bar, closing(make_team(workers)) as team:
        return verify_claims(chosen, team, seeds=seeds, changed=changed, progress=bar)


def make_team(workers: int | None) -> Pool | Here:
    """Who judges: processes, as many as there are cores unless said.

    A single claim too, so that what it comes to does not depend on what else is asked.
    """
    return Pool(workers, deaths=DEATHS)


def judge_file(chosen: Chosen, path: Path, *, seeds: int) -> list[Row]:
    """Rows of those claims that look at the experiment that a user's run is of."""
    run = read_run_file(path)
    with shown_progress() as bar:
        runner = Runner(seeds=seeds, progress=bar, call=in_background)
        rows = [
            row
            for paper, claims in chosen
            for row in judge_own_run(paper, claims, run, runner, seeds=seeds)
        ]
    if not rows:
        which = "/".join(str(run.attrs.get(n, "?")) for n in ("paper", "experiment"))
        raise ValueError(
            f"{path} is a run of {which}, at which none of these claims looks. "
            "`attnflow list` shows claims and experiments; name another claim."
        )
    return rows
