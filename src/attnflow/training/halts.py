"""Flows that come to a halt: they end, out of steps, instead of creeping for hours.

Where the velocity points towards the kink of a ReLU from both of its sides, no step of
a solver may cross it: a flow slides along it by very short steps, and would take
millions of them to get on.
"""

from typing import Any

import diffrax as dfx
import jax.numpy as jnp
from jaxtyping import Array, PyTree

PATIENCE = 2000
"""Steps over which a flow must come forward.

It ends where so many have led less far than its longest one alone, and the steps that
are left would, at this pace, not lead to the stage's end. The flows of `mixture/k3` and
`mixture/k4` cross many kinks early on, in 1200 and 3000 steps, and go on to where they
stay at one: watched in stretches, both come that far.
"""
_Watch = tuple[Array, Array, Array, Array]
"""Steps so far, the clock when it was last looked at, the longest step, the end."""


class Patient(dfx.AbstractStepSizeController[tuple[PyTree, _Watch], Any]):
    """Another controller, which gives up where the flow has come to a halt."""

    controller: dfx.AbstractStepSizeController
    max_steps: int

    def wrap(self, direction: Any) -> "Patient":
        """The same, told in which direction time goes."""
        return Patient(self.controller.wrap(direction), self.max_steps)

    def init(
        self,
        terms: Any,
        t0: Any,
        t1: Any,
        y0: Any,
        dt0: Any,
        args: Any,
        func: Any,
        error_order: Any,
    ) -> tuple[Any, tuple[PyTree, _Watch]]:
        """The end of the first step, and the state."""
        first, state = self.controller.init(
            terms, t0, t1, y0, dt0, args, func, error_order
        )
        start, zero = jnp.asarray(t0, float), jnp.zeros(())
        return first, (state, (zero, start, zero, jnp.asarray(t1, float)))

    def adapt_step_size(
        self,
        t0: Any,
        t1: Any,
        y0: Any,
        y1_candidate: Any,
        args: Any,
        y_error: Any,
        error_order: Any,
        controller_state: tuple[PyTree, _Watch],
    ) -> tuple[Any, Any, Any, Any, tuple[PyTree, _Watch], dfx.RESULTS]:
        """Whether a step is kept, the next one, and whether there shall be any."""
        state, (steps, since, longest, stop) = controller_state
        keep, begin, end, jumped, state, result = self.controller.adapt_step_size(
            t0, t1, y0, y1_candidate, args, y_error, error_order, state
        )
        steps = steps + 1
        longest = jnp.where(keep, jnp.maximum(longest, t1 - t0), longest)
        way, left = begin - since, (self.max_steps - steps) / PATIENCE
        is_time = steps % PATIENCE == 0
        is_halt = is_time & (way < longest) & (way * left < stop - begin)
        since = jnp.where(is_time, begin, since)
        fails = dfx.RESULTS.max_steps_reached
        result = dfx.RESULTS.where(is_halt, fails, result)
        watch = (steps, since, longest, stop)
        return keep, begin, end, jumped, (state, watch), result
