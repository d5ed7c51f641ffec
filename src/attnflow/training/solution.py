"""The solution of a flow, by diffrax: an adaptive one, with records and an event."""

from typing import Any

import diffrax as dfx
import jax
import jax.numpy as jnp
import optimistix as optx
from jaxtyping import Array

from attnflow.schema.dataset import Outcome
from attnflow.training.halts import Patient
from attnflow.training.programs import size_of
from attnflow.training.rules import Flow
from attnflow.training.solver import LeanDopri8
from attnflow.training.system import CODES, Event, FlowSystem, Leg, Observe, State
from attnflow.training.walk import velocity_of

_EVENT = CODES.index(Outcome.EVENT)
SOLVERS = {"dopri8": dfx.Dopri8, "tsit5": dfx.Tsit5}

ROOM = 25_000_000
"""Numbers of the states at all records, up to which these are observed after the solve.

Observables are then one part of the compiled program, where diffrax would have them in
its loop, in its first step and at the end: that takes up to twice as long to compile.
"""


def solve(
    system: FlowSystem,
    state: State,
    spans: tuple[Array, Array, Array],
    numbers: Array,
    rule: Flow,
    observe: Observe,
    event: Event | None,
    *,
    large: bool,
    together: int,
) -> Leg:
    """Move one seed over its span, as `attnflow.training.flows.flow` says.

    **Arguments:**

    - `spans`: when to start and to stop, and the times to observe.
    - `numbers`: those of the rule: `rtol`, `atol`, `scale` and `weight_decay`.
    - `large`: reading the state takes the time of a step.
    - `together`: how many seeds step side by side.
    """
    start, stop, times = spans
    # diffrax looks for a change of sign: what has happened before the first step would
    # never be found.
    happened = jnp.array(False) if event is None else event(system, state) >= 0
    stop = jnp.where(happened, start, stop)
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

    # The last mark is where the final state goes.
    marks = clock(jnp.append(jnp.clip(times, start, stop), stop))
    afterwards = together * size_of(state) * len(marks) <= ROOM
    controller = dfx.PIDController(rtol=rtol, atol=atol)
    if not rule.interpolate:
        controller = dfx.ClipStepSizeController(controller, step_ts=marks)
    solution = dfx.diffeqsolve(
        dfx.ODETerm(field),
        _solver(rule, large=large),
        clock(start),
        clock(stop),
        None,
        state,
        saveat=dfx.SaveAt(
            subs=[
                dfx.SubSaveAt(
                    ts=marks,
                    fn=lambda t, y, args: y if afterwards else observe(system, y),
                ),
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
    recorded, final = solution.ys[0], jax.tree.map(lambda y: y[0], solution.ys[1])
    if afterwards:
        states = jax.tree.map(lambda leaf, y: leaf.at[-1].set(y), recorded, final)
        recorded = jax.lax.map(lambda y: observe(system, y), states)
        end_row = jax.tree.map(lambda leaf: leaf[-1], recorded)
    else:
        end_row = observe(system, final)
    return Leg(
        rows=jax.tree.map(lambda leaf: leaf[:-1], recorded),
        state=final,
        # A logarithmic clock gives its own stop back only up to rounding, which would
        # cost a record at that very time.
        end=jnp.where(
            solution.result == dfx.RESULTS.successful, stop, time(solution.ts[1][0])
        ),
        end_row=end_row,
        code=jnp.where(happened, _EVENT, _code(solution, final, event)),
    )


def _solver(rule: Flow, *, large: bool) -> dfx.AbstractSolver:
    lean = rule.solver == "dopri8" and large
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
