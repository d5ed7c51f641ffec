"""Table of stages: formulas beside detected times."""

from collections.abc import Callable
from typing import NamedTuple

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Event, StageRow
from attnflow.papers.scansnap.stages import events
from attnflow.papers.scansnap.stages.formulas import pace, stage_times
from attnflow.schema.dims import TIME

LEAST_RECORDS = 3
"""Two records determine neither a peak nor a slope."""


class _Stage(NamedTuple):
    """Row of the table: observables that it needs, its meaning, and its detector."""

    name: str
    needs: tuple[tuple[str, ...], ...]
    meaning: str
    detector: Callable[[xr.Dataset], Event] | None = None


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Stages of a run; none for a run without time or without tables Y and Z."""
    if TIME not in run.dims or "parametrisation" in schema.setting_of(run):
        return []
    formulas = stage_times(run)
    return [_row(run, stage, formulas.get(stage.name)) for stage in _STAGES]


def _row(run: xr.Dataset, stage: _Stage, time: float | None) -> StageRow:
    system = run.attrs.get("system", "").partition(":")[0]
    notes = [f"{system}: {stage.meaning}" if system else stage.meaning]
    quick = pace(schema.setting_of(run))
    if time is not None and quick != 1:
        notes.append(f"the formula is of the flow, {quick:.3g} times as fast")
    lacking = _lacking(run, stage)
    if stage.detector is None or lacking:
        notes += [f"not known: needs {lacking}"] if lacking else []
        return StageRow(stage.name, time, None, None, "; ".join(notes))
    event = stage.detector(run)
    notes.append(event.note)
    spread = event.spread
    return StageRow(
        stage.name, time, event.median, spread, "; ".join(filter(None, notes))
    )


def _lacking(run: xr.Dataset, stage: _Stage) -> str:
    """Observables or records that the detector needs and the run lacks, as text."""
    if stage.needs and run.sizes[TIME] < LEAST_RECORDS:
        return f"{LEAST_RECORDS} records or more"
    if not stage.needs or any(all(n in run for n in names) for names in stage.needs):
        return ""
    missing = " or ".join(", ".join(names) for names in stage.needs)
    return f"{missing} recorded"


_STAGES = (
    _Stage("scan_end", (), "t₀' = K ln M/η_Y, up to which γ = O(η_Y t/K)"),
    _Stage(
        "decoder_snap",
        (("attention_speed",), ("error_norm", "margin")),
        "the decoder's speed γ is largest",
        events.decoder_snap,
    ),
    _Stage("snap", (), "t₀ = 2(1 + ω₁)K ln M/η_Y, from which γ decays as ln t/t"),
    _Stage(
        "attention_snap",
        (("score_velocity", "attention_per_class"), ("score_velocity", "common_score")),
        "the top distinct token's score moves fastest",
        events.attention_snap,
    ),
    _Stage(
        "slow_growth",
        (("score", "attention_per_class"), ("drive_integral",)),
        "growth is first slower than t",
        events.slow_growth,
    ),
    _Stage(
        "frozen",
        (("attention_per_class",),),
        f"attention moves less than {events.FROZEN:g} while time doubles",
        events.frozen,
    ),
)
