"""The stage table of a run: simultaneous training, and Algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attnflow import schema
from attnflow.claims.stages import (
    Detected,
    Event,
    Stage,
    StageRow,
    select,
)
from attnflow.claims.statistics import max_margin
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.formulas import alignment_time, stage_one_time
from attnflow.papers.mixture.settings import Setting
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import SEED, STAGE, TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import steps_per_time

ALIGNED, ONSET, GROWN = 0.25, 0.1, 0.5
"""Levels of the neurons' alignment, and of the main and the largest score."""
LEARNED = 0.1
"""The loss below which a group of samples counts as learned."""
LEFT_PLATEAU = 0.9 * math.log(2)
MEANING = {
    "T_half": "the positive head switches off on c1, −v1, −v2",
    "T1": "stage 1 ends",
    "T2": "stage 2 ends",
    "T3": "stage 3 ends; the formula is T2 + 1/(γ²ε), γ the margin at T2",
}


def _closed_form(time: Callable[[Setting], float]) -> Callable[[Setting], FormulaTime]:
    """A flow time at infinite width in the run's units, where it applies."""

    def formula(setting: Setting) -> FormulaTime:
        symmetric = (setting["K"], setting["L"], setting["value_scale"]) == (2, 3, 0.0)
        units = steps_per_time(setting)
        if units is None or not symmetric or setting["trains"] != "both":
            return FormulaTime(None)
        return FormulaTime(time(setting) * units)

    return formula


def learning(
    group: str, level: float = LEARNED, name: str = "", text: str = ""
) -> Stage:
    """The stage that ends when the loss of a group of samples falls to a level."""
    return Stage(
        name or f"loss_by_group[{group}]",
        f"loss_by_group[{group}]",
        f"{group} loss falls to {text or f'{level:g}'}",
        level=level,
        direction="down",
        scale="log",
    )


neurons_aligned = Stage(
    "t_neuron",
    "value[+,v1]",
    "w·v1 reaches 1/4",
    level=ALIGNED,
    formula=_closed_form(lambda s: alignment_time(ALIGNED, s["bias"])),
)
consistent_learned = replace(
    learning("consistent", name="t_consistent"),
    formula=_closed_form(
        lambda s: stage_one_time(-math.log(math.expm1(LEARNED)), s["bias"])
    ),
)
main_score_reaches = Stage(
    "t_onset",
    "score[+,c1,v1]",
    "score of c1, v1 reaches 0.1",
    level=ONSET,
    scale="log",
    formula=_closed_form(lambda s: formulas.onset_time(s["omega"], s["bias"], ONSET)),
)
attention_grown = Stage(
    "t_attention", "largest_score", "largest score reaches 1/2", level=GROWN
)
plateau_left = learning("conflicting", LEFT_PLATEAU, "t_conflict", "0.9 log 2")
conflicting_learned = learning("conflicting", name="t_learned")


def learned(run: xr.Dataset, group: str, level: float = LEARNED) -> Event:
    """When the loss of a group of samples falls to a level."""
    return learning(group, level)(run)


