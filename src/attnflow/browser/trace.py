"""What an experiment computes in each stage, as pure functions of arrays.

Inputs are the arrays of the system and the numbers of the rules: all that a setting's
numbers can change. So one kernel serves every value of them; shapes are compiled in.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jaxtyping import Array, PyTree

from attnflow.browser.lowering.values import Unsupported
from attnflow.experiments.course import Leg, Observe, prepare
from attnflow.experiments.record import Computation, Experiment, Runnable, Trained
from attnflow.experiments.run import prepare_system
from attnflow.observables.registry import DirectObserve
from attnflow.training import Stage, precise
from attnflow.training.descent import begin
from attnflow.training.rules import Descent, Flow, per_part, split
from attnflow.training.system import Row
from attnflow.training.walk import Loop, velocity_of, walk


@dataclass(frozen=True)
class StageFunctions:
    """A stage of an experiment for one seed.

    - `inputs`: a PyTree of arrays; `carry` another one, what a step or a flow changes.
    - `move`: of inputs and carry, the next carry; for a flow, of inputs, time and state
      the velocity.
    - `observe`: of inputs and state, the observables; `event`: likewise a scalar.
    - `system`: of inputs, the system.
    - `static`: what system, event and observables are beside arrays; `rules`: likewise
      those of descent. Stages whose arrays have equal shapes compute alike where both
      are equal.
    """

    stage: Stage
    inputs: PyTree
    carry: PyTree
    state: PyTree
    move: Callable[..., PyTree]
    observe: Callable[[PyTree, PyTree], Row]
    event: Callable[[PyTree, PyTree], Array] | None
    system: Callable[[PyTree], Any]
    static: Hashable
    rules: Hashable = None

    @cached_property
    def observed(self) -> tuple[core.ClosedJaxpr, Mapping[str, jax.ShapeDtypeStruct]]:
        """The observables of inputs and state as a jaxpr, and their shapes by name."""
        with precise():
            trace = jax.make_jaxpr(self.observe, return_shape=True)
            return trace(self.inputs, self.state)


def stages_of(experiment: Runnable, seed: int = 0) -> list[StageFunctions]:
    """The stages of an experiment; all begin at the state of the first one."""
    if isinstance(experiment, Computation):
        raise Unsupported(
            f"{experiment.id} trains nothing, so that there is no kernel of it."
        )
    with precise():
        state, legs, _, observe = legs_of(experiment, seed)
        state = jax.tree.map(jnp.asarray, state)
        return [_functions(leg, state, observe) for leg in legs]


def legs_of(
    experiment: Trained, seed: int
) -> tuple[PyTree, list[Leg], Mapping[str, Sequence[str]], Callable[..., Row]]:
    """The first state of a seed, its stages, labels of dims, and what is recorded."""
    if isinstance(experiment, Experiment):
        plan = prepare(experiment, [seed])
        observe = Observe(experiment.observables)
        return plan.members[0][1], plan.legs, plan.coords, observe
    members, _, legs = prepare_system(experiment, [seed], None)
    observe = DirectObserve(experiment.observables, experiment.model.registry)
    return members[0][1], legs, experiment.model.labels(), observe


def _functions(leg: Leg, state: PyTree, observe: Callable[..., Row]) -> StageFunctions:
    stage, system, _, event = leg
    arrays, static = eqx.partition((system, event), eqx.is_array)

    def joined(inputs: PyTree) -> tuple[Any, Any]:
        return eqx.combine(inputs["system"], static)

    def system_of(inputs: PyTree) -> Any:
        return joined(inputs)[0]

    def observed(inputs: PyTree, state: PyTree) -> Row:
        return observe(system_of(inputs), state)

    def reached(inputs: PyTree, state: PyTree) -> Array:
        system, event = joined(inputs)
        return event(system, state)

    def velocity(inputs: PyTree, time: Array, state: PyTree) -> PyTree:
        return velocity_of(joined(inputs)[0], time, state, inputs["decay"])

    inputs: dict[str, PyTree] = {"system": arrays}
    event_of = reached if event else None
    leaves, tree = jax.tree.flatten(static)
    same = (observe, *leaves, tree)
    if isinstance(stage.rule, Flow):
        decay = stage.rule.weight_decay
        inputs["decay"] = jnp.asarray(decay) if decay else None
        return StageFunctions(
            stage, inputs, state, state, velocity, observed, event_of, system_of, same
        )
    parts = _Step.of(stage, system, state)
    inputs |= {"rates": parts.rates, "numbers": parts.numbers}

    def step(inputs: PyTree, carry: PyTree) -> PyTree:
        loop = Loop(parts.plain, inputs["numbers"], observed, None, waits=False)
        return walk(joined(inputs)[0], carry, 1, inputs["rates"], loop)[0]  # pyright: ignore[reportArgumentType] # a fixed number of steps

    return StageFunctions(
        stage,
        inputs,
        parts.carry,
        state,
        step,
        observed,
        event_of,
        system_of,
        same,
        parts.plain,
    )


@dataclass(frozen=True)
class _Step:
    """The parts of a step: rules to compile, their numbers, and the carry."""

    plain: tuple
    numbers: dict[str, Any]
    rates: dict[str, Array]
    carry: PyTree

    @classmethod
    def of(cls, stage: Stage, system: Any, state: PyTree) -> "_Step":
        every = per_part(stage.rule, stage.trains)
        rules: dict[str, Descent] = {
            name: rule for name, rule in every.items() if not isinstance(rule, Flow)
        }
        parts = {name: split(rule) for name, rule in rules.items()}
        plain = tuple((name, rule) for name, (rule, _) in parts.items())
        stacked = jax.tree.map(lambda leaf: leaf[None], state)
        carry = begin(system, stacked, plain, np.zeros(1, int), 0)
        return cls(
            plain,
            {name: numbers for name, (_, numbers) in parts.items()},
            {name: jnp.asarray(rule.learning_rate) for name, rule in rules.items()},
            jax.tree.map(lambda leaf: leaf[0] if jnp.ndim(leaf) else leaf, carry),
        )


def named(tree: PyTree) -> list[tuple[str, np.ndarray]]:
    """The leaves of a PyTree with their paths."""
    pairs = jax.tree_util.tree_leaves_with_path(tree)
    return [(jax.tree_util.keystr(path), np.asarray(leaf)) for path, leaf in pairs]
