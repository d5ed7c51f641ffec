"""What a page says about a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import StageRow
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Request
from attnflow.schema.dims import SEED, TIME
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
    setting: Mapping[str, Any]
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
        id=str(attrs["id"]),
        experiment=str(attrs["experiment"]),
        setting=schema.setting_of(run),
        seeds=tuple(int(seed) for seed in run[SEED].values),
        form=str(attrs["form"]),
        form_reason=str(attrs["form_reason"]),
        rule=str(attrs["rule"]),
        outcomes=tuple(outcomes),
        wall_seconds=float(attrs["wall_seconds"]),
        compile_seconds=float(attrs["compile_seconds"]),
        versions=json.loads(attrs["versions"]),
        platform=str(attrs["platform"]),
        changed=changed,
        stages=tuple(stages),
    )


def changed_settings(
    paper: Paper, request: Request, run: xr.Dataset
) -> tuple[str, ...]:
    """Names of the settings in which a run differs from what was requested.

    `seeds` is among them where the request says which, or how many.
    """
    wanted = paper.recipe(request.experiment).with_overrides(request.overrides)
    found = dict(schema.setting_of(run))
    fields = dict(vars(wanted))
    if request.seeds is not None:
        fields["seeds"] = seed_numbers(request.seeds)
        found["seeds"] = run[SEED].values.tolist()
    return tuple(
        name
        for name in found
        if name in fields and _text(fields[name]) != _text(found[name])
    )


def stages_of(paper: Paper, run: xr.Dataset) -> list[StageRow]:
    """The stages of a run; none where the paper has none, or the run no time."""
    if paper.stage_table is None or TIME not in run.dims:
        return []
    return list(paper.stage_table(run))


def _text(value: Any) -> str:
    """Values that JSON cannot tell apart, such as tuples and lists, are equal."""
    return json.dumps(value, sort_keys=True, default=str)
