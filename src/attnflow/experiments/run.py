"""`run`: the one bridge from JAX to xarray."""

import importlib
import inspect
import json
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import jax
import xarray as xr
from jaxtyping import PyTree

from attnflow import schema
from attnflow.experiments.course import (
    Leg,
    Observe,
    Prepared,
    Progress,
    Variable,
    as_dataset,
    course_of,
    drifts,
    event_of,
    finer,
    prepare,
    refinement,
)
from attnflow.experiments.limits import rate_limit, swamping
from attnflow.experiments.members import final_weights
from attnflow.experiments.record import (
    AbstractExperiment,
    Arrays,
    Computation,
    Experiment,
    Runnable,
    SystemExperiment,
    Trained,
    rule_names,
    rules_of,
)
from attnflow.models.forms import State
from attnflow.models.systems import Training
from attnflow.observables import parse
from attnflow.observables.conserved import drift
from attnflow.observables.registry import DirectObserve
from attnflow.schema.arrays import ArraySource, load
from attnflow.schema.clock import compile_time
from attnflow.schema.installation import library_versions
from attnflow.schema.settings import address, canonical_json
from attnflow.training import Grid, Reach, precise, stack, stack_arrays
from attnflow.training.programs import (
    make_room,
    size_of,
)

HUGE = 10**7
"""Numbers of a seed's state from which on seeds do not share memory.

A run holds its state some five times: 3 seeds of 3·10⁷ numbers took 3.1 GB.
"""
SystemMembers = list[tuple[PyTree, PyTree]]
"""The system and the initial state of each seed."""


