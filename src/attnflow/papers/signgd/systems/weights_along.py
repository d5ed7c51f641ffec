"""Weights along a run, by coordinate, at given steps."""

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import jax
import numpy as np
from jaxtyping import Array

from attnflow.experiments.course import prepare
from attnflow.models.systems import Training
from attnflow.papers.signgd import experiments
from attnflow.papers.signgd.settings import Train
from attnflow.training import train as follow

Weights: TypeAlias = dict[str, dict[str, Array]]
"""`scores`: `W_K` and `W_Q`; `values`: `W_V`; all on covered coordinates."""


class Along(NamedTuple):
    """A system of one head and one seed, and its weights, stacked over steps."""

    system: Training
    states: Weights

    def at(self, index: int) -> Weights:
        """The weights at one of the steps."""
        return jax.tree.map(lambda x: x[index], self.states)


def weights_along(plan: Train, seed: int, steps: tuple[int, ...]) -> Along:
    """The weights on covered coordinates at each of `steps`, for one seed."""
    plan = replace(plan, form="coordinates", test_samples=0, steps=max(*steps, 1))
    experiment = experiments.train(plan)
    setup = prepare(replace(experiment, observables=()), [seed])
    course = follow(
        setup.legs,
        setup.state,
        seeds=1,
        times=np.array(steps, float),
        observe=_whole_state,
    )
    rows = {name: table[0] for name, table in course.records.rows.items()}
    states = {
        "scores": {name: rows[name] for name in ("W_K", "W_Q")},
        "values": {"W_V": rows["W_V"]},
    }
    return Along(setup.members[0][0], states)


def _whole_state(system: Training, state: Weights) -> dict[str, Array]:
    """All weights, as observables."""
    return {**state["scores"], **state["values"]}
