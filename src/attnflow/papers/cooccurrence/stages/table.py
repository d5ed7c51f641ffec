"""The table of phases, each with its formula and its caveats in words."""

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
"""From which share of b0 on |a|² σ0² m is worth a caveat."""
GROWN = 1.2
"""From which growth of b on the formula for `T_star` is."""


@dataclass(frozen=True)
class _Phase:
    """One row: what it looks at, how it is found, its formula and its caveats."""

    name: str
    needs: str
    meaning: Callable[[xr.Dataset], str]
    detector: Callable[[xr.Dataset], Event]
    formula: Callable[[xr.Dataset], float | None] = lambda run: None
    caveat: Callable[[xr.Dataset, Event], str] = lambda run, event: ""


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The phases of a run; none where nothing was trained."""
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
    """Whether b was recorded, and steps of the run's rule have a time."""
    follows = formulas.steps_per_time(schema.setting_of(run)) is not None
    return follows and "readout_gain" in run


def _on_clock(run: xr.Dataset, event: Event) -> str:
    """The event on the clock b0·t: the median, and the range over seeds."""
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


def _faster(run: xr.Dataset, event: Event) -> str:
    """Where the readout's own motion counts, phase 1 is faster than b0 says."""
    setting = schema.setting_of(run)
    share = formulas.value_gain(setting) / formulas.readout_gain(setting)
    if share < NOT_SMALL:
        return ""
    text = f"|a|²σ0²m is {share:.3g} b0: the clock is (b0 + |a|²σ0²m)t"
    if not _has_clock(run) or event.median is None:
        return text
    time = np.nanmedian(events.clock_times(run, event)) * (1 + share)
    return f"{text} = {time:.4g}"


def _grown(run: xr.Dataset, event: Event) -> str:
    """Where b grew, the loss is smaller than b0 says."""
    if not _has_clock(run) or not all(event.reached):
        return ""
    gain = run["readout_gain"].isel(head=0).transpose(SEED, TIME).values
    kept = run["recorded"].transpose(SEED, TIME).values
    grid = run[TIME].values
    growth = [
        np.interp(time, grid[rows], values[rows]) / values[0]
        for time, values, rows in zip(event.times, gain, kept, strict=True)
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
        _faster,
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
        _grown,
    ),
)
