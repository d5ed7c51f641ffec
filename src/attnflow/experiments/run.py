"""`run`: the one bridge from JAX to xarray."""

import importlib
import inspect
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import xarray as xr

from attnflow import schema
from attnflow.experiments.compilation import compile_time, keep_compiled, make_room
from attnflow.experiments.course import course_of, drifts
from attnflow.experiments.dataset import as_dataset
from attnflow.experiments.direct import SystemExperiment, require_none, train_directly
from attnflow.experiments.final_weights import final_weights
from attnflow.experiments.members import Observe
from attnflow.experiments.prepare import Prepared, prepare
from attnflow.experiments.rates import rate_limit
from attnflow.experiments.record import Computation, Experiment, Given, address, load
from attnflow.experiments.refinement import finer, refinement, require_flow
from attnflow.experiments.swamping import epsilon_of, swamping
from attnflow.models.systems import Training
from attnflow.observables.conserved import drift
from attnflow.schema.libraries import library_versions
from attnflow.schema.settings import canonical_json
from attnflow.training import Grid, precise
from attnflow.training.rules import per_part

Progress = Callable[[float, str], None]
Trained = Experiment | SystemExperiment


def run(
    experiment: Experiment | SystemExperiment | Computation,
    *,
    seeds: Sequence[int] = (0,),
    data: Given | None = None,
    weights: Given | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    lift: bool = False,
    check: bool = False,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Run an experiment for some seeds, side by side, into one Dataset.

    **Arguments:**

    - `data`: arrays (a mapping, or the path of an npz file) in place of the task's own
      samples: `tokens` (tokens, embed), `key` (samples, keys), `label` (samples), and
      optionally `mass`, `query`, `query_weight`, `probability`, `group`, `payload`.
    - `weights`: initial weights likewise: `W_K`, `W_Q` (heads, width, embed) and `w`
      (heads, embed).
    - `record`: observables to record beside the experiment's own.
    - `at`: times to record at, in place of the experiment's own.
    - `lift`: add all weights at the end of each seed, as `W_K_final`, … with the dims
      `seed`, `head` and their own.
    - `check`: repeat a flow at a tenth of its tolerances and tell by how much what was
      recorded changes, as `refinement`.
    - `progress`: called with the fraction done and what is being done.

    **Returns:** a Dataset as `attnflow.schema` says. A `LearningRateWarning` tells
    where the rate of a descent lies beyond linear stability at the start.
    """
    seeds = [int(seed) for seed in seeds]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds is {seeds}; give one or more different integers.")
    if check:
        require_flow(experiment)
    begun = time.perf_counter()
    keep_compiled()
    make_room()
    if isinstance(experiment, Computation):
        body = _compute(experiment, seeds, progress)
        notes = {"form": "none", "rule": "none"}
        watch_seconds = 0.0
    else:
        experiment = _adjusted(experiment, record, at)
        with precise(), compile_time() as watch:
            if isinstance(experiment, SystemExperiment):
                require_none(data=data, lift=lift)
                body, notes = train_directly(
                    experiment, seeds, load(weights), progress, check=check
                )
            else:
                body, notes = _train(
                    experiment,
                    seeds,
                    load(data),
                    load(weights),
                    progress,
                    check=check,
                    lift=lift,
                )
        watch_seconds = watch.seconds
    given: dict[str, Any] = {"data": data, "weights": weights}
    body.attrs = attributes(
        experiment,
        notes,
        id=address(experiment, seeds=seeds, check=check, lift=lift, **given),
        wall_seconds=time.perf_counter() - begun,
        compile_seconds=watch_seconds,
    )
    return schema.check(body)


def attributes(
    experiment: Trained | Computation, notes: Mapping[str, str], **more: Any
) -> dict[str, Any]:
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
    data: Mapping[str, Any] | None,
    weights: Mapping[str, Any] | None,
    progress: Progress | None,
    *,
    check: bool,
    lift: bool,
) -> tuple[xr.Dataset, dict[str, str]]:
    made = prepare(experiment, seeds, data, weights, lift=lift)
    limits, notes = {}, made.notes
    if not experiment.is_flow:
        limits, notes = _limits(made)
    half = partial(_part_of, progress, 0, 2 if check else 1)
    observe = Observe(experiment.observables)
    course = course_of(
        experiment, made.legs, made.state, observe=observe, progress=half
    )
    rules = [per_part(stage.rule, stage.trains) for stage in experiment.stages]
    beside = {**limits, **swamping(course, epsilon_of(rules))}
    body = as_dataset(experiment, seeds, course, made.coords, beside=beside)
    if experiment.is_flow:
        body["drift"] = ("seed", drifts(made.members, course, _drift))
    if check:
        legs = [(finer(stage), *rest) for stage, *rest in made.legs]
        other = partial(_part_of, progress, 1, 2)
        again = course_of(experiment, legs, made.state, observe=observe, progress=other)
        body = body.assign(refinement(course, again, experiment.observables))
    if lift:
        found = final_weights(experiment, seeds, made.members, weights, course.state)
        body = body.assign(found)
    return body, notes


def _drift(system: Training, before: Any, after: Any) -> float:
    return drift(system.form, before, after)


def _limits(made: Prepared) -> tuple[dict[str, Any], dict[str, str]]:
    """Thresholds of the learning rate as variables; a warning where it is beyond."""
    stage, system, axes, _ = made.legs[0]
    limit = rate_limit(stage, system, axes, made.state)
    if isinstance(limit, str):
        return {}, {**made.notes, "rate_threshold_note": limit}
    limit.warn()
    return limit.variables(), made.notes


def _part_of(
    progress: Progress | None, number: int, count: int, fraction: float, text: str
) -> None:
    """Tell the progress of one of several equal parts of the work."""
    if progress is not None:
        again = " (a tenth of the tolerance)" if number else ""
        progress((number + fraction) / count, text + again)
