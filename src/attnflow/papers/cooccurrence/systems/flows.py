"""Appendix C's flow against the same run by the forms of the core."""

from collections.abc import Sequence
from dataclasses import asdict

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array

from attnflow.data import CooccurrenceTask, Sequences
from attnflow.data.cooccurrence import NAMED
from attnflow.experiments import Experiment, run
from attnflow.models.forms import Initial
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.papers.cooccurrence.computations import AppendixC
from attnflow.papers.cooccurrence.systems.closed_system import (
    ClosedSystem,
    State,
    system_of,
    tables_of,
)
from attnflow.papers.cooccurrence.systems.model import (
    Weights,
    draw,
    initial_of,
    samples_of,
    task_of,
)
from attnflow.training import Grid, Stage, flow, stack
from attnflow.training.rules import Flow

QUANTITIES = ("loss", "score", "value")
Course = dict[str, np.ndarray]


def flow_differences(setting: AppendixC, seeds: Sequence[int]) -> xr.Dataset:
    """Differences in loss, scores of named tokens and values of all tokens."""
    task, initial = task_of(setting, "repeated"), _initial(setting)
    starts = [draw(task, initial, seed) for seed in seeds]
    plan = _experiment(setting, task)
    ours = [_by_forms(plan, *start) for start in starts]
    theirs = _by_tables(plan, starts)
    pairs = list(zip(theirs, ours, strict=True))
    difference = [
        [_largest_difference(t[q], o[q]) for q in QUANTITIES] for t, o in pairs
    ]
    move = [[_largest_difference(o[q], o[q][:1]) for q in QUANTITIES] for o in ours]
    # A maximum that skips NaN would hide a run that ended early.
    if not np.isfinite(difference).all():
        raise ValueError(
            f"Some run ended before clock={setting.clock}: with these scales the "
            "flow is too fast to follow. Lower clock, sigma_values or sigma_scores."
        )
    dims = ("seed", "quantity", "record")
    return xr.Dataset(
        {
            "difference": (dims, np.array(difference)),
            "move": (dims, np.array(move)),
            "loss": (("seed", "record"), np.stack([o["loss"] for o in ours])),
        },
        {
            "quantity": list(QUANTITIES),
            "clock": ("record", np.linspace(0, setting.clock, setting.records)),
        },
    )


def _initial(setting: AppendixC) -> Initial:
    return initial_of(
        setting.flow_width,
        setting.flow_neurons,
        sigma_scores=setting.sigma_scores,
        sigma_values=setting.sigma_values,
    )


def _experiment(setting: AppendixC, task: CooccurrenceTask) -> Experiment:
    width, neurons = setting.flow_width, setting.flow_neurons
    stop = setting.clock / (setting.sigma_values**2 * width * neurons)
    rule = Flow(rtol=setting.rtol, atol=setting.rtol * 1e-6)
    return Experiment(
        "cooccurrence",
        "AppendixC",
        asdict(setting),
        task=task,
        problem=Problem(Linear(1), Logistic(), score_scale=width**-0.5),
        initial=_initial(setting),
        stages=(Stage(rule, stop),),
        grid=Grid(stop=stop, count=setting.records),
        observables=QUANTITIES,
    )


def _by_forms(plan: Experiment, data: Sequences, weights: Weights) -> Course:
    arrays = {
        name: np.asarray(getattr(data, name)) for name in ("tokens", "key", "label")
    }
    headed = {name: np.asarray(w)[None] for name, w in weights.items()}
    recorded = run(plan, data=arrays, weights=headed)
    head = {name: recorded[name].values[0] for name in QUANTITIES}
    return {
        "loss": head["loss"],
        "score": head["score"][:, 0, :NAMED, :NAMED],
        "value": head["value"][:, 0],
    }


def _by_tables(
    plan: Experiment, starts: list[tuple[Sequences, Weights]]
) -> list[Course]:
    """Appendix C's flow of all seeds in one batch."""
    systems = [system_of(weights, samples_of(data)) for data, weights in starts]
    states = [tables_of(weights) for _, weights in starts]
    system, axes = stack(systems)
    times, seeds = plan.grid.times(whole=False), np.ones(len(starts))
    rule = plan.stages[0].rule
    assert isinstance(rule, Flow)
    rows = flow(
        system,
        axes,
        jax.tree.map(lambda *parts: jnp.stack(parts), *states),
        rule=rule,
        start=0 * seeds,
        stop=times[-1] * seeds,
        times=times,
        observe=observe,
    ).rows
    return [
        {n: np.asarray(row[i]) for n, row in rows.items()} for i in range(len(starts))
    ]


def observe(system: ClosedSystem, state: State) -> dict[str, Array]:
    """Loss, scores of named tokens and values of all tokens."""
    return {
        "loss": system.loss(state),
        "score": state["S"][:NAMED, :NAMED],
        "value": system.readout(state),
    }


def _largest_difference(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Largest difference of an entry at each record."""
    return np.abs(ours - theirs).reshape(len(ours), -1).max(axis=1)
