"""A Runge–Kutta step for diffrax that reads what its tableau needs alone.

diffrax multiplies all stages of a step by a row of the tableau with its zeros: 182
stages are read for a step of Dormand and Prince's order 8, of which 68 count. Where a
state has a hundred thousand numbers this takes longer than the velocities themselves.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import diffrax as dfx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

State = PyTree
Stages = PyTree
"""Increments of all stages along the first axis of every leaf."""


class LeanDopri8(dfx.AbstractAdaptiveSolver[State]):
    """Dormand and Prince's method of order 8, as `diffrax.Dopri8` up to rounding.

    Its last stage is the step, and the first stage of the next one: the state of the
    solver is the velocity at the start of a step.
    """

    term_structure: ClassVar = dfx.AbstractTerm
    interpolation_cls: ClassVar[Callable] = dfx.Dopri8.interpolation_cls

    def order(self, terms: PyTree) -> int | None:
        """The order of the step."""
        return 8

    def func(self, terms: PyTree, t0: Any, y0: State, args: Any) -> State:
        """The velocity."""
        return terms.vf(t0, y0, args)

    def init(self, terms: PyTree, t0: Any, t1: Any, y0: State, args: Any) -> State:
        """The velocity at the start."""
        return terms.vf(t0, y0, args)

    def step(
        self,
        terms: PyTree,
        t0: Any,
        t1: Any,
        y0: State,
        args: Any,
        solver_state: State,
        made_jump: Any,
    ) -> tuple[State, State, dict[str, State], State, dfx.RESULTS]:
        """A step, its error, what interpolates it, and the velocity at its end."""
        tableau = dfx.Dopri8.tableau
        control = terms.contr(t0, t1)
        first = terms.prod(solver_state, control)
        shape = (tableau.num_stages,)
        stages = jax.tree.map(
            lambda k: jnp.zeros(shape + k.shape, k.dtype).at[0].set(k), first
        )
        rows = [partial(_moved, row) for row in tableau.a_lower]
        times = jnp.asarray(tableau.c)

        def stage(
            number: Array, carry: tuple[State, State, Stages]
        ) -> tuple[State, State, Stages]:
            y = jax.lax.switch(number, rows, y0, carry[2])
            share = times[number]
            # The end of the step is the start of the next one, to the last digit.
            t = jnp.where(share == 1, t1, t0 + share * (t1 - t0))
            velocity = terms.vf(t, y, args)
            k = terms.prod(velocity, control)
            stages = jax.tree.map(lambda ks, k: ks.at[number + 1].set(k), carry[2], k)
            return y, velocity, stages

        begun = (y0, solver_state, stages)
        count = tableau.num_stages - 1
        y1, velocity, stages = jax.lax.fori_loop(0, count, stage, begun)
        error = jax.tree.map(lambda ks: _sum(tableau.b_error, ks), stages)
        dense = {"y0": y0, "y1": y1, "k": stages}
        return y1, error, dense, velocity, dfx.RESULTS.successful


def _moved(row: np.ndarray, y0: State, stages: Stages) -> State:
    """Where a stage is evaluated."""
    return jax.tree.map(lambda y, ks: y + _sum(row, ks), y0, stages)


def _sum(weights: np.ndarray, stages: Array) -> Array:
    """The weighted sum of the stages whose weights are not zero."""
    stage = partial(jax.lax.index_in_dim, stages, keepdims=False)
    terms = [float(w) * stage(i) for i, w in enumerate(weights) if w != 0]
    return sum(terms[1:], terms[0])
