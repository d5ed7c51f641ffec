"""Descent: steps of optax's rules inside a compiled loop, recorded at chosen steps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow._outcome import Outcome
from attnflow.dynamics.flow import CODES, Leg, Observe
from attnflow.dynamics.precision import require_precise
from attnflow.dynamics.scaled import (
    AdamMemory,
    adam,
    begin_adam,
    gradient_for,
    swamped_step,
    takes_scales,
)
from attnflow.rules import Adam, Descent

# A run is cut into blocks of records, between which it can show progress, be
# interrupted, and stop early where every seed has diverged.
BLOCKS = 10
# A block of fewer steps costs more to dispatch than it has to show.
STEPS_PER_BLOCK = 1000


class Carry(NamedTuple):
    """What a seed carries from step to step.

    `end` is the step at which the event was reached; −1 before that.
    """

    state: Any
    memory: Any
    step: Array
    start: Array
    end: Array


class Loop(NamedTuple):
    """What the loop is made of; all but arrays in it is compiled in.

    `waits` says that seeds start at different steps.
    """

    rules: tuple[tuple[str, Descent], ...]
    observe: Observe
    event: Callable[[Any, Any], Array] | None
    waits: bool


def descend(
    system: Any,
    axes: Any,
    state: Any,
    *,
    rules: Mapping[str, Descent],
    start: np.ndarray,
    stop: int,
    times: np.ndarray,
    observe: Observe,
    event: Callable[[Any, Any], Array] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Leg:
    """Move every seed from step `start` to step `stop`, or until `event` is positive.

    Arguments are as in `flow`, with steps for times, and one rule for each part.
    """
    require_precise()
    rates = {name: jnp.asarray(rule.learning_rate) for name, rule in rules.items()}
    # Rates are arguments of the compiled loop: a sweep over them compiles once.
    plain = tuple((name, replace(r, learning_rate=1.0)) for name, r in rules.items())
    first = int(start.min())
    inside = (times >= first) & (times <= stop)
    marks = times[inside].astype(int)
    if not len(marks) or marks[-1] < stop:
        marks = np.append(marks, stop)
    gaps = np.diff(np.concatenate([[first], marks]))
    carry = _begin(state, plain, start, first, scaled=getattr(system, "scaled", False))
    loop = Loop(plain, observe, event, waits=bool((start != first).any()))
    rows, alive, carry, stopped = _blocks(
        system, axes, loop, rates, carry, gaps, progress
    )
    leg = _leg(carry, rows, alive, inside, stop, asked=event is not None)
    leg = leg._replace(swamped=_swamped(carry))
    if stopped:
        # The carry is that of the last whole block, and so are the rows.
        return leg._replace(
            code=jnp.full_like(leg.code, CODES.index(Outcome.INTERRUPTED)),
            end=jnp.asarray(carry.step, float),
        )
    return leg


def _swamped(carry: Carry) -> np.ndarray | None:
    """By seed, the first step at which some Adam's ε outweighed its gradients."""
    found = [swamped_step(memory) for memory in carry.memory.values()]
    steps = [step for step in found if step is not None]
    if not steps:
        return None
    last = np.iinfo(np.int64).max
    least = np.min([np.where(step < 0, last, step) for step in steps], axis=0)
    return np.where(least == last, -1, least)


def _begin(
    state: Any, rules: Any, start: np.ndarray, first: int, *, scaled: bool = False
) -> Carry:
    memory = {}
    for name, rule in rules:
        begin = rule.transformation().init
        if scaled and takes_scales(rule):
            begin = begin_adam
        memory[name] = jax.vmap(begin)(state[name])
    seeds = len(start)
    return Carry(
        state=state,
        memory=memory,
        step=jax.device_put(np.full(seeds, first)),
        start=jax.device_put(np.asarray(start, int)),
        end=jax.device_put(np.full(seeds, -1)),
    )


