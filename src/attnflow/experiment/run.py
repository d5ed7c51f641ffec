"""`run`: the one bridge from JAX to xarray."""

import importlib
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array

from attnflow import schema
from attnflow.conserved import drift
from attnflow.data import Sequences, from_arrays
from attnflow.dynamics import Course, Grid, Reach, Stage, precise, stack, train
from attnflow.experiment.compilation import compile_time, keep_compiled
from attnflow.experiment.record import (
    Computation,
    Experiment,
    Given,
    address,
    load,
)
from attnflow.experiment.versions import library_versions
from attnflow.forms import basis_of, build, check_weights, choose, permuted_groups
from attnflow.observables import Scalar, View, find, parse
from attnflow.rules import per_part
from attnflow.setting import canonical_json
from attnflow.systems import Training

Progress = Callable[[float, str], None]


def run(
    experiment: Experiment | Computation,
    *,
    seeds: Sequence[int] = (0,),
    data: Given | None = None,
    weights: Given | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Run an experiment for some seeds, side by side, into one Dataset.

    **Arguments:**

    - `data`: arrays (a mapping, or the path of an npz file) in place of the task's own
      samples: `tokens` (tokens, embed), `key` (samples, keys), `label` (samples), and
      optionally `mass`, `query`, `query_weight`, `probability`, `group`.
    - `weights`: initial weights likewise: `W_K`, `W_Q` (heads, width, embed) and `w`
      (heads, embed).
    - `record`: observables to record beside the experiment's own.
    - `at`: times to record at, in place of the experiment's own.
    - `progress`: called with the fraction done and what is being done.

    **Returns:** a Dataset as `attnflow.schema` says.
    """
    seeds = [int(seed) for seed in seeds]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds is {seeds}; give one or more different integers.")
    begun = time.perf_counter()
    keep_compiled()
    if isinstance(experiment, Computation):
        body, notes = _compute(experiment, seeds), {"form": "none", "rule": "none"}
        watch_seconds = 0.0
    else:
        experiment = _adjusted(experiment, record, at)
        with precise(), compile_time() as watch:
            body, notes = _train(experiment, seeds, load(data), load(weights), progress)
        watch_seconds = watch.seconds
    body.attrs = {
        "paper": experiment.paper,
        "experiment": experiment.id,
        "id": address(experiment, seeds=seeds, data=data, weights=weights),
        "setting": canonical_json(dict(experiment.setting)),
        "record": canonical_json(experiment.canonical()),
        "form_reason": "",
        **notes,
        "versions": json.dumps(library_versions()),
        "platform": f"{platform.machine()} {platform.system()} {jax.default_backend()}",
        "wall_seconds": time.perf_counter() - begun,
        "compile_seconds": watch_seconds,
        "citation": experiment.citation,
    }
    return schema.check(body)


def _adjusted(
    experiment: Experiment, record: Sequence[str] | None, at: Sequence[float] | None
) -> Experiment:
    if record:
        names = dict.fromkeys((*experiment.observables, *record))
        experiment = replace(experiment, observables=tuple(names))
    if at is not None:
        points = tuple(float(t) for t in at)
        experiment = replace(experiment, grid=Grid(points=points))
    return experiment


def _compute(experiment: Computation, seeds: list[int]) -> xr.Dataset:
    module, _, function = experiment.function.partition(":")
    compute = getattr(importlib.import_module(module), function)
    with precise():
        body = compute(dict(experiment.setting), seeds)
    return body.assign_coords(seed=seeds)


@dataclass(frozen=True)
class _Observe:
    """The observables of a run, as a hashable function of system and state."""

    names: tuple[str, ...]

    def __call__(self, system: Training, state: Any) -> dict[str, Array]:
        view = View(system, state)
        return {name: find(name).compute(view) for name in self.names}


class _Event(eqx.Module):
    """The distance of a scalar from its level, positive beyond it.

    The level is an array, so that another one compiles nothing anew.
    """

    scalar: Scalar = eqx.field(static=True)
    level: Array
    sign: float = eqx.field(static=True)

    def __call__(self, system: Training, state: Any) -> Array:
        return self.sign * (self.scalar(View(system, state)) - self.level)


def _train(
    experiment: Experiment,
    seeds: list[int],
    data: Mapping[str, Any] | None,
    weights: Mapping[str, Any] | None,
    progress: Progress | None,
) -> tuple[xr.Dataset, dict[str, str]]:
    for name in experiment.observables:
        find(name)
    rules = [per_part(s.rule, s.trains) for s in experiment.stages]
    symmetry = experiment.task.symmetry if data is None else None
    samples = [_samples(experiment, seed, data) for seed in seeds]
    name, why = choose(
        experiment.form,
        rules,
        rank=basis_of(samples[0]).rank,
        symmetric=symmetry is not None,
    )
    members = [
        _member(experiment, seed, name, drawn, weights, symmetry)
        for seed, drawn in zip(seeds, samples, strict=True)
    ]
    for stage_rules in rules:
        reason = members[0][0].form.refuses(stage_rules)
        if reason is not None:
            raise ValueError(f"form={name!r} is not exact here: {reason}")
    coords = _coords(members[0][0])
    legs = [_stage_leg(stage, members, coords) for stage in experiment.stages]
    state = jax.tree.map(lambda *parts: jnp.stack(parts), *[s for _, s in members])
    times = experiment.grid.times(whole=not experiment.is_flow)
    course = train(
        legs,
        state,
        seeds=len(seeds),
        times=times,
        observe=_Observe(experiment.observables),
        progress=progress,
    )
    body = _dataset(experiment, seeds, course, coords)
    if experiment.is_flow:
        lost = [
            drift(system.form, before, jax.tree.map(lambda x, i=i: x[i], course.state))
            for i, (system, before) in enumerate(members)
        ]
        body["drift"] = ("seed", np.array(lost))
    names = dict.fromkeys(rule.name for stage in rules for rule in stage.values())
    return body, {"form": name, "form_reason": why, "rule": ", ".join(names)}


def _member(
    experiment: Experiment,
    seed: int,
    form_name: str,
    samples: Sequences,
    weights: Mapping[str, Any] | None,
    symmetry: Any,
) -> tuple[Training, Any]:
    """The system and the initial state of one seed."""
    heads = experiment.problem.heads
    if weights is not None:
        weights = check_weights(
            weights,
            experiment.initial,
            heads=heads,
            embed=samples.tokens.shape[1],
        )
    form, state = build(
        form_name,
        samples,
        experiment.initial,
        heads=heads,
        key=_stream(experiment, seed, "weights"),
        given=weights,
        symmetry=None if symmetry is None else permuted_groups(symmetry),
    )
    system = Training(
        form, experiment.problem, samples, samples.probability, ("scores", "values")
    )
    return system, state


def _samples(
    experiment: Experiment, seed: int, data: Mapping[str, Any] | None
) -> Sequences:
    key = _stream(experiment, seed, "data")
    if data is None:
        return experiment.task.sequences(key=key)
    like = None if experiment.task.random else experiment.task.sequences(key=key)
    return from_arrays(data, like)


def _stream(experiment: Experiment, seed: int, name: str) -> Array:
    """The key of one of a seed's streams of random numbers."""
    number = ("data", "weights").index(name)
    return jax.random.fold_in(jax.random.key(experiment.fixed.get(name, seed)), number)


def _stage_leg(
    stage: Stage, members: list[tuple[Training, Any]], coords: Mapping[str, Any]
) -> tuple[Stage, Any, Any, Any]:
    systems = []
    for system, _ in members:
        data = system.data if stage.group is None else system.data.restrict(stage.group)
        systems.append(
            Training(
                system.form,
                system.problem,
                system.data,
                data.probability,
                tuple(sorted(stage.trains)),
            )
        )
    stacked, axes = stack(systems)
    event = None
    if isinstance(stage.until, Reach):
        sign = 1.0 if stage.until.direction == "up" else -1.0
        scalar = parse(stage.until.scalar, dict(coords))
        event = _Event(scalar, jnp.asarray(stage.until.level), sign)
    return stage, stacked, axes, event


def _coords(system: Training) -> dict[str, tuple[str, ...]]:
    """Labels of the dims of observables."""
    data = system.data
    tokens = data.shown_names
    names = data.sample_names()
    if len(set(names)) < len(names):
        names = [f"{name} #{i}" for i, name in enumerate(names)]
    return {
        "head": system.problem.readout.head_names,
        "key": tokens,
        "query": tokens,
        "token": tokens,
        "sample": tuple(names),
        "group": data.group_names,
    }


def _dataset(
    experiment: Experiment,
    seeds: list[int],
    course: Course,
    coords: Mapping[str, tuple[str, ...]],
) -> xr.Dataset:
    records = course.records
    variables: dict[str, Any] = {
        "recorded": (("seed", "time"), records.recorded),
        "outcome": ("seed", np.array([o.label for o in course.outcomes])),
        "end_time": ("seed", course.ends[:, -1]),
        "stage_start": (("seed", "stage"), course.starts),
        "stage_end": (("seed", "stage"), course.ends),
    }
    used = {"stage"}
    for name in experiment.observables:
        dims = find(name).dims
        used.update(dims)
        about = {"about": find(name).about}
        variables[name] = (("seed", "time", *dims), records.rows[name], about)
        ends = np.stack([row[name] for row in records.ends], axis=1)
        variables[f"{name}_at_end"] = (("seed", "stage", *dims), ends, about)
    labels = {dim: list(coords[dim]) for dim in used if dim in coords}
    labels["stage"] = [s.name for s in experiment.stages[: len(records.ends)]]
    units = "time" if experiment.is_flow else "step"
    return xr.Dataset(
        variables,
        {"seed": seeds, "time": ("time", records.times, {"units": units}), **labels},
    )
