"""Random problems of the whole family, and training step by step beside them.

Each step sees probabilities of its own, as mini-batches and schedules do; the forms are
compared by their tables, and by their single neurons where they know them.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume
from tests.core import one_ulp

from attnflow.data import sequences
from attnflow.models.forms import (
    PARTS,
    AbstractNeurons,
    Chain,
    ClassMeans,
    Initial,
    Neurons,
    Vector,
    build,
)
from attnflow.models.forms.initial import draw_weights
from attnflow.models.problem import Problem
from attnflow.models.systems import Training
from attnflow.training.rules import Adam, per_part
from attnflow.training.scaled_numbers import begin_adam
from attnflow.training.walk import own_state, updates_of

VALUES = {
    "vector": Vector(0.3),
    "fixed output": Chain(7, 0.3, 0.5, trained=False),
    "trained output": Chain(7, 0.3, 0.5),
    "narrow chain": Chain(2, 0.4, 0.5),
    "neurons": Neurons(7, 4, 0.3, 0.3, 0.4, "law"),
    "followed": Neurons(7, 4, 0.3, 0.3, follow=True),
    "class means": ClassMeans(3, 0.3),
}
STEPS, SAMPLES, EMBED = 40, 5, 5
# The place of the change of `W Wᵀ` in what is compared.
CHANGE = 3
# Weights of the order of one that come so far have left for infinity: each step squares
# what was there, and nothing is left to compare.
RUNAWAY = 1e6


@dataclass(frozen=True)
class Case:
    """A problem of the family."""

    seed: int
    values: str
    problem: Problem
    width: int = 11
    merged: bool = False

    @property
    def initial(self) -> Initial:
        """Initial weights of the order of one."""
        values = VALUES[self.values]
        return Initial(self.width, 0.6, values, merged=self.merged)

    def data(self):
        """Tokens that repeat and depend on each other, absent keys, any masses."""
        draw = np.random.default_rng(self.seed)
        tokens = draw.standard_normal((6, EMBED)) / 2
        tokens[4:] = tokens[0], tokens[1] - 2 * tokens[2]
        mass = draw.choice([0.0, 0.5, 1.0, 2.0], (SAMPLES, 3))
        mass[:, 0] = 1.0
        return sequences(
            tokens,
            draw.integers(0, 6, (SAMPLES, 3)),
            draw.choice([-1.0, 1.0], SAMPLES),
            mass=mass,
            query=draw.integers(0, 6, (SAMPLES, 2)),
        )

    def probabilities(self):
        """Those of every step; some samples are left out of it."""
        draw = np.random.default_rng(self.seed + 1)
        shares = draw.dirichlet(np.ones(SAMPLES), STEPS)
        shares *= draw.random((STEPS, SAMPLES)) < 0.7
        return jnp.asarray(shares)

    def weights(self):
        """The initial weights by name."""
        key = jax.random.key(self.seed)
        weights = draw_weights(self.initial, self.problem.heads, EMBED, key=key)
        return {name: np.asarray(array) for name, array in weights.items()}


def trajectory(case: Case, form: str, rule: Any, weights: dict) -> list[np.ndarray]:
    """What a form shows along training, one array `(steps, entries)` for each table."""
    data, key = case.data(), jax.random.key(0)
    arrays = {name: jnp.asarray(array) for name, array in weights.items()}
    built, state = build(
        form, data, case.initial, heads=case.problem.heads, key=key, weights=arrays
    )
    rules = rule if isinstance(rule, dict) else per_part(rule, PARTS)
    assert built.refuses(rules) is None
    system = Training(
        built, case.problem, data, data.probability, tuple(rules), start=state
    )
    rows = walk(system, state, rule, case.probabilities())
    return [np.asarray(row).reshape(STEPS, -1) for row in rows]


def steps(system: Training, state: Any, rules: Any, probabilities: Any) -> list:
    """Steps of rules of descent, each with its own probabilities."""
    rules = list(per_part(rules, system.trained).items())
    rates = {name: rule.learning_rate for name, rule in rules}

    def step(carry, at):
        state, memory = carry
        probability, number = at
        now = eqx.tree_at(lambda s: s.probability, system, probability)
        ahead = now.direction(state)
        update, memory = updates_of(now, state, memory, ahead, rules, rates, number)
        state = now.move(state, update)
        return (state, memory), _shown(system, state)

    memory = {}
    for name, rule in rules:
        scaled = system.scaled and isinstance(rule, Adam)
        first = begin_adam if scaled else rule.transformation().init
        memory[name] = first(own_state(system, state, name))
    numbers = jnp.arange(len(probabilities))
    return jax.lax.scan(step, (state, memory), (probabilities, numbers))[1]


walk = eqx.filter_jit(steps)


def _shown(system: Training, state: Any) -> list:
    rows = list(system.form.frame.shown(system.form.tables(state)))
    part, values = system.form.values, state["values"]
    if isinstance(part, AbstractNeurons) and system.start is not None:
        change = part.neuron_gram_change(values, system.start["values"])
        rows += [part.neuron_table(values), change]
    return rows


TWINS = 8
"""Plain runs one ulp apart: of some random cases, three show a third of what 24 do."""


def worst_ratio(case: Case, form: str, rule: Any) -> float:
    """The largest difference from plain weights in units of what is allowed."""
    # Twins of a run that leaves for infinity differ by no number.
    with np.errstate(invalid="ignore"):
        plain, limits = allowed(case, rule)
    assume(all(np.abs(row).max() < RUNAWAY for row in (*plain, *limits)))
    return ratio(trajectory(case, form, rule, case.weights()), plain, limits)


def allowed(case: Case, rule: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The plain run, and what may differ from it at each step.

    That is ten times the spread of plain runs one ulp apart, and of one rounding. A
    change of `W Wᵀ` is rounded as `W` is, from which the plain run takes it.
    """
    weights = case.weights()
    plain = trajectory(case, "weights", rule, weights)
    twins = [
        trajectory(case, "weights", rule, one_ulp(weights, twin))
        for twin in range(TWINS)
    ]
    sizes = [np.abs(row).max() for row in plain]
    if len(sizes) > CHANGE:
        inner = weights["W"]
        sizes[CHANGE] += np.abs(inner @ inner.swapaxes(-1, -2)).max()
    bounds = []
    for number, (table, size) in enumerate(zip(plain, sizes, strict=True)):
        spread = [_so_far(twin[number] - table) for twin in twins]
        rounding = np.finfo(float).eps * size
        bounds.append(10 * np.maximum(np.max(spread, axis=0), rounding))
    return plain, bounds


def ratio(
    ours: list[np.ndarray], plain: list[np.ndarray], allowed: list[np.ndarray]
) -> float:
    """The largest difference of two runs in units of what is allowed."""
    # Forms that do not follow single neurons show fewer rows.
    rows = zip(ours, plain, allowed, strict=False)
    return max((_so_far(a - b) / limit).max() for a, b, limit in rows)


def _so_far(difference: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(np.abs(difference).max(axis=1))
