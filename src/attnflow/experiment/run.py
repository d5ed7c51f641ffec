"""`run`: the one bridge from JAX to xarray."""

import importlib
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.conserved import drift
from attnflow.dynamics import Grid, precise, train
from attnflow.experiment.compilation import compile_time, keep_compiled
from attnflow.experiment.dataset import as_dataset, labels_of
from attnflow.experiment.final_weights import final_weights, require_lift
from attnflow.experiment.members import (
    Observe,
    member,
    samples_of,
    stage_leg,
    test_samples_of,
)
from attnflow.experiment.record import (
    Computation,
    Experiment,
    Given,
    address,
    load,
)
from attnflow.experiment.versions import library_versions
from attnflow.forms import basis_of, choose
from attnflow.observables import find
from attnflow.rules import per_part
from attnflow.setting import canonical_json, digest

Progress = Callable[[float, str], None]


def run(
    experiment: Experiment | Computation,
    *,
    seeds: Sequence[int] = (0,),
    data: Given | None = None,
    weights: Given | None = None,
    record: Sequence[str] | None = None,
    at: Sequence[float] | None = None,
    lift: bool = False,
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
    - `lift`: add all weights at the end of each seed, as `W_K_final`, … with the dims
      `seed`, `head` and their own.
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
            body, notes = _train(
                experiment, seeds, load(data), load(weights), progress, lift=lift
            )
        watch_seconds = watch.seconds
    id = address(experiment, seeds=seeds, data=data, weights=weights)
    body.attrs = {
        "paper": experiment.paper,
        "experiment": experiment.id,
        "id": digest(id, canonical_json({"lift": True})) if lift else id,
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


def _train(
    experiment: Experiment,
    seeds: list[int],
    data: Mapping[str, Any] | None,
    weights: Mapping[str, Any] | None,
    progress: Progress | None,
    *,
    lift: bool,
) -> tuple[xr.Dataset, dict[str, str]]:
    for name in experiment.observables:
        find(name)
    rules = [per_part(s.rule, s.trains) for s in experiment.stages]
    symmetry = experiment.task.symmetry if data is None else None
    samples = [samples_of(experiment, seed, data) for seed in seeds]
    name, why = choose(
        experiment.form,
        rules,
        initial=experiment.initial,
        rank=basis_of(samples[0]).rank,
        symmetric=symmetry is not None,
        lift=lift,
    )
    members = [
        member(
            experiment,
            seed,
            name,
            drawn,
            weights,
            symmetry,
            test_samples_of(experiment, seed, data),
        )
        for seed, drawn in zip(seeds, samples, strict=True)
    ]
    for stage_rules in rules:
        reason = members[0][0].form.refuses(stage_rules)
        if reason is not None:
            raise ValueError(f"form={name!r} is not exact here: {reason}")
    if lift:
        require_lift(experiment, members, weights)
    coords = labels_of(members[0][0])
    legs = [stage_leg(stage, members, coords) for stage in experiment.stages]
    state = jax.tree.map(lambda *parts: jnp.stack(parts), *[s for _, s in members])
    times = experiment.grid.times(whole=not experiment.is_flow)
    course = train(
        legs,
        state,
        seeds=len(seeds),
        times=times,
        observe=Observe(experiment.observables),
        progress=progress,
    )
    body = as_dataset(experiment, seeds, course, coords)
    if lift:
        found = final_weights(experiment, seeds, members, weights, course.state)
        body = body.assign(found)
    if experiment.is_flow:
        lost = [
            drift(system.form, before, jax.tree.map(lambda x, i=i: x[i], course.state))
            for i, (system, before) in enumerate(members)
        ]
        body["drift"] = ("seed", np.array(lost))
    names = dict.fromkeys(rule.name for stage in rules for rule in stage.values())
    return body, {"form": name, "form_reason": why, "rule": ", ".join(names)}
