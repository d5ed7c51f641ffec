"""Trials of a claim: its verdicts under changes of what its judge reads.

For every run and variable that a judge reads, values are negated, frozen, shuffled,
scaled both ways and mixed with noise, and along many runs they grow or shrink; settings
are scaled; runs are cut, left untrained, and get holes.
`attempt` gives the verdict under each of these, with which `attnflow.testing` holds
every claim of every paper to the same standard:

- each variable matters, or the claim says why it does not (`inert`);
- one change at least makes it fail, and one makes a failing claim hold (`mends`);
- on an untrained run, a cut one and one with holes it does not hold, or it says why it
  may (`survives`).
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.claims.base import Evidence, Judge, Mutation, Verdict
from attnflow.claims.checks import Finding
from attnflow.claims.decision import Rule, decide
from attnflow.claims.judges.base import remembering
from attnflow.claims.mutations import NamedMutation
from attnflow.claims.stages import Detection, record_detections
from attnflow.schema.dims import SEED, TIME

UNKNOWN: Mapping[str, NamedMutation] = {
    "untrained": mutate.cut(mutate.EVERY, 0.0),
    "cut": mutate.cut(mutate.EVERY, 0.1),
    "holes": mutate.hole(mutate.EVERY),
}
"""Runs on which a statement about what comes later is not known."""
LADDER, GROWTH = 4, 100.0
"""From so many runs on a variable is changed along them too, by this factor from one to
the next: an order is of all sizes, and one size of five may not matter to it."""
_reads: ContextVar[list[tuple[str, str]]] = ContextVar("reads")


@dataclass(frozen=True)
class Reading:
    """What a judge read: pairs of a run and a variable, and series of detectors."""

    finding: Finding
    reads: tuple[tuple[str, str], ...]
    detections: tuple[Detection, ...]


class _WatchedRun(xr.Dataset):
    """A run that remembers which of its variables were read."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        reads = _reads.get([])
        names = [key] if isinstance(key, Hashable) else list(key)
        for name in names:
            pair = (str(self.attrs.get("_watched", "")), str(name))
            if pair not in reads:
                reads.append(pair)
        return super().__getitem__(key)


@contextmanager
def _watching() -> Iterator[list[tuple[str, str]]]:
    reads: list[tuple[str, str]] = []
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)


def watch(judge: Judge, evidence: Evidence) -> Reading:
    """The finding of a judge, and which variables of which run it reads."""
    runs = {
        name: _WatchedRun(
            run.data_vars, coords=run.coords, attrs={**run.attrs, "_watched": name}
        )
        for name, run in evidence.items()
    }
    with _watching() as reads, record_detections() as detections:
        finding = judge(runs)
    hidden = {*schema.BOOKKEEPING, SEED, TIME}
    kept = [(run, name) for run, name in reads if _is_data(evidence, run, name, hidden)]
    return Reading(finding, tuple(kept), tuple(detections))


def _is_data(evidence: Evidence, run: str, name: str, hidden: set[str]) -> bool:
    data = run in evidence and name in evidence[run].data_vars
    # An end is bookkeeping for the records, and data for statements about times.
    return data and (name not in hidden or name == "end_time")


def generated(
    evidence: Evidence, reads: tuple[tuple[str, str], ...]
) -> dict[tuple[str, str], list[NamedMutation]]:
    """By run and variable, the changes of it that are tried: of all runs first."""
    runs: dict[str, list[str]] = {}
    for run, name in reads:
        runs.setdefault(name, []).append(run)
    along = {
        (mutate.EVERY, name): [mutate.grow(some, name, GROWTH**k) for k in (1, -1)]
        for name, some in runs.items()
        if len(some) >= LADDER and evidence[some[0]][name].dtype.kind == "f"
    }
    return along | {
        (run, name): _changes(run, name, evidence[run][name])
        for run, name in reads
        if evidence[run][name].dtype.kind in "fiub"
    }


