"""Gradient flow: `dθ/dt = velocity(t, θ)` in float64, for all seeds.

diffrax solves it, in `attnflow.training.solution`.
"""

from dataclasses import replace

import jax
import numpy as np
from jaxtyping import Array

from attnflow.training.programs import (
    Axes,
    Effort,
    Program,
    put,
    require_precise,
    size_of,
)
from attnflow.training.rules import Flow
from attnflow.training.system import Event, FlowSystem, Leg, Observe, State

FEW, SMALL = 16, 1000
"""Seeds, and numbers of each, up to which flows run one by one, or side by side."""

NUMBERS = 1000
"""Numbers of the states of all seeds, up to which compiling takes the time."""
MANY = 20_000
"""Numbers of a state from which on time goes into memory and products of matrices.

These are calls of a library, which better code around them makes no faster; and a step
that reads half as much is worth a second more of compiling.
"""


def flow(
    system: FlowSystem,
    axes: Axes,
    state: State,
    *,
    rule: Flow,
    start: np.ndarray,
    stop: np.ndarray,
    times: np.ndarray,
    observe: Observe,
    event: Event | None = None,
) -> Leg:
    """Move every seed from `start` to `stop`, or until `event` turns positive.

    **Arguments:**

    - `system`: with `velocity(t, state)`; stacked over seeds along `axes`.
    - `state`: stacked over seeds.
    - `start`, `stop`: `(seeds,)`. `times`: when to observe, the same for all seeds;
      rows at times outside of a seed's stage mean nothing.
    - `observe`, `event`: functions of system and state; hashable, since compiled in,
      or PyTrees whose arrays are not.
    """
    require_precise()
    spans = put(np.asarray(start, float)), put(np.asarray(stop, float))
    marks = put(np.asarray(times, float))
    # Numbers are arguments of the compiled program: another clock or another
    # tolerance compiles nothing anew.
    decay = rule.weight_decay
    plain = replace(rule, rtol=1.0, atol=1.0, scale=1.0, weight_decay=float(decay > 0))
    numbers = put(np.array([rule.rtol, rule.atol, rule.scale, decay], float))
    effort = _effort(size_of(state), len(start))
    args = (system, axes, state, *spans, marks, numbers, plain, observe, event)
    return _flow(effort, *args)


def _effort(numbers: int, seeds: int) -> Effort:
    """What it is worth to compile a flow of so many numbers."""
    if numbers <= NUMBERS:
        return Effort.LEAST
    return Effort.LESS if numbers > MANY * seeds else Effort.FULL


def _flow_of_seeds(
    system: FlowSystem,
    axes: Axes,
    state: State,
    start: Array,
    stop: Array,
    times: Array,
    numbers: Array,
    rule: Flow,
    observe: Observe,
    event: Event | None,
) -> Leg:
    # diffrax takes half a second to import, which a program that is kept need not wait
    # for.
    from attnflow.training.solution import solve

    # Side by side, the search for a crossing would also run for seeds without one.
    seeds = len(start)
    together = seeds if event is None and _side_by_side(state, seeds) else 1

    def of_seed(system: FlowSystem, carry: tuple[State, Array, Array]) -> Leg:
        state, start, stop = carry
        return solve(
            system,
            state,
            (start, stop, times),
            numbers,
            rule,
            observe,
            event,
            large=size_of(state) > MANY,
            together=together,
        )

    carry = (state, start, stop)
    if together == 1:
        return axes.one_by_one(of_seed, system, carry)
    return jax.vmap(of_seed, in_axes=(axes.tree(system), 0))(system, carry)


_flow = Program(_flow_of_seeds)


def _side_by_side(state: State, seeds: int) -> bool:
    """Whether seeds step together: many small ones, such as the cells of a sweep.

    Together, each step waits for the slowest seed and copies the records of all: 3
    seeds of 170,000 numbers take 2.3 times as long so. 16 seeds of 140 numbers take
    three quarters of half a second, and their program 3 s more to compile.
    """
    size = sum(leaf.size for leaf in jax.tree.leaves(state))
    return seeds > FEW and size < SMALL * seeds
