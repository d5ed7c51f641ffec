"""The table of stages: formula, detected time and caveats of each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Event, StageRow
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import events, formulas, series
from attnflow.papers.signgd.stages.attended_tokens import is_long, with_attended_noise
from attnflow.papers.signgd.stages.clock import steps_at
from attnflow.papers.signgd.stages.formulas import Formula
from attnflow.schema.dims import TIME

NEURONS = ("key_neuron", "query_neuron")


@dataclass(frozen=True)
class _Stage:
    """A row of the table: observables, detector, and (a multiple of) a formula.

    `detector` is `None` where no observable event marks the paper's time; `beside` is a
    formula of ours for the same time.
    """

    name: str
    meaning: str
    needs: tuple[str, ...]
    detector: Callable[[xr.Dataset], Event] | None
    formula: str = ""
    multiple: float = 1.0
    beside: str = ""


def stage_table(run: xr.Dataset) -> list[StageRow]:
    """The stages of a run; none for computations, noisy digits and deeper models.

    Where samples have several noise tokens, those of the one that attention ends on.
    """
    if TIME not in run.dims or "support" not in schema.setting_of(run):
        return []
    formula_times = stage_formulas(run)
    if is_long(run) and all(name in run for name in ("attention", *NEURONS)):
        run = with_attended_noise(run)
    return [_row(run, stage, formula_times) for stage in _STAGES]


def stage_formulas(run: xr.Dataset) -> dict[str, Formula]:
    """The paper's formulas at the sizes of a run, in steps of its first learning rate.

    Those that depend on the initial weights use medians over seeds.
    """
    setting = schema.setting_of(run)
    if setting.get("rule") == "gd":
        return {}
    times = formulas.late(sizes(setting))
    if not all(name in run for name in NEURONS):
        return times
    noise, signal = series.largest_initial(run)
    return times | formulas.early(
        sizes(setting), noise=float(noise.median()), signal=float(signal.median())
    )


def _row(run: xr.Dataset, stage: _Stage, formula_times: dict[str, Formula]) -> StageRow:
    time, why_none = _formula(run, stage, formula_times)
    reason = _unknown(run, stage)
    if reason or stage.detector is None:
        note = "; ".join(filter(None, (stage.meaning, why_none, reason)))
        return StageRow(stage.name, time, None, None, note)
    event = stage.detector(run)
    ours = _ours(run, stage, formula_times)
    parts = (stage.meaning, why_none, ours, _on_clock(run, event), event.note)
    note = "; ".join(filter(None, parts))
    return StageRow(stage.name, time, event.median, event.spread, note)


def _formula(
    run: xr.Dataset, stage: _Stage, formula_times: dict[str, Formula]
) -> tuple[float | None, str]:
    """The formula in steps of the run, or why there is none."""
    if not stage.formula:
        return None, ""
    setting = schema.setting_of(run)
    if not formula_times:
        return None, "the formula is SignGD's, whose steps do not depend on the size "
        "of gradients"
    if stage.formula not in formula_times:
        return None, f"no formula: {' and '.join(NEURONS)} were not recorded"
    formula = formula_times[stage.formula]
    if formula.time is None:
        return None, formula.reason
    caveat = "the formula is SignGD's" if setting.get("rule") == "adam" else ""
    return float(steps_at(stage.multiple * formula.time, sizes(setting).growth)), caveat


def _ours(run: xr.Dataset, stage: _Stage, formula_times: dict[str, Formula]) -> str:
    """A note with our formula for the same time."""
    time = formula_times.get(stage.beside, Formula(None)).time
    if time is None:
        return ""
    growth = sizes(schema.setting_of(run)).growth
    steps = float(steps_at(stage.multiple * time, growth))
    return f"where gradients balance on disjoint supports: {steps:.4g} (ours)"


def _unknown(run: xr.Dataset, stage: _Stage) -> str:
    """Why the stage cannot be detected; empty where it can."""
    missing = [name for name in stage.needs if name not in run]
    if missing:
        return f"not known: {' and '.join(missing)} not recorded"
    if stage.detector is events.softmax_yields and is_long(run):
        return "not known: defined for samples of one noise token"
    return ""


def _on_clock(run: xr.Dataset, event: Event) -> str:
    """The event in units of the first learning rate, where the rate grows."""
    if sizes(schema.setting_of(run)).growth == 0.0 or event.median is None:
        return ""
    times = np.nan_to_num(events.clock_times(run, event), nan=np.inf)
    return f"τ/η = {np.median(times):.4g}"


_STAGES = (
    _Stage(
        "T1",
        "all mean value noise > 0 from then on",
        ("value",),
        events.values_positive,
        "T1",
    ),
    _Stage(
        "T2_SGN",
        "key and query noise of the same sign in 98% of pairs",
        NEURONS,
        events.noise_aligned,
        "T2_SGN",
    ),
    _Stage("T2", "no observable event", (), None, "T2"),
    _Stage(
        "T3",
        "signals opposite and as voted by noise, in 95% of neurons",
        NEURONS,
        events.signals_voted,
        "T3",
    ),
    _Stage(
        "T4-_lo",
        "s21 s22 |q_i| ≤ 2 s11 s12 |q_μ| in the median pair",
        (*NEURONS, "attention"),
        events.softmax_yields,
        "T4-_lo",
    ),
    _Stage(
        "T4-_hi",
        "half of the minority's key noise has turned",
        (*NEURONS, "attention"),
        events.keys_turn,
        "T4-_hi",
        beside="T4-",
    ),
    _Stage(
        "2 T4-_hi",
        "half of the minority's query noise has turned",
        (*NEURONS, "attention"),
        events.queries_turn,
        "T4-_hi",
        2.0,
        "T4-",
    ),
    _Stage(
        "keys follow",
        "all key noise has the sign of the query signal from then on",
        NEURONS,
        events.keys_follow,
    ),
    _Stage(
        "T4",
        "99% of query noise has the sign of the query signal from then on; C3 = "
        f"{formulas.LARGE_CONSTANT:g} (ours)",
        NEURONS,
        events.queries_follow,
        "T4",
    ),
    _Stage(
        "all follow",
        "all query and key noise has it from then on",
        NEURONS,
        events.all_follow,
    ),
    _Stage(
        "T_attn",
        "s11 ≤ 0.1 in every sample",
        ("attention",),
        events.attention_leaves,
        "T_attn",
    ),
)
