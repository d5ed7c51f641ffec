"""From an experiment to what is trained: the form, every seed's system, the stages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from attnflow.experiments.dataset import labels_of
from attnflow.experiments.final_weights import require_lift
from attnflow.experiments.members import member, samples_of, stage_leg, test_samples_of
from attnflow.experiments.record import Experiment
from attnflow.models.forms import (
    COORDINATE_FORMS,
    basis_of,
    choose,
    column_plan,
    is_sparse,
    widest,
)
from attnflow.models.systems import Training
from attnflow.observables import find
from attnflow.training import Stage, stack_arrays
from attnflow.training.rules import NormalisedDescent, SignGD, per_part


@dataclass(frozen=True)
class Prepared:
    """What a run trains.

    - `members`: the system and the initial state of each seed.
    - `state`: the initial states, stacked; `legs`: the stages, as `train` takes them.
    - `coords`: labels of dims; `notes`: what the run says of its form and rules.
    """

    members: list[tuple[Training, Any]]
    state: Any
    legs: list[tuple[Stage, Any, Any, Any]]
    coords: Mapping[str, tuple[str, ...]]
    notes: dict[str, str]


@dataclass(frozen=True)
class Built:
    """The members of an experiment, and what is to be said of their form."""

    members: list[tuple[Training, Any]]
    notes: dict[str, str]


def prepare(
    experiment: Experiment,
    seeds: list[int],
    data: Mapping[str, Any] | None,
    weights: Mapping[str, Any] | None,
    *,
    lift: bool = False,
) -> Prepared:
    """Choose the form and build every seed, with data and weights that may be given."""
    return assemble(
        experiment, build_members(experiment, seeds, data, weights, lift=lift)
    )


def assemble(experiment: Experiment, built: Built) -> Prepared:
    """Members of one shape as one computation."""
    members = built.members
    coords = labels_of(members[0][0])
    return Prepared(
        members=members,
        state=jax.tree.map(stack_arrays, *[state for _, state in members]),
        legs=[stage_leg(stage, members, coords) for stage in experiment.stages],
        coords=coords,
        notes=built.notes,
    )


def build_members(
    experiment: Experiment,
    seeds: list[int],
    data: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    *,
    lift: bool = False,
) -> Built:
    """Choose the form and build the system and the initial state of every seed."""
    for name in experiment.observables:
        find(name)
    rules = [per_part(s.rule, s.trains) for s in experiment.stages]
    symmetry = experiment.task.symmetry if data is None else None
    samples = [samples_of(experiment, seed, data) for seed in seeds]
    every = [rule for stage in rules for rule in stage.values()]
    rotated = all(rule.equivariant for rule in every)
    sparse = is_sparse(samples[0], rules, experiment.initial) and not lift
    name, why = choose(
        experiment.form,
        rules,
        initial=experiment.initial,
        # A large basis costs time, and only rotations ask for it.
        rank=basis_of(samples[0]).rank if rotated and not sparse else 0,
        symmetric=symmetry is not None,
        sparse=sparse,
        lift=lift,
    )
    plan = None
    if name in COORDINATE_FORMS:
        # Seeds run side by side, and their data cover different coordinates.
        plan = widest([column_plan(name, drawn) for drawn in samples])
    members = [
        member(
            experiment,
            seed,
            name,
            drawn,
            weights,
            symmetry,
            test_samples_of(experiment, seed, data),
            plan=plan,
            rotated=rotated,
            # Where no rule sees how large gradients are, they need not underflow.
            normalised=all(isinstance(r, SignGD | NormalisedDescent) for r in every),
        )
        for seed, drawn in zip(seeds, samples, strict=True)
    ]
    for stage_rules in rules:
        reason = members[0][0].form.refuses(stage_rules)
        if reason is not None:
            raise ValueError(f"form={name!r} is not exact here: {reason}")
    if lift:
        require_lift(experiment, members, weights)
    names = dict.fromkeys(rule.name for stage in rules for rule in stage.values())
    return Built(members, {"form": name, "form_reason": why, "rule": ", ".join(names)})
