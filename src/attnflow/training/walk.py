"""Walks: steps of a descent from one record to the next, in a compiled loop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.training.flow import Observe
from attnflow.training.rules import Adam, Descent, joined
from attnflow.training.scaled import AdamMemory, adam, gradient_for
from attnflow.training.whole import length_of, made_orthogonal


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

    `numbers` are those of the rules, by part, that are arguments; `waits` says that
    seeds start at different steps; `every` how many steps lie between two looks at the
    event.
    """

    rules: tuple[tuple[str, Descent], ...]
    numbers: dict[str, dict[str, Array]]
    observe: Observe
    event: Callable[[Any, Any], Array] | None
    waits: bool
    every: int = 1


def walk(
    system: Any, carry: Carry, gap: Array, rates: dict[str, Array], loop: Loop
) -> tuple[Carry, Any]:
    """`gap` steps, or fewer where the event is met before; and a sight of the end."""
    if loop.event is None:
        return _unseen(system, carry, gap, rates, loop), None
    if loop.every > 1:
        return _looking_rarely(system, carry, gap, rates, loop), None
    return _looking(system, carry, gap, rates, loop)


def _unseen(
    system: Any, carry: Carry, gap: Array, rates: dict[str, Array], loop: Loop
) -> Carry:
    """Steps between which nothing is looked at."""

    def step(_: Any, carry: Carry) -> Carry:
        moving = carry.step >= carry.start if loop.waits else None
        directions = _at(system, carry.step).direction(carry.state)
        moved = _moved(system, carry, directions, rates, loop, moving)
        return moved._replace(step=carry.step + 1)

    return jax.lax.fori_loop(0, gap, step, carry)


def _looking_rarely(
    system: Any, carry: Carry, gap: Array, rates: dict[str, Array], loop: Loop
) -> Carry:
    """Steps from one look at the event to the next, up to the record or the event."""
    event, every = loop.event, loop.every
    assert event is not None
    target = carry.step + gap

    def stretch(carry: Carry) -> Carry:
        count = jnp.minimum(target - carry.step, every - carry.step % every)
        carry = _unseen(system, carry, count, rates, loop)
        # Seeds that wait for their start have nothing to show.
        looks = (carry.step % every == 0) & (carry.step > carry.start)
        reached = jax.lax.cond(
            looks, lambda: event(system, carry.state) >= 0, lambda: jnp.asarray(False)
        )
        return carry._replace(end=jnp.where(reached, carry.step, carry.end))

    carry = jax.lax.while_loop(
        lambda carry: (carry.step < target) & (carry.end < 0), stretch, carry
    )
    return carry._replace(step=target)


def _looking(
    system: Any, carry: Carry, gap: Array, rates: dict[str, Array], loop: Loop
) -> tuple[Carry, Any]:
    """Steps with a look at the event before each of them."""
    event = loop.event
    assert event is not None
    target = carry.step + gap

    def look_and_step(now: _Now) -> _Now:
        """One look serves the event, the gradient and, at the end, a record."""
        carry = now.carry
        directions, sight = _look(_at(system, carry.step), carry.state)
        reached = told(event, system, carry.state, sight) >= 0
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


def _at(system: Any, step: Array) -> Any:
    """The system as a step sees it, where that is not as it always is."""
    return system.at(step) if hasattr(system, "at") else system


def _look(system: Any, state: Any) -> tuple[dict[str, Any], Any]:
    """Directions, and what a system that offers it saw on the way to them."""
    if hasattr(system, "direction_and_forward"):
        return system.direction_and_forward(state)
    return system.direction(state), None


def told(function: Callable[..., Any], system: Any, state: Any, sight: Any) -> Any:
    """What a function tells of a state, of which there may be a sight already."""
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
    length = length_of(system, carry.state, directions, loop.rules)
    for name, plain in loop.rules:
        rule = joined(plain, loop.numbers[name])
        gradient = gradient_for(rule, directions[name])
        update, memory[name] = _update(rule, gradient, carry, name)
        update = made_orthogonal(system, rule, name, update, carry.state)
        scale = -rates[name] * rule.pace(carry.step)
        if rule.sees == "length":
            scale = scale / length
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
