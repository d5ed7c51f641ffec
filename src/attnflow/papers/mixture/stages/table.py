"""The stage table of a run, and the events of simultaneous training."""

import dataclasses
import math

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import (
    Event,
    StageRow,
    StageRule,
    first_crossing,
    select,
)
from attnflow.claims.stages import stage_table as rows_of
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.formulas import (
    alignment_time,
    stage_one_time,
    steps_per_time,
)
from attnflow.papers.mixture.settings import Setting
from attnflow.papers.mixture.stages.algorithm import algorithm_rows, is_recorded
from attnflow.schema.dims import TIME

ALIGNED, ONSET, GROWN = 0.25, 0.1, 0.5
"""Levels of the neurons' alignment, and of the main and the largest score."""
LEARNED = 0.1
"""The loss below which a group of samples counts as learned."""
LEFT_PLATEAU = 0.9 * math.log(2)


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stage table of a run; empty if nothing was trained."""
    if TIME not in run.dims:
        return []
    setting = schema.setting_of(run)
    rows = simultaneous_rows if "steps" in setting else algorithm_rows
    return rows(run, setting)


def simultaneous_rows(run: xr.Dataset, setting: Setting) -> list[StageRow]:
    """A stage row for each event whose series was trained and recorded."""
    rules = [rule for rule in RULES if _applies(run, setting, rule.name)]
    return [
        dataclasses.replace(row, note="; ".join(filter(None, (rule.meaning, row.note))))
        for row, rule in zip(rows_of(run, rules), rules, strict=True)
    ]


def neurons_aligned(run: xr.Dataset, level: float = ALIGNED) -> Event:
    """When the positive head's neuron aligns with the class token v1."""
    return first_crossing(run, "value[+,v1]", level=level, name="t_neuron")


def learned(run: xr.Dataset, group: str, level: float = LEARNED) -> Event:
    """When the loss of a group of samples falls to a level."""
    series = f"loss_by_group[{group}]"
    return first_crossing(run, series, level=level, direction="down", scale="log")


def main_score_reaches(run: xr.Dataset, level: float = ONSET) -> Event:
    """When the score of key c1 and query v1 reaches a level."""
    series = select(run, "score[+,c1,v1]")
    return first_crossing(run, series, level=level, scale="log", name="t_onset")


def attention_grown(run: xr.Dataset, level: float = GROWN) -> Event:
    """When the largest score, in absolute value, reaches a level."""
    return first_crossing(run, "largest_score", level=level, name="t_attention")


def _in_units(time: float, setting: Setting) -> float | None:
    """A flow time at infinite width in the run's units, `None` where not applicable."""
    symmetric = (setting["K"], setting["L"], setting["value_scale"]) == (2, 3, 0.0)
    units = steps_per_time(setting)
    if units is None or not symmetric or setting["trains"] != "both":
        return None
    return time * units


def _neuron_formula(setting: Setting) -> float | None:
    return _in_units(alignment_time(ALIGNED, setting["bias"]), setting)


def _consistent_formula(setting: Setting) -> float | None:
    output = -math.log(math.expm1(LEARNED))
    return _in_units(stage_one_time(output, setting["bias"]), setting)


def _onset_formula(setting: Setting) -> float | None:
    time = formulas.onset_time(setting["omega"], setting["bias"], ONSET)
    return _in_units(time, setting)


RULES = (
    StageRule("t_neuron", neurons_aligned, _neuron_formula, "w·v1 reaches 1/4"),
    StageRule(
        "t_consistent",
        lambda run: learned(run, "consistent"),
        _consistent_formula,
        "consistent loss falls to 0.1",
    ),
    StageRule(
        "t_onset", main_score_reaches, _onset_formula, "score of c1, v1 reaches 0.1"
    ),
    StageRule("t_attention", attention_grown, None, "largest score reaches 1/2"),
    StageRule(
        "t_conflict",
        lambda run: learned(run, "conflicting", LEFT_PLATEAU),
        None,
        "conflicting loss falls to 0.9 log 2",
    ),
    StageRule(
        "t_learned",
        lambda run: learned(run, "conflicting"),
        None,
        "conflicting loss falls to 0.1",
    ),
)
_NEEDS = {
    "t_neuron": ("values", "value[+,v1]"),
    "t_consistent": ("", "loss_by_group[consistent]"),
    "t_onset": ("scores", "score[+,c1,v1]"),
    "t_attention": ("scores", "largest_score"),
    "t_conflict": ("", "loss_by_group[conflicting]"),
    "t_learned": ("", "loss_by_group[conflicting]"),
}


def _applies(run: xr.Dataset, setting: Setting, name: str) -> bool:
    """Whether the rule's series was trained and recorded."""
    part, series = _NEEDS[name]
    trained = not part or setting["trains"] in ("both", part)
    return trained and is_recorded(run, series)


def shading(run: xr.Dataset) -> tuple[list[float | None], list[str]]:
    """Boundaries and names of the stages of simultaneous training, for shading.

    Neurons are trained until the consistent samples are learned, attention until the
    conflicting ones are; then both reduce the loss.
    """
    ends = [learned(run, group).median for group in ("consistent", "conflicting")]
    return ends, ["neurons", "attention", "convergence"]
