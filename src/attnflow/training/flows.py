"""Gradient flow: an adaptive solution of `dθ/dt = velocity(t, θ)` in float64."""

from dataclasses import replace
from typing import Any

import diffrax as dfx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jaxtyping import Array

from attnflow.schema.dataset import Outcome
from attnflow.training.halts import Patient
from attnflow.training.programs import (
    Axes,
    Effort,
    Program,
    put,
    require_precise,
    size_of,
)
from attnflow.training.rules import Flow
from attnflow.training.solver import LeanDopri8
from attnflow.training.system import CODES, Event, FlowSystem, Leg, Observe, State
from attnflow.training.walk import velocity_of

SOLVERS = {"dopri8": dfx.Dopri8, "tsit5": dfx.Tsit5}

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
    def solve(system: FlowSystem, carry: tuple[State, Array, Array]) -> Leg:
        state, start, stop = carry
        spans = (start, stop, times)
        return _solve(system, state, spans, numbers, rule, observe, event)

    carry = (state, start, stop)
    # Side by side, the search for a crossing would also run for seeds without one.
    if event is not None or not _side_by_side(state, len(start)):
        return axes.one_by_one(solve, system, carry)
    return jax.vmap(solve, in_axes=(axes.tree(system), 0))(system, carry)


_flow = Program(_flow_of_seeds)


def _side_by_side(state: State, seeds: int) -> bool:
    """Whether seeds step together: many small ones, such as the cells of a sweep.

    Together, each step waits for the slowest seed and copies the records of all: 3
    seeds of 170,000 numbers take 2.3 times as long so. 16 seeds of 140 numbers take
    three quarters of half a second, and their program 3 s more to compile.
    """
    size = sum(leaf.size for leaf in jax.tree.leaves(state))
    return seeds > FEW and size < SMALL * seeds


def _solve(
    system: FlowSystem,
    state: State,
    spans: tuple[Array, Array, Array],
    numbers: Array,
    rule: Flow,
    observe: Observe,
    event: Event | None,
) -> Leg:
    start, stop, times = spans
    rtol, atol, scale, decay = numbers
    log = rule.clock == "log"

    def clock(t: Array) -> Array:
        return jnp.log1p((t - start) / scale) if log else t

    def time(s: Array) -> Array:
        return start + scale * jnp.expm1(s) if log else s

    def field(s: Any, y: State, args: None) -> State:
        shrinks = decay if rule.weight_decay else None
        velocity = velocity_of(system, time(s), y, shrinks)
        if not log:
            return velocity
        return jax.tree.map(lambda v: v * scale * jnp.exp(s), velocity)

    marks = clock(jnp.clip(times, start, stop))
    controller = dfx.PIDController(rtol=rtol, atol=atol)
    if not rule.interpolate:
        controller = dfx.ClipStepSizeController(controller, step_ts=marks)
    solution = dfx.diffeqsolve(
        dfx.ODETerm(field),
        _solver(rule, size_of(state)),
        clock(start),
        clock(stop),
        None,
        state,
        saveat=dfx.SaveAt(
            subs=[
                dfx.SubSaveAt(ts=marks, fn=lambda t, y, args: observe(system, y)),
                dfx.SubSaveAt(t1=True),
            ]
        ),
        stepsize_controller=Patient(controller, rule.max_steps),
        max_steps=rule.max_steps,
        adjoint=dfx.ForwardMode(),
        event=_event(system, event),
        throw=False,
    )
    assert solution.ys is not None and solution.ts is not None
    final = jax.tree.map(lambda leaf: leaf[0], solution.ys[1])
    return Leg(
        rows=solution.ys[0],
        state=final,
        # A logarithmic clock gives its own stop back only up to rounding, which would
        # cost a record at that very time.
        end=jnp.where(
            solution.result == dfx.RESULTS.successful, stop, time(solution.ts[1][0])
        ),
        end_row=observe(system, final),
        code=_code(solution, final, event),
    )


def _solver(rule: Flow, numbers: int) -> dfx.AbstractSolver:
    lean = rule.solver == "dopri8" and numbers > MANY
    return LeanDopri8() if lean else SOLVERS[rule.solver]()


def _event(system: FlowSystem, event: Event | None) -> dfx.Event | None:
    if event is None:
        return None

    # diffrax calls this with keywords t, y, args.
    def condition(t: Array, y: State, args: None, **_: object) -> Array:
        return event(system, y)

    # The crossing is found on the solver's own interpolant, whose error is that of
    # the step; bisection to the last digits costs nothing beside it.
    return dfx.Event(condition, optx.Bisection(rtol=1e-13, atol=1e-13))


def _code(solution: dfx.Solution, final: State, event: Event | None) -> Array:
    finite = jnp.array(True)
    for leaf in jax.tree.leaves(final):
        finite &= jnp.isfinite(leaf).all()
    done = CODES.index(Outcome.FINISHED if event is None else Outcome.EVENT_NOT_REACHED)
    code = jnp.where(
        solution.result == dfx.RESULTS.successful, done, CODES.index(Outcome.DIVERGED)
    )
    ends = {
        Outcome.EVENT: dfx.RESULTS.event_occurred,
        Outcome.OUT_OF_STEPS: dfx.RESULTS.max_steps_reached,
    }
    for outcome, result in ends.items():
        code = jnp.where(solution.result == result, CODES.index(outcome), code)
    return jnp.where(finite, code, CODES.index(Outcome.DIVERGED))
