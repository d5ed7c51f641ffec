"""Stages as records, and their table: formulas beside detected times."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from attnflow import schema
from attnflow.claims.stages import Stage, StageRow
from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.stages import series
from attnflow.papers.scansnap.stages.formulas import formula_times, pace
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

LEAST_RECORDS = 3
"""Two records determine neither a peak nor a slope."""
FROZEN = 0.01
"""Total variation per doubling of time below which attention is called frozen."""


def _formula(setting: Setting, *, name: str) -> FormulaTime:
    time = formula_times(setting).get(name)
    quick = pace(setting)
    if time is None or quick == 1:
        return FormulaTime(time)
    return FormulaTime(time, f"the formula is of the flow, {quick:.3g} times as fast")


DECODER_SNAP = Stage(
    "decoder_snap",
    series.decoder_speed,
    "the decoder's speed γ is largest",
    "largest",
    formula=partial(_formula, name="decoder_snap"),
)
ATTENTION_SNAP = Stage(
    "attention_snap",
    series.top_velocity,
    "the top distinct token's score moves fastest",
    "largest",
)
SLOW_GROWTH = Stage(
    "slow_growth",
    series.growth_slope,
    "growth is first slower than t",
    level=1.0,
    direction="down",
    clock="log",
)
FREEZING = Stage(
    "frozen",
    series.attention_drift,
    f"attention moves less than {FROZEN:g} while time doubles",
    "settled",
    level=FROZEN,
    direction="down",
)
_FORMULAS = {
    "scan_end": "t₀' = K ln M/η_Y, up to which γ = O(η_Y t/K)",
    "snap": "t₀ = 2(1 + ω₁)K ln M/η_Y, from which γ decays as ln t/t",
}
"""Boundaries that are formulas alone."""
_NEEDS = {
    "decoder_snap": (("attention_speed",), ("error_norm", "margin")),
    "attention_snap": (
        ("score_velocity", "attention_per_class"),
        ("score_velocity", "common_score"),
    ),
    "slow_growth": (("score", "attention_per_class"), ("drive_integral",)),
    "frozen": (("attention_per_class",),),
}
"""Observables that a stage is detected in; one of the groups suffices."""
_TABLE = ("scan_end", DECODER_SNAP, "snap", ATTENTION_SNAP, SLOW_GROWTH, FREEZING)


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Stages of a run; none for a run without time or without tables Y and Z."""
    setting = schema.setting_of(run)
    if TIME not in run.dims or "parametrisation" in setting:
        return []
    system = run.attrs.get("system", "").partition(":")[0]
    rows = [
        _row(run, stage) if isinstance(stage, Stage) else _formula_row(setting, stage)
        for stage in _TABLE
    ]
    if not system:
        return rows
    return [replace(row, note=f"{system}: {row.note}") for row in rows]


def _formula_row(setting: Setting, name: str) -> StageRow:
    formula = _formula(setting, name=name)
    note = "; ".join(filter(None, (_FORMULAS[name], formula.reason)))
    return StageRow(name, formula.time, None, None, note)


def _row(run: xr.Dataset, stage: Stage) -> StageRow:
    lacking = _lacking(run, stage.name)
    if not lacking:
        return stage.row(run)
    time = stage.formula(schema.setting_of(run)).time if stage.formula else None
    note = f"{stage.meaning}; not known: needs {lacking}"
    return StageRow(stage.name, time, None, None, note)


def _lacking(run: xr.Dataset, name: str) -> str:
    """Observables or records that the detector needs and the run lacks, as text."""
    if run.sizes[TIME] < LEAST_RECORDS:
        return f"{LEAST_RECORDS} records or more"
    if any(all(n in run for n in names) for names in _NEEDS[name]):
        return ""
    missing = " or ".join(", ".join(names) for names in _NEEDS[name])
    return f"{missing} recorded"