STAGES = (
    (neurons_aligned, "values"),
    (consistent_learned, ""),
    (main_score_reaches, "scores"),
    (attention_grown, "scores"),
    (plateau_left, ""),
    (conflicting_learned, ""),
)
"""Stages of simultaneous training, and the part that must be trained for each."""


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stage table of a run; empty if nothing was trained."""
    if TIME not in run.dims:
        return []
    setting = schema.setting_of(run)
    if "steps" not in setting:
        return algorithm_rows(run, setting)
    return [
        stage.row(run)
        for stage, part in STAGES
        if part in ("", setting["trains"]) or setting["trains"] == "both"
        if is_recorded(run, str(stage.series))
    ]


def shading(run: xr.Dataset) -> tuple[list[float | None], list[str]]:
    """Boundaries and names of the stages of simultaneous training, for shading.

    Neurons are trained until the consistent samples are learned, attention until the
    conflicting ones are; then both reduce the loss.
    """
    ends = [stage(run).median for stage in (consistent_learned, conflicting_learned)]
    return ends, ["neurons", "attention", "convergence"]


def algorithm_rows(run: xr.Dataset, setting: Setting) -> list[StageRow]:
    """A row for the end of each stage; `stage1` has a stage that ends at `T_half`."""
    ends = _stage_ends(run)
    if "stages" not in setting:
        names = ("T_half", "T1")
        forms = (formulas.switch_time(setting["bias"]), setting["T1"])
        rules = zip(names, ends, forms, strict=False)
        return [_row(name, event, form) for name, event, form in rules]
    formula = _staged_formulas(run, setting)
    events = dict(zip(("T1", "T2", "T3"), ends, strict=False))
    if setting["K"] == 2 and is_recorded(run, "value[+,v1]"):
        events = {"T_half": SWITCH(run)} | events
    return [_row(name, event, formula[name]) for name, event in events.items()]


def _row(name: str, event: Event, formula: float | None) -> StageRow:
    note = "; ".join(filter(None, (MEANING[name], event.note)))
    return StageRow(name, formula, event.median, event.spread, note)


def _stage_ends(run: xr.Dataset) -> list[Event]:
    """When each training stage ended, per seed, or why it did not."""
    ends = run["stage_end"].values
    outcomes = schema.outcomes_of(run)
    seeds = tuple(int(seed) for seed in run[SEED].values)
    events = []
    for number, name in enumerate(run[STAGE].values):
        # A failed seed does not move on: its later stages end where it stopped.
        detected = [
            Detected(float(end[number]))
            if outcome.complete or end[number] < end[-1]
            else Detected(None, outcome.value)
            for end, outcome in zip(ends, outcomes, strict=True)
        ]
        events.append(Event(str(name), seeds, tuple(detected)))
    return events


def _head_off(run: xr.Dataset) -> xr.DataArray:
    """H₊ + b on the consistent samples with negative signs.

    Under uniform attention each of three queries reads the mean of three keys, so that
    H₊ = w·(c1 − v1 − v2). Attention at finite width is uniform up to O(ω²).
    """
    value = {name: select(run, f"value[+,{name}]") for name in ("c1", "v1", "v2")}
    head = value["c1"] - value["v1"] - value["v2"]
    return head + schema.setting_of(run)["bias"]


SWITCH = Stage("T_half", _head_off, MEANING["T_half"], direction="down")


def _staged_formulas(run: xr.Dataset, setting: Setting) -> dict[str, float | None]:
    if (setting["K"], setting["L"]) != (2, 3):
        return dict.fromkeys(MEANING)
    bias, level = setting["bias"], setting["T1_level"]
    first = (
        setting["T1"] if level is None else stage_one_time(2 * bias + 5 * level, bias)
    )
    value = float(formulas.stage_one(np.array([first]), bias)[1][0])
    times: dict[str, float | None] = dict.fromkeys(MEANING)
    times |= {"T_half": formulas.switch_time(bias), "T1": first}
    if setting["T2"] is None and value > 0:
        length = formulas.stage_two_duration(
            setting["omega"], value, setting["T2_level"]
        )
        times["T2"] = first + length
    times["T3"] = _convergence_time(run, setting)
    units = steps_per_time(setting) or 1.0
    return {name: None if t is None else t * units for name, t in times.items()}


def _convergence_time(run: xr.Dataset, setting: Setting) -> float | None:
    """`T2 + 1/(γ²ε)`, in training time, with the median margin and T2 over seeds."""
    if setting["T3"] is not None or run.sizes[STAGE] < 3:
        return None
    margins = convergence_margins(run)
    second = _stage_ends(run)[1].median
    if margins is None or second is None or not margins.min() > 0:
        return None
    units = steps_per_time(setting) or 1.0
    return second / units + 1 / (float(np.median(margins)) ** 2 * setting["epsilon"])


def convergence_margins(run: xr.Dataset) -> np.ndarray | None:
    """Margin γ of the attention features at T2, per seed; `None` if not recorded.

    With attention fixed and all ReLUs active the output is linear in the neurons,
    f = w₊·q₊ − w₋·q₋ with q the pooled tokens. Gradient flow of the logistic loss on
    separable features ends in loss ~ 1/(γ² t), γ their largest margin.
    """
    recorded = {"pooled_token_at_end", "label_at_end"} <= set(run.data_vars)
    # One sample per orbit leaves the neurons more freedom than all samples do.
    if not recorded or schema.setting_of(run)["population"] == "orbits":
        return None
    reads = run["pooled_token_at_end"].isel(stage=1)
    label = run["label_at_end"].isel(stage=1).values
    plus, minus = (reads.sel(head=head).values for head in "+-")
    features = np.concatenate([plus, -minus], axis=-1) * label[..., None]
    return np.array([max_margin(rows).value for rows in features])


def is_recorded(run: xr.Dataset, series: str) -> bool:
    """Whether a run has recorded the series of a selector."""
    try:
        select(run, series)
    except ValueError:
        return False
    return True
