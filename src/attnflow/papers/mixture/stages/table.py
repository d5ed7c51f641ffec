"""The stage table of a run: simultaneous training, and Algorithm 1."""

import dataclasses
import math

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import (
    Detected,
    Event,
    StageRow,
    StageRule,
    first_crossing,
    select,
)
from attnflow.claims.stages import stage_table as rows_of
from attnflow.claims.statistics import max_margin
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.formulas import (
    alignment_time,
    stage_one_time,
    steps_per_time,
)
from attnflow.papers.mixture.settings import Setting
from attnflow.schema.dims import SEED, STAGE, TIME

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
        events = {"T_half": _switch(run, setting)} | events
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


def _switch(run: xr.Dataset, setting: Setting) -> Event:
    """When H₊ + b falls to 0 on the consistent samples with negative signs.

    Under uniform attention each of three queries reads the mean of three keys, so that
    H₊ = w·(c1 − v1 − v2). Attention at finite width is uniform up to O(ω²).
    """
    value = {name: select(run, f"value[+,{name}]") for name in ("c1", "v1", "v2")}
    head = value["c1"] - value["v1"] - value["v2"] + setting["bias"]
    return first_crossing(run, head, level=0.0, direction="down", name="T_half")


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
