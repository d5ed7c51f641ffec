"""Runs and sweeps as a page describes them, and their settings side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.claims.stages import StageRow
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.field_table import FieldRow, field_table
from attnflow.schema.installation import xr
from attnflow.schema.settings import seed_numbers


@dataclass(frozen=True)
class RunRecord:
    """A run in words: its setting, how it was computed, and how it ended.

    `changed` names the settings that are not those of the exhibit's own request, as
    after `--quick`; `stages` are the rows of the paper's stage table.
    """

    name: str
    id: str
    experiment: str
    setting: Mapping[str, object]
    seeds: tuple[int, ...]
    form: str
    form_reason: str
    rule: str
    outcomes: tuple[str, ...]
    wall_seconds: float
    compile_seconds: float
    versions: Mapping[str, str]
    platform: str
    changed: tuple[str, ...] = ()
    stages: tuple[StageRow, ...] = ()


def declared_settings(paper: Paper) -> list[tuple[tuple[Recipe, ...], list[FieldRow]]]:
    """The experiments whose settings are of one type, and the table of its fields."""
    groups: dict[type, list[Recipe]] = {}
    for recipe in paper.recipes:
        groups.setdefault(type(recipe.setting), []).append(recipe)
    return [
        (tuple(recipes), field_table({r.id: r.setting for r in recipes}))
        for recipes in groups.values()
    ]


def record_run(
    name: str,
    run: xr.Dataset,
    *,
    changed: tuple[str, ...] = (),
    stages: Sequence[StageRow] = (),
) -> RunRecord:
    """The record of a run."""
    attrs = run.attrs
    outcomes = dict.fromkeys(outcome.label for outcome in schema.outcomes_of(run))
    return RunRecord(
        name=name,
        setting=schema.setting_of(run),
        form=str(attrs["form"]),
        form_reason=str(attrs["form_reason"]),
        rule=str(attrs["rule"]),
        outcomes=tuple(outcomes),
        compile_seconds=float(attrs["compile_seconds"]),
        changed=changed,
        stages=tuple(stages),
        **_origin(run),
    )


def _origin(data: xr.Dataset) -> dict[str, Any]:
    """Those fields of a record that runs and sweeps have alike."""
    attrs = data.attrs
    return {
        "id": str(attrs["id"]),
        "experiment": str(attrs["experiment"]),
        "seeds": tuple(int(seed) for seed in data[SEED].values),
        "wall_seconds": float(attrs["wall_seconds"]),
        "versions": json.loads(attrs["versions"]),
        "platform": str(attrs["platform"]),
    }


def changed_settings(
    paper: Paper, request: Request, run: xr.Dataset
) -> tuple[str, ...]:
    """Names of the settings in which a run differs from what was requested.

    `seeds` is among them where the request says which, or how many.
    """
    recipe = paper.recipe(request.experiment)
    requested = dict(vars(recipe.with_overrides(request.overrides)))
    setting = dict(schema.setting_of(run))
    if request.seeds is not None:
        requested["seeds"] = seed_numbers(request.seeds)
        setting["seeds"] = run[SEED].values.tolist()
    return tuple(
        name
        for name in setting
        if name in requested and _text(requested[name]) != _text(setting[name])
    )


def stages_of(paper: Paper, run: xr.Dataset) -> list[StageRow]:
    """The stages of a run; none where the paper has none, or the run no time."""
    if paper.stage_table is None or TIME not in run.dims:
        return []
    return list(paper.stage_table(run))


def _text(value: object) -> str:
    """Values that JSON cannot tell apart, such as tuples and lists, are equal."""
    return json.dumps(value, sort_keys=True, default=str)


def record_sweep(name: str, sweep: xr.Dataset) -> RunRecord:
    """The record of a sweep: its axes are among its settings, its time is CPU time.

    `sweep` is as `attnflow.site.reproduce.gather_sweep` gives it.
    """
    attrs = sweep.attrs
    cells = Counter(sweep["outcome"].isel(seed=0).values.ravel().astype(str).tolist())
    # The swept keys, each with its ends and how many values it has.
    axes = {str(k): _span(sweep[k].values) for k in sweep.coords if k != SEED}
    return RunRecord(
        name=name,
        setting=json.loads(attrs["setting"]) | axes,
        form="sweep",
        form_reason=f"{attrs['cells_computed']} of {attrs['cells_full']} cells",
        rule="as in each cell",
        outcomes=tuple(f"{label} ({count})" for label, count in cells.items()),
        compile_seconds=0.0,
        changed=tuple(json.loads(attrs["changed"])),
        **_origin(sweep),
    )


def _span(values: np.ndarray) -> str:
    form = "g" if values.dtype.kind == "f" else ""
    return f"{values[0]:{form}} … {values[-1]:{form}} ({len(values)} values)"


@dataclass(frozen=True)
class Settings:
    """Settings of runs of one experiment: what they share, and a table of the rest.

    `changed` names settings that differ from the exhibit's request, as after `--quick`.
    """

    experiment: str
    shared: dict[str, object]
    columns: tuple[str, ...]
    rows: tuple[tuple[RunRecord, tuple[object, ...]], ...]
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
