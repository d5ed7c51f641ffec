"""Stage table of Algorithm 1: when each stage ended."""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Detected, Event, StageRow, first_crossing, select
from attnflow.claims.statistics import max_margin
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.formulas import stage_one_time, steps_per_time
from attnflow.papers.mixture.settings import Setting
from attnflow.schema.dims import SEED, STAGE

MEANING = {
    "T_half": "the positive head switches off on c1, −v1, −v2",
    "T1": "stage 1 ends",
    "T2": "stage 2 ends",
    "T3": "stage 3 ends; the formula is T2 + 1/(γ²ε), γ the margin at T2",
}


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