def _blocks(
    system: Any,
    axes: Any,
    loop: Loop,
    rates: dict[str, Array],
    carry: Carry,
    gaps: np.ndarray,
    progress: Any,
) -> tuple[dict[str, np.ndarray], np.ndarray, Carry, bool]:
    """All records, as `(seeds, records, …)`, block by block, and whether one stopped.

    An interrupt is heard between blocks; what was recorded by then is kept.
    """
    blocks = min(BLOCKS, max(1, int(gaps.sum()) // STEPS_PER_BLOCK))
    size = max(1, math.ceil(len(gaps) / blocks))
    padded = np.concatenate([gaps, np.zeros(-len(gaps) % size, int)])
    parts, living = [], []
    stopped = False
    for number, block in enumerate(padded.reshape(-1, size)):
        try:
            after, rows, alive = _advance(
                system, axes, carry, jnp.asarray(block), rates, loop
            )
            part = jax.tree.map(np.asarray, rows)
        except KeyboardInterrupt:
            if not parts:
                raise
            stopped = True
            break
        carry = after
        parts.append(part)
        living.append(np.asarray(alive))
        if progress is not None:
            progress(min(1.0, (number + 1) * size / len(gaps)))
        reached = np.asarray(carry.end) >= 0
        if not (living[-1][:, -1] & ~reached).any():
            break
    joined = {k: np.concatenate([p[k] for p in parts], axis=1) for k in parts[0]}
    return joined, np.concatenate(living, axis=1), carry, stopped


@eqx.filter_jit
def _advance(
    system: Any, axes: Any, carry: Carry, gaps: Array, rates: Any, loop: Loop
) -> tuple[Carry, dict[str, Array], Array]:
    def one(system: Any, carry: Carry) -> tuple:
        def record(carry: Carry, gap: Array) -> tuple:
            carry, sight = _walk(system, carry, gap, rates, loop)
            row = _told(loop.observe, system, carry.state, sight)
            return carry, (row, _finite(carry.state))

        carry, (rows, alive) = jax.lax.scan(record, carry, gaps)
        return carry, rows, alive

    if getattr(system, "apart", False):
        return axes.one_by_one(one, system, carry)
    return jax.vmap(one, in_axes=(axes.tree(system), 0))(system, carry)


def _walk(
    system: Any, carry: Carry, gap: Array, rates: dict[str, Array], loop: Loop
) -> tuple[Carry, Any]:
    """`gap` steps, or fewer where the event is met before; and a sight of the end."""
    event = loop.event
    if event is None:

        def step(_: Any, carry: Carry) -> Carry:
            moving = carry.step >= carry.start if loop.waits else None
            directions = system.direction(carry.state)
            moved = _moved(system, carry, directions, rates, loop, moving)
            return moved._replace(step=carry.step + 1)

        return jax.lax.fori_loop(0, gap, step, carry), None
    target = carry.step + gap

    def look_and_step(now: _Now) -> _Now:
        """One look serves the event, the gradient and, at the end, a record."""
        carry = now.carry
        directions, sight = _look(system, carry.state)
        reached = _told(event, system, carry.state, sight) >= 0
        met = reached & (carry.step > carry.start) & (carry.end < 0)
        end = jnp.where(met, carry.step, carry.end)
        done = (carry.step >= target) | (end >= 0)
        # Seeds wait for their own start and stay where they met the event.
        moving = (carry.step >= carry.start) & ~done
        carry = _moved(system, carry, directions, rates, loop, moving)
        step = carry.step + jnp.where(done, 0, 1)
        return _Now(carry._replace(step=step, end=end), sight, done)

    blank = jax.tree.map(
        lambda x: jnp.zeros(x.shape, x.dtype),
        jax.eval_shape(lambda state: _look(system, state)[1], carry.state),
    )
    begun = _Now(carry, blank, jnp.asarray(False))
    now = jax.lax.while_loop(lambda now: ~now.done, look_and_step, begun)
    return now.carry._replace(step=target), now.sight


class _Now(NamedTuple):
    """Inside a walk: `sight` is what was last seen, at the end that of the end."""

    carry: Carry
    sight: Any
    done: Array


def _look(system: Any, state: Any) -> tuple[dict[str, Any], Any]:
    """Directions, and what a system that offers it saw on the way to them."""
    if hasattr(system, "look"):
        return system.look(state)
    return system.direction(state), None


def _told(function: Callable[..., Any], system: Any, state: Any, sight: Any) -> Any:
    return function(system, state, *([] if sight is None else [sight]))


def _moved(
    system: Any,
    carry: Carry,
    directions: dict[str, Any],
    rates: dict[str, Array],
    loop: Loop,
    moving: Array | None,
) -> Carry:
    """After a step; where `moving` is given and false, as before it."""
    updates, memory = {}, {}
    for name, rule in loop.rules:
        gradient = gradient_for(rule, directions[name])
        update, memory[name] = _update(rule, gradient, carry, name)
        scale = -rates[name] * rule.schedule(carry.step)
        updates[name] = jax.tree.map(lambda u, scale=scale: scale * u, update)
    state = system.move(carry.state, updates)
    if moving is not None:
        state, memory = jax.tree.map(
            lambda new, old: jnp.where(moving, new, old),
            (state, memory),
            (carry.state, carry.memory),
        )
    return carry._replace(state=state, memory=memory)


def _update(rule: Descent, gradient: Any, carry: Carry, name: str) -> tuple[Any, Any]:
    before = carry.memory[name]
    if isinstance(rule, Adam) and isinstance(before, AdamMemory):
        return adam(rule, gradient, before)
    return rule.transformation().update(gradient, before, carry.state[name])


def _finite(state: Any) -> Array:
    # A maximum keeps what is no number, and is one program where a count is two.
    sizes = [jnp.max(jnp.abs(x), initial=0.0) for x in jax.tree.leaves(state)]
    return jnp.isfinite(jnp.stack(sizes)).all()


def _leg(
    carry: Carry,
    rows: dict[str, np.ndarray],
    alive: np.ndarray,
    inside: np.ndarray,
    stop: int,
    *,
    asked: bool,
) -> Leg:
    """The records on the whole grid, and how each seed ended.

    The last record is that of the end; `asked` says that an event was waited for.
    """
    wanted = int(inside.sum())
    kept = min(wanted, alive.shape[1])
    places = np.flatnonzero(inside)[:kept]
    full = {}
    for name, values in rows.items():
        empty = np.full((values.shape[0], len(inside), *values.shape[2:]), np.nan)
        empty[:, places] = np.where(
            _expand(alive[:, :kept], values.ndim), values[:, :kept], np.nan
        )
        full[name] = empty
    final = min(wanted, alive.shape[1] - 1)
    living = alive[:, final]
    reached = np.asarray(carry.end) >= 0
    done = CODES.index(Outcome.EVENT_NOT_REACHED if asked else Outcome.FINISHED)
    code = np.where(reached, CODES.index(Outcome.EVENT), done)
    code = np.where(living, code, CODES.index(Outcome.DIVERGED))
    return Leg(
        rows=full,
        state=carry.state,
        end=jnp.asarray(np.where(reached, np.asarray(carry.end), stop)),
        end_row={name: jnp.asarray(v[:, final]) for name, v in rows.items()},
        code=jnp.asarray(code),
    )


def _expand(mask: np.ndarray, ndim: int) -> np.ndarray:
    return mask.reshape(mask.shape + (1,) * (ndim - 2))
