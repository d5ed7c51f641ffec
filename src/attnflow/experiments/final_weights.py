"""Final weights of a run, where its initial weights exist."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from attnflow.experiments.members import weights_key
from attnflow.experiments.record import Experiment
from attnflow.models.forms import (
    axes_of,
    basis_of,
    check_weights,
    drawn_weights,
    frames_of,
    lift,
    lift_refusal,
)
from attnflow.models.systems import Training
from attnflow.training.rules import per_part

Members = Sequence[tuple[Training, Any]]
Variables = dict[str, tuple[tuple[str, ...], np.ndarray]]


def require_lift(
    experiment: Experiment, members: Members, weights: Mapping[str, Any] | None
) -> None:
    """Raise, before anything is trained, where final weights will not be known."""
    system = members[0][0]
    for stage in experiment.stages:
        reason = lift_refusal(system.form, per_part(stage.rule, stage.trains))
        if reason is not None:
            raise ValueError(f"Final weights cannot be lifted here: {reason}")
    _initial_weights(experiment, 0, system, weights)


def final_weights(
    experiment: Experiment,
    seeds: Sequence[int],
    members: Members,
    weights: Mapping[str, Any] | None,
    states: Any,
) -> Variables:
    """The weights at the end of each seed, as variables `W_K_final` and so on.

    `states` are the final states of the seeds, stacked.
    """
    found = []
    for number, (seed, (system, _)) in enumerate(zip(seeds, members, strict=True)):
        state = jax.tree.map(lambda x, number=number: x[number], states)
        began = _initial_weights(experiment, seed, system, weights)
        basis = frames_of(system.data, system.test)[0].vectors
        found.append(lift(system.form, state, began, basis))
    return {
        f"{name}_final": (
            ("seed", "head", *axes),
            np.stack([np.asarray(lifted[name]) for lifted in found]),
        )
        for name, axes in axes_of(experiment.initial).items()
    }


def _initial_weights(
    experiment: Experiment,
    seed: int,
    system: Training,
    weights: Mapping[str, Any] | None,
) -> Mapping[str, Any]:
    heads, embed = experiment.problem.heads, system.data.vectors.shape[1]
    if weights is not None:
        return check_weights(weights, experiment.initial, heads=heads, embed=embed)
    drawn = drawn_weights(
        system.form.name,
        experiment.initial,
        heads=heads,
        rank=basis_of(system.data).rank,
        embed=embed,
        key=weights_key(experiment, seed),
    )
    if drawn is None:
        raise ValueError(
            "Final weights need initial weights, and this run draws only what its form "
            f"needs (draw={experiment.initial.draw!r}). Use draw='weights' at a finite "
            "width; for new tokens alone, declare them as test tokens beforehand."
        )
    return drawn
