"""Table of phases: detected times, formulas and caveats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.claims.stages import Event, Stage, StageRow
from attnflow.papers.cooccurrence.stages import events, formulas
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr
from attnflow.schema.settings import steps_per_time

NOT_SMALL = 0.1
"""Ratio of |a|² σ0² m to b0 from which on the clock gets a caveat."""
GROWN = 1.2
"""Growth of b from which on the formula for `T_star` gets a caveat."""


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Rows of a run's phases; none for computations."""
    if TIME not in run.dims:
        return []
    return [_row(run, stage) for stage in events.STAGES]


def _row(run: xr.Dataset, stage: Stage) -> StageRow:
    row = stage.row(run)
    if stage.missing(run):
        return row
    event = stage(run)
    notes = [row.note, _on_clock(run, event)]
    if stage is events.all_correct:
        notes.append(_clock_caveat(run, event))
    if stage is events.loss_reaches:
        level = events.loss_level(schema.setting_of(run))
        notes += [f"the level is {level:.3g}", _gain_caveat(run, event)]
    return replace(row, note="; ".join(filter(None, notes)))


def _has_clock(run: xr.Dataset) -> bool:
    """Whether b was recorded, and the run's rule follows the flow."""
    follows = steps_per_time(schema.setting_of(run)) is not None
    return follows and "readout_gain" in run


def _on_clock(run: xr.Dataset, event: Event) -> str:
    """Times of an event on the clock b0·t: median, and range over seeds."""
    if not _has_clock(run) or event.median is None:
        return ""
    times = events.clock_times(run, event)
    # Seeds without the event are later than all others.
    text = f"b0·t = {np.median(np.nan_to_num(times, nan=np.inf)):.4g}"
    if event.spread is None:
        return text
    return f"{text} ({np.nanmin(times):.4g} … {np.nanmax(times):.4g})"


def _clock_caveat(run: xr.Dataset, event: Event) -> str:
    """Caveat where the motion of W makes phase 1 faster than b0 alone does."""
    setting = schema.setting_of(run)
    share = formulas.value_gain(setting) / formulas.readout_gain(setting)
    if share < NOT_SMALL:
        return ""
    text = f"|a|²σ0²m is {share:.3g} b0: the clock is (b0 + |a|²σ0²m)t"
    if not _has_clock(run) or event.median is None:
        return text
    time = np.nanmedian(events.clock_times(run, event)) * (1 + share)
    return f"{text} = {time:.4g}"


def _gain_caveat(run: xr.Dataset, event: Event) -> str:
    """Caveat where b has grown, which makes the loss smaller than with b0."""
    if not _has_clock(run) or not all(event.reached):
        return ""
    gain = run["readout_gain"].isel(head=0, drop=True)
    # A run that stops at its level ends behind its last record.
    at_end = run["readout_gain_at_end"].isel(head=0, stage=-1, drop=True)
    then = look.at(run, event, gain, how="linear").fillna(at_end)
    factor = float((then / gain.isel(time=0, drop=True)).median())
    return f"b has grown {factor:.3g}-fold by then" if factor > GROWN else ""