def _changes(run: str, name: str, array: xr.DataArray) -> list[NamedMutation]:
    if array.dtype.kind == "b":
        return [mutate.mapped(f"{name} inverted", run, name, lambda a: ~a)]
    changes = [
        mutate.negate(run, name),
        mutate.scale(run, name, 10.0),
        mutate.scale(run, name, 0.1),
        mutate.noise(run, name, 0.1),
    ]
    if TIME in array.dims and array.sizes[TIME] > 1:
        changes.append(mutate.constant(run, name))
    longest = max(array.sizes, key=lambda d: array.sizes[d], default=None)
    if longest is not None and array.sizes[longest] > 1:
        changes.append(mutate.shuffle(run, name, str(longest)))
    return changes


def setting_changes(evidence: Evidence) -> list[NamedMutation]:
    """Changes of the settings that runs state: each number ten times larger, smaller.

    Formulas of sizes move with them; the data does not.
    """
    settings = [json.loads(run.attrs.get("setting", "{}")) for run in evidence.values()]
    keys = dict.fromkeys(
        key
        for setting in settings
        for key, value in setting.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    return [mutate.scale_setting(key, factor) for key in keys for factor in (10.0, 0.1)]


def attempt(
    judge: Judge, rule: Rule, evidence: Evidence, mutation: Mutation
) -> Verdict | None:
    """The verdict on changed evidence; `None` where the judge ends in an error there.

    A judge may end in an error on nonsense; that is no verdict.
    """
    with np.errstate(all="ignore"):
        try:
            return decide(judge(mutation(evidence)), rule).verdict
        except (ValueError, KeyError, IndexError, ZeroDivisionError, OverflowError):
            return None


@dataclass(frozen=True)
class Trial:
    """The verdicts on a statement under changes of its evidence.

    - `variables`: by run and variable, verdicts by change.
    - `settings`, `unknown`: verdicts by change of a setting, and by kind of run on
      which later times are not known.
    """

    variables: Mapping[tuple[str, str], Mapping[str, Verdict | None]]
    settings: Mapping[str, Verdict | None]
    unknown: Mapping[str, Verdict | None]

    @property
    def inert(self) -> tuple[str, ...]:
        """The variables that no change of makes the statement not hold."""
        names = dict.fromkeys(name for _, name in self.variables)
        return tuple(
            name
            for name in names
            if all(
                verdict is Verdict.HOLDS
                for (_, other), verdicts in self.variables.items()
                for verdict in verdicts.values()
                if other == name
            )
        )

    @property
    def failing(self) -> tuple[str, ...]:
        """The changes under which the statement fails."""
        verdicts = [*self.variables.values(), self.settings]
        return tuple(
            change
            for by_change in verdicts
            for change, verdict in by_change.items()
            if verdict is Verdict.FAILS
        )


def try_out(
    judge: Judge, rule: Rule, evidence: Evidence, *, fails: bool = False
) -> Trial:
    """The verdicts on a statement under generated changes of its evidence.

    Once something makes it fail, a variable that matters in one run is not tried in
    the others (ladders have the same in each of many runs), nor are settings. `fails`:
    whether something is known that does.
    """
    reading = watch(judge, evidence)
    with remembering(evidence):
        return _tried(judge, rule, evidence, reading, fails=fails)


def _tried(
    judge: Judge, rule: Rule, evidence: Evidence, reading: Reading, *, fails: bool
) -> Trial:
    def verdicts(changes: list[NamedMutation]) -> dict[str, Verdict | None]:
        return {c.name: attempt(judge, rule, evidence, c) for c in changes}

    variables: dict[tuple[str, str], dict[str, Verdict | None]] = {}
    matter: set[str] = set()
    for (run, name), changes in generated(evidence, reading.reads).items():
        if fails and name in matter:
            continue
        tried = variables[run, name] = verdicts(changes)
        fails = fails or Verdict.FAILS in tried.values()
        if any(verdict is not Verdict.HOLDS for verdict in tried.values()):
            matter.add(name)
    unknown = {
        name: attempt(judge, rule, evidence, mutation)
        for name, mutation in UNKNOWN.items()
        if any(TIME in run.dims for run in evidence.values())
    }
    settings = {} if fails else verdicts(setting_changes(evidence))
    return Trial(variables, settings, unknown)
