"""The table of stages: formula, detected time and caveats of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnflow import schema
from attnflow.claims.stages import Event, Stage, StageRow
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import events, formulas, series
from attnflow.papers.signgd.stages.attended_tokens import is_long, with_attended_noise
from attnflow.papers.signgd.stages.clock import steps_at
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr


@dataclass(frozen=True)
class _Row:
    """A row of the table: a stage and (a multiple of) a formula.

    `stage` is a name and why there is none where no observable event marks the paper's
    time; `beside` is a formula of ours for the same time.
    """

    stage: Stage | events.Turn | tuple[str, str]
    formula: str = ""
    multiple: float = 1.0
    beside: str = ""


_ROWS = (
    _Row(events.values_positive, "T1"),
    _Row(events.noise_aligned, "T2_SGN"),
    _Row(("T2", "no observable event"), "T2"),
    _Row(events.signals_voted, "T3"),
    _Row(events.softmax_yields, "T4-_lo"),
    _Row(events.keys_turn, "T4-_hi", beside="T4-"),
    _Row(events.queries_turn, "T4-_hi", 2.0, "T4-"),
    _Row(events.keys_follow),
    _Row(events.queries_follow, "T4"),
    _Row(events.all_follow),
    _Row(events.attention_leaves, "T_attn"),
)


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stages of a run; none for computations, noisy digits and deeper models.

    Where samples have several noise tokens, those of the one that attention ends on.
    """
    if TIME not in run.dims or "support" not in schema.setting_of(run):
        return []
    formula_times = stage_formulas(run)
    if is_long(run) and all(name in run for name in ("attention", *events.NEURONS)):
        run = with_attended_noise(run)
    return [_row(run, row, formula_times) for row in _ROWS]


def stage_formulas(run: xr.Dataset) -> dict[str, FormulaTime]:
    """The paper's formulas at the sizes of a run, in steps of its first learning rate.

    Those that depend on the initial weights use medians over seeds.
    """
    setting = schema.setting_of(run)
    if setting.get("rule") == "gd":
        return {}
    times = formulas.late(sizes(setting))
    if not all(name in run for name in events.NEURONS):
        return times
    noise, signal = series.largest_initial(run)
    return times | formulas.early(
        sizes(setting), noise=float(noise.median()), signal=float(signal.median())
    )


def _row(run: xr.Dataset, row: _Row, formula_times: dict[str, FormulaTime]) -> StageRow:
    formula = _formula(run, row, formula_times)
    if isinstance(row.stage, tuple):
        name, meaning = row.stage
        return StageRow(
            name, formula.time, None, None, _joined(meaning, formula.reason)
        )
    stage = row.stage
    if reason := _unknown(run, stage):
        note = _joined(stage.meaning, formula.reason, reason)
        return StageRow(stage.name, formula.time, None, None, note)
    event = stage(run)
    ours = _ours(run, row, formula_times)
    parts = (stage.meaning, formula.reason, ours, _on_clock(run, event), event.note)
    return StageRow(
        stage.name, formula.time, event.median, event.spread, _joined(*parts)
    )


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _formula(
    run: xr.Dataset, row: _Row, formula_times: dict[str, FormulaTime]
) -> FormulaTime:
    """The formula in steps of the run, or why there is none."""
    if not row.formula:
        return FormulaTime(None)
    setting = schema.setting_of(run)
    if not formula_times:
        return FormulaTime(
            None,
            "the formula is SignGD's, whose steps do not depend on the size of "
            "gradients",
        )
    if row.formula not in formula_times:
        names = " and ".join(events.NEURONS)
        return FormulaTime(None, f"no formula: {names} were not recorded")
    formula = formula_times[row.formula]
    if formula.time is None:
        return formula
    caveat = "the formula is SignGD's" if setting.get("rule") == "adam" else ""
    steps = float(steps_at(row.multiple * formula.time, sizes(setting).growth))
    return FormulaTime(steps, caveat)


def _ours(run: xr.Dataset, row: _Row, formula_times: dict[str, FormulaTime]) -> str:
    """A note with our formula for the same time."""
    time = formula_times.get(row.beside, FormulaTime(None)).time
    if time is None:
        return ""
    growth = sizes(schema.setting_of(run)).growth
    steps = float(steps_at(row.multiple * time, growth))
    return f"where gradients balance on disjoint supports: {steps:.4g} (ours)"


def _unknown(run: xr.Dataset, stage: Stage | events.Turn) -> str:
    """Why the stage cannot be detected; empty where it can."""
    if missing := stage.missing(run):
        return f"not known: {' and '.join(missing)} not recorded"
    if stage is events.softmax_yields and is_long(run):
        return "not known: defined for samples of one noise token"
    return ""


def _on_clock(run: xr.Dataset, event: Event) -> str:
    """The event in units of the first learning rate, where the rate grows."""
    if sizes(schema.setting_of(run)).growth == 0.0 or event.median is None:
        return ""
    times = np.nan_to_num(events.clock_times(run, event), nan=np.inf)
    return f"τ/η = {np.median(times):.4g}"
