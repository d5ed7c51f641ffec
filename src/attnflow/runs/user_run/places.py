"""Where in a claim's evidence a user's run stands, and how it differs from ours."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import xarray as xr

from attnflow.claims import Claim, Scope
from attnflow.papers.base import Paper
from attnflow.schema import outcomes_of, setting_of
from attnflow.schema.declarations import Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.settings import canonical_json

Changes = Mapping[str, tuple[Any, Any]]
"""By key the user's setting, and ours."""


@dataclass(frozen=True)
class Place:
    """Where a user's run stands: `names` are those of the runs that it replaces.

    `changes` are settings that differ from the claim's own; `None`: the run has none.
    """

    names: tuple[str, ...]
    changes: Changes | None

    @property
    def scope(self) -> Scope | None:
        """`beyond` where the setting is another one: a failure then refutes nothing."""
        return None if self.changes == {} else Scope.BEYOND


def place_of(claim: Claim, paper: Paper, run: xr.Dataset) -> Place | str:
    """Where the run stands in a claim's evidence, or why it stands nowhere."""
    near = {name: r for name, r in claim.needs.items() if is_of(run, r)}
    changes = {name: _changes(run, paper, request) for name, request in near.items()}
    same = tuple(name for name, found in changes.items() if found == {})
    if same:
        return Place(same, {})
    if len(claim.needs) == 1:
        return Place(tuple(near), *changes.values())
    name, found = min(changes.items(), key=lambda item: len(item[1] or ()))
    return (
        f"it compares the runs {'; '.join(claim.needs)}, and yours has the setting of "
        f"none of them; nearest is {name!r}, beside which yours has {_written(found)}"
    )


def is_of(run: xr.Dataset, request: Request) -> bool:
    """Whether a run is of the experiment that is asked for."""
    return run.attrs.get("experiment", request.experiment) == request.experiment


def differences(
    run: xr.Dataset, place: Place, *, ours: Any, seeds: Sequence[int] | None
) -> str:
    """In words, how a run differs from one of ours in its place; empty: not at all.

    **Arguments:**

    - `ours`: the experiment that a run of ours is of.
    - `seeds`: those that a run of ours would have; `None`: any would do.
    """
    told = [] if place.changes == {} else [_written(place.changes)]
    own = [int(seed) for seed in run[SEED].values]
    if seeds is not None and own != list(seeds):
        told.append(f"the seeds {own} for {list(seeds)}")
    if missing := _missing_times(run, ours):
        told.append(f"not {missing}")
    ends = {outcome.label for outcome in outcomes_of(run) if not outcome.complete}
    return ", ".join([*told, *(f"the outcome {label}" for label in sorted(ends))])


def _missing_times(run: xr.Dataset, ours: Any) -> str:
    """Which records of the experiment a run lacks; none are known of computations."""
    if TIME not in run.dims or not hasattr(ours, "grid"):
        return ""
    # Experiments and what looks at them need JAX, which judging alone does not.
    from attnflow.runs.checkpoints.assemble import missing_times

    return missing_times(ours, run[TIME].values)


def _changes(run: xr.Dataset, paper: Paper, request: Request) -> Changes | None:
    """Settings of the run that differ from those asked for; `None`: it has none."""
    if "setting" not in run.attrs:
        return None
    setting = paper.recipe(request.experiment).with_overrides(request.overrides)
    ours, theirs = json.loads(canonical_json(asdict(setting))), setting_of(run)
    return {
        key: (theirs.get(key), ours.get(key))
        for key in sorted({*ours, *theirs})
        if theirs.get(key) != ours.get(key)
    }


def _written(changes: Changes | None) -> str:
    if changes is None:
        return "no setting"
    return ", ".join(f"{key}={a} for {b}" for key, (a, b) in changes.items())
