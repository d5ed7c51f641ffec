"""Table of phases: detected times, formulas and caveats."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Event, StageRow
from attnflow.papers.cooccurrence.claims.evidence import END_OF_PHASE_ONE
from attnflow.papers.cooccurrence.stages import events, formulas
from attnflow.schema.dims import SEED, TIME

NOT_SMALL = 0.1
"""Ratio of |a|² σ0² m to b0 from which on the clock gets a caveat."""
GROWN = 1.2
"""Growth of b from which on the formula for `T_star` gets a caveat."""


@dataclass(frozen=True)
class _Phase:
    """A row of the table: the observable it needs, detector, formula and caveat."""

    name: str
    needs: str
    meaning: Callable[[xr.Dataset], str]
    detector: Callable[[xr.Dataset], Event]
    formula: Callable[[xr.Dataset], float | None] = lambda run: None
    caveat: Callable[[xr.Dataset, Event], str] = lambda run, event: ""


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """Rows of a run's phases; none for computations."""
    if TIME not in run.dims:
        return []
    return [_row(run, phase) for phase in _PHASES]


def _row(run: xr.Dataset, phase: _Phase) -> StageRow:
    formula, meaning = phase.formula(run), phase.meaning(run)
    if phase.needs not in run:
        why = f"not known: {phase.needs} was not recorded"
        return StageRow(phase.name, formula, None, None, f"{meaning}; {why}")
    event = phase.detector(run)
    parts = (meaning, _on_clock(run, event), event.note, phase.caveat(run, event))
    note = "; ".join(filter(None, parts))
    return StageRow(phase.name, formula, event.median, event.spread, note)


def _has_clock(run: xr.Dataset) -> bool:
    """Whether b was recorded, and the run's rule follows the flow."""
    follows = formulas.steps_per_time(schema.setting_of(run)) is not None
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


def _first_phase(run: xr.Dataset) -> float | None:
    return formulas.first_phase(schema.setting_of(run))


def _small_loss(run: xr.Dataset) -> float | None:
    return formulas.small_loss(schema.setting_of(run), events.loss_level(run))


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
    gain = run["readout_gain"].isel(head=0).transpose(SEED, TIME).values
    is_recorded = run["recorded"].transpose(SEED, TIME).values
    grid = run[TIME].values
    growth = [
        np.interp(time, grid[rows], values[rows]) / values[0]
        for time, values, rows in zip(event.times, gain, is_recorded, strict=True)
    ]
    factor = float(np.median(growth))
    return f"b has grown {factor:.3g}-fold by then" if factor > GROWN else ""


_PHASES = (
    _Phase(
        "T_half",
        "value_rate",
        lambda run: "−G3' ≥ max(G1', G2') for good",
        events.common_overtakes,
    ),
    _Phase(
        "T1",
        "margin",
        lambda run: (
            f"all margins > 0 for good; formula C_T1/(σ1² m |a|²), "
            f"C_T1 = {END_OF_PHASE_ONE:g} (ours)"
        ),
        events.all_correct,
        _first_phase,
        _clock_caveat,
    ),
    _Phase(
        "T_sig",
        "value",
        lambda run: "G1+G2+G3, −G1−G3, −G2−G3, −G3 > 0 for good",
        events.signal_correct,
    ),
    _Phase(
        "T_star",
        "loss",
        lambda run: (
            f"loss ≤ {events.loss_level(run):.3g}; formula b0·t·Loss = |w*|² (ours)"
        ),
        events.loss_reaches,
        _small_loss,
        _gain_caveat,
    ),
)
