"""Time what another number costs in a session: every experiment that trains.

    python tools/number_times.py [PAPER/EXPERIMENT …]

An experiment is run at its declared setting, then with another value of one number,
and then with that value once more. What the second run takes beyond the third is what
the new number costs; compiled programs, if there were any, are counted beside it. The
number is the first float of the setting that the experiment accepts changed.
"""

import sys
import time
import warnings
from collections.abc import Iterator

import attnflow as af
from attnflow.papers.base import papers
from attnflow.schema.clock import compile_events
from attnflow.schema.declarations import Recipe
from attnflow.schema.installation import MissingData
from attnflow.schema.settings import numbers
from attnflow.training.programs import make_room

PATIENCE = 30.0
"""Seconds of a first run beyond which an experiment is passed over."""


def changes(recipe: Recipe) -> Iterator[dict[str, float]]:
    """Settings with another value of one float."""
    setting = recipe.setting
    for name in numbers(setting):
        value = getattr(setting, name)
        if isinstance(value, float) and value:
            yield {name: 0.97 * value}


def timed(name: str, change: dict[str, float]) -> float:
    """Seconds of a run that is not stored."""
    begun = time.perf_counter()
    af.run(name, store=False, **change)
    return time.perf_counter() - begun


def row(name: str, recipe: Recipe) -> str:
    """What another number costs an experiment, or why that is not known."""
    # A session that has grown drops its programs: not between two of these runs.
    make_room(0, 0)
    try:
        first = timed(name, {})
    except MissingData:
        return "its data are not on this machine"
    if first > PATIENCE:
        return f"passed over: its first run takes {first:.0f} s"
    for change in changes(recipe):
        events = compile_events()
        try:
            new = timed(name, change)
        except ValueError:
            continue
        programs = compile_events() - events
        again = min(timed(name, change) for _ in range(2))
        (field,) = change
        cost = f"{1000 * (new - again):5.0f} ms beyond a run of {again:.3f} s"
        return f"{cost}, {programs} compile events ({field})"
    return "no float that can be changed alone"


def main(*names: str) -> None:
    """Print a line for each experiment."""
    warnings.simplefilter("ignore")
    for paper in papers().values():
        for recipe in paper.recipes:
            name = f"{paper.slug}/{recipe.id}"
            if not names or name in names:
                print(f"{name:28}", row(name, recipe), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