def run(
    experiment: Runnable,
    *,
    seeds: Sequence[int] = (0,),
    data: ArraySource | None = None,
    weights: ArraySource | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    lift: bool = False,
    check: bool = False,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Run an experiment for some seeds, side by side, into one Dataset.

    **Arguments:**

    - `data`: arrays (a mapping, or the path of an npz file) in place of the task's
      samples: `tokens` (tokens, embed), `key` (samples, keys), `label` (samples), and
      optionally `mass`, `query`, `query_weight`, `probability`, `group`, `payload`.
    - `weights`: initial weights likewise: `W_K`, `W_Q` (heads, width, embed) and `w`
      (heads, embed).
    - `record`: observables to record beside those of the experiment.
    - `at`: times to record at, in place of those of the experiment.
    - `lift`: add all weights at the end of each seed, as `W_K_final`, … with the dims
      `seed`, `head` and their own.
    - `check`: repeat a flow at a tenth of its tolerances and report by how much the
      records change, as `refinement`.
    - `progress`: called with the fraction done and what is being done.

    **Returns:** a Dataset as `attnflow.schema` says. A `LearningRateWarning` says
    where the rate of a descent lies beyond linear stability at the start.
    """
    seeds = [int(seed) for seed in seeds]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds is {seeds}; give one or more different integers.")
    if check:
        _require_flow(experiment)
    begun = time.perf_counter()
    make_room()
    if isinstance(experiment, Computation):
        body = _compute(experiment, seeds, progress)
        notes = {"form": "none", "rule": "none"}
        compile_seconds = 0.0
    else:
        experiment = _adjusted(experiment, record, at)
        options = _Options(_arrays(weights), check, progress)
        with precise(), compile_time() as watch:
            if isinstance(experiment, SystemExperiment):
                _require_none(data=bool(data), lift=lift)
                body, notes = _train_system(experiment, seeds, options)
            else:
                arrays = _arrays(data)
                body, notes = _train(experiment, seeds, arrays, options, lift=lift)
        compile_seconds = watch.seconds
    body.attrs = attributes(
        experiment,
        notes,
        id=address(
            experiment.canonical(),
            seeds=seeds,
            data=data,
            weights=weights,
            check=check,
            lift=lift,
        ),
        wall_seconds=time.perf_counter() - begun,
        compile_seconds=compile_seconds,
    )
    return schema.check(schema.described(body))


def attributes(
    experiment: AbstractExperiment, notes: Mapping[str, str], **more: str | float
) -> dict[str, str | float]:
    """What a run says of where it comes from; `more` are its address and times."""
    return {
        "paper": experiment.paper,
        "experiment": experiment.id,
        "setting": canonical_json(dict(experiment.setting)),
        "record": canonical_json(experiment.canonical()),
        "form_reason": "",
        **notes,
        "versions": json.dumps(library_versions()),
        "platform": f"{platform.machine()} {platform.system()} {jax.default_backend()}",
        "citation": experiment.citation,
        **more,
    }


def _arrays(source: ArraySource | None) -> Arrays | None:
    return None if source is None else load(source)


class _Options(NamedTuple):
    """Initial weights in place of drawn ones, whether to refine, whom to report to."""

    weights: Arrays | None
    check: bool
    progress: Progress | None


def _require_flow(experiment: Runnable) -> None:
    """Refuse to check what has no tolerance."""
    if isinstance(experiment, Computation):
        raise ValueError(
            f"{experiment.id} trains nothing, so that there is no tolerance to check "
            "it at. Leave check out."
        )
    if not experiment.is_flow:
        raise ValueError(
            "A check repeats a gradient flow at a tenth of its tolerance; this "
            f"experiment is trained by {rule_names(experiment)}, whose steps are "
            "exact: nothing is to be refined. Leave check out, or train by a Flow."
        )


def _require_none(**options: bool) -> None:
    """Refuse what only experiments on a task can do."""
    names = [name for name, is_set in options.items() if is_set]
    if names:
        raise ValueError(
            f"{' and '.join(names)} cannot be given to an experiment on a system that "
            "is written directly: change its settings, or give its initial tables as "
            "weights."
        )


def _adjusted(
    experiment: Trained, record: Sequence[str] | None, at: Sequence[float] | None
) -> Trained:
    if record:
        names = dict.fromkeys((*experiment.observables, *record))
        experiment = replace(experiment, observables=tuple(names))
    if at is not None:
        points = tuple(float(t) for t in at)
        experiment = replace(experiment, grid=Grid(points=points))
    return experiment


def _compute(
    experiment: Computation, seeds: list[int], progress: Progress | None
) -> xr.Dataset:
    module, _, function = experiment.function.partition(":")
    compute = getattr(importlib.import_module(module), function)
    if "progress" in inspect.signature(compute).parameters:
        compute = partial(compute, progress=progress)
    with precise():
        body = compute(dict(experiment.setting), seeds)
    return body.assign_coords(seed=seeds)


def _train(
    experiment: Experiment,
    seeds: list[int],
    data: Arrays | None,
    options: _Options,
    *,
    lift: bool,
) -> tuple[xr.Dataset, dict[str, str]]:
    """The run of a form on a problem, and what it reports of its form and rules."""
    weights, check, progress = options
    plan = prepare(experiment, seeds, data, weights, lift=lift)
    limits, notes = {}, plan.notes
    if not experiment.is_flow:
        limits, notes = _limits(plan)
    observe = Observe(experiment.observables)
    half = partial(_part_of, progress, 0, 2 if check else 1)
    course = course_of(
        experiment, plan.legs, plan.state, observe=observe, progress=half
    )
    beside = {**limits, **swamping(course, rules_of(experiment))}
    body = as_dataset(experiment, seeds, course, plan.coords, beside=beside)
    if experiment.is_flow:
        body["drift"] = ("seed", drifts(plan.members, course, _drift))
    if check:
        legs = [(finer(s), system, axes, e) for s, system, axes, e in plan.legs]
        other = partial(_part_of, progress, 1, 2)
        fine = course_of(experiment, legs, plan.state, observe=observe, progress=other)
        body = body.assign(refinement(course, fine, experiment.observables))
    if lift:
        states = course.state
        body = body.assign(
            final_weights(experiment, seeds, plan.members, weights, states)
        )
    return body, notes


def _train_system(
    experiment: SystemExperiment, seeds: list[int], options: _Options
) -> tuple[xr.Dataset, dict[str, str]]:
    """The run of a system, and what it reports of its form, rules and system."""
    members = experiment.model.members(seeds, options.weights)
    if len(seeds) == 1 or size_of(members[0][1]) <= HUGE:
        return _train_seeds(experiment, seeds, members, options)
    bodies: list[xr.Dataset] = []
    notes: dict[str, str] = {}
    for number, seed in enumerate(seeds):
        report = partial(_part_of, options.progress, number, len(seeds), also="")
        mine = options._replace(progress=report)
        # Popped, so that the memory of a trained seed is freed.
        alone = [members.pop(0)]
        body, notes = _train_seeds(experiment, [seed], alone, mine)
        bodies.append(body)
    whole = xr.concat(bodies, "seed", data_vars="minimal", join="exact")
    return cast(xr.Dataset, whole), notes


def _train_seeds(
    experiment: SystemExperiment,
    seeds: list[int],
    members: SystemMembers,
    options: _Options,
) -> tuple[xr.Dataset, dict[str, str]]:
    """The run of some seeds together."""
    model, (_, check, progress) = experiment.model, options
    known = model.registry
    state, legs = _assembled(experiment, members)
    observe = DirectObserve(experiment.observables, known)
    course = course_of(experiment, legs, state, observe=observe, progress=progress)
    body = as_dataset(experiment, seeds, course, model.labels(), find=known.find)
    if experiment.is_flow:
        body["drift"] = ("seed", drifts(members, course, model.drift))
    if check:
        legs = [(finer(s), system, axes, e) for s, system, axes, e in legs]
        fine = course_of(experiment, legs, state, observe=observe, progress=progress)
        body = body.assign(refinement(course, fine, experiment.observables))
    name, why = model.form()
    rules = rule_names(experiment)
    notes = {"form": name, "form_reason": why, "rule": rules, "system": model.system}
    return body, notes


def prepare_system(
    experiment: SystemExperiment, seeds: Sequence[int], weights: Arrays | None
) -> tuple[SystemMembers, PyTree, list[Leg]]:
    """The members of a system, their stacked states, and the stages to train."""
    members = experiment.model.members(seeds, weights)
    return members, *_assembled(experiment, members)


def _assembled(
    experiment: SystemExperiment, members: SystemMembers
) -> tuple[PyTree, list[Leg]]:
    model, known = experiment.model, experiment.model.registry
    for name in experiment.observables:
        known.find(name)
    system, axes = stack([member for member, _ in members])
    state = jax.tree.map(stack_arrays, *[first for _, first in members])
    legs = []
    for stage in experiment.stages:
        event = None
        if isinstance(stage.until, Reach):
            scalar = parse(stage.until.scalar, dict(model.labels()), known.find)
            event = event_of(stage.until, scalar, known.view)
        legs.append((stage, system, axes, event))
    return state, legs


def _drift(system: Training, before: State, after: State) -> float:
    return drift(system.form, before, after)


def _limits(plan: Prepared) -> tuple[dict[str, Variable], dict[str, str]]:
    """Thresholds of the learning rate as variables; a warning where it is beyond."""
    stage, system, axes, _ = plan.legs[0]
    limit = rate_limit(stage, system, axes, plan.state)
    if isinstance(limit, str):
        return {}, {**plan.notes, "rate_threshold_note": limit}
    limit.warn()
    return limit.variables(), plan.notes


def _part_of(
    progress: Progress | None,
    number: int,
    count: int,
    fraction: float,
    text: str,
    *,
    also: str = " (a tenth of the tolerance)",
) -> None:
    """Report the progress of one of several equal parts; of later ones `also` more."""
    if progress is not None:
        progress((number + fraction) / count, text + (also if number else ""))
