"""Weights along a run, by coordinate, at chosen steps."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array

from attnflow.experiments.course import prepare
from attnflow.models.systems import Training
from attnflow.papers.signgd import experiments
from attnflow.papers.signgd.settings import Train
from attnflow.training import train as follow


class Along(NamedTuple):
    """A system of one head and seed, and its states, stacked over steps."""

    system: Training
    states: Any

    def at(self, place: int) -> Any:
        """The state at one of the steps."""
        return jax.tree.map(lambda x: x[place], self.states)


def weights_along(plan: Train, seed: int, steps: tuple[int, ...]) -> Along:
    """The weights on covered coordinates, exact for every coordinate-wise rule."""
    plan = replace(plan, form="coordinates", test_samples=0, steps=max(*steps, 1))
    experiment = experiments.train(plan)
    made = prepare(replace(experiment, observables=()), [seed])
    course = follow(
        made.legs,
        made.state,
        seeds=1,
        times=np.array(steps, float),
        observe=_whole_state,
    )
    rows = {name: table[0] for name, table in course.records.rows.items()}
    states = {
        "scores": {name: rows[name] for name in ("W_K", "W_Q")},
        "values": {"W_V": rows["W_V"]},
    }
    return Along(made.members[0][0], states)


def _whole_state(system: Training, state: Any) -> dict[str, Array]:
    """All weights as what is recorded."""
    return {**state["scores"], **state["values"]}
