"""Settings of several runs as a page shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from attnflow.site.pages.runs import RunRecord


@dataclass(frozen=True)
class Settings:
    """Settings of runs of one experiment: what they share, and a table of the rest.

    `changed` names what is not as the exhibit asks for it, as after `--quick`.
    """

    experiment: str
    shared: dict[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[RunRecord, tuple[Any, ...]], ...]
    changed: frozenset[str]


def settings_by_experiment(runs: Iterable[RunRecord]) -> list[Settings]:
    """The settings of some runs, one part for each experiment."""
    groups: dict[str, list[RunRecord]] = {}
    for run in runs:
        groups.setdefault(run.experiment, []).append(run)
    return [_settings(name, group) for name, group in groups.items()]


def _settings(experiment: str, runs: Sequence[RunRecord]) -> Settings:
    settings = [{**run.setting, "seeds": len(run.seeds)} for run in runs]
    names = dict.fromkeys(name for setting in settings for name in setting)
    shared = {
        name: settings[0][name]
        for name in names
        if all(name in s and s[name] == settings[0].get(name) for s in settings)
    }
    columns = tuple(name for name in names if name not in shared)
    rows = zip(runs, settings, strict=True)
    return Settings(
        experiment=experiment,
        shared=shared,
        columns=columns,
        rows=tuple((run, tuple(s.get(c) for c in columns)) for run, s in rows),
        changed=frozenset(name for run in runs for name in run.changed),
    )
