"""Walks: steps of a descent from one record to the next, in a compiled loop."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from attnflow.training.rules import (
    AbstractDescent,
    Adam,
    Descent,
    Muon,
    NormalisedDescent,
    Numbers,
    SignGD,
    is_zero,
    joined,
)
from attnflow.training.scaled_numbers import AdamMemory, Scaled, adam
from attnflow.training.system import (
    BatchSystem,
    DescentSystem,
    Event,
    FlowSystem,
    LengthSystem,
    MatrixSystem,
    Observe,
    PartedSystem,
    ShrinkingSystem,
    Sight,
    SightSystem,
    State,
)

Result = TypeVar("Result")
Rates = dict[str, Array]


class Carry(NamedTuple):
    """What a seed carries from step to step.

    `end` is the step at which the event was reached; −1 before that.
    """

    state: State
    memory: State
    step: Array
    start: Array
    end: Array


class Loop(NamedTuple):
    """What the loop is made of; all but arrays in it is compiled in.

    `numbers` are those of the rules, by part, that are arguments; `waits` says that
    seeds start at different steps; `every` after how many steps the event is evaluated.
    """

    rules: tuple[tuple[str, Descent], ...]
    numbers: dict[str, Numbers]
    observe: Observe
    event: Event | None
    waits: bool
    every: int = 1


def walk(
    system: DescentSystem, carry: Carry, gap: Array, rates: Rates, loop: Loop
) -> tuple[Carry, Sight]:
    """`gap` steps, or fewer where the event is met before; and a sight of the end."""
    if loop.event is None:
        return _steps(system, carry, gap, rates, loop), None
    if loop.every > 1:
        return _stretches(system, carry, gap, rates, loop), None
    return _steps_to_event(system, carry, gap, rates, loop)


def _steps(
    system: DescentSystem, carry: Carry, gap: Array, rates: Rates, loop: Loop
) -> Carry:
    """Steps between which no event is evaluated."""

    def step(_: Array, carry: Carry) -> Carry:
        moving = carry.step >= carry.start if loop.waits else None
        directions = _at(system, carry.step).direction(carry.state)
        moved = _move(system, carry, directions, rates, loop, moving)
        return moved._replace(step=carry.step + 1)

    return jax.lax.fori_loop(0, gap, step, carry)


def _stretches(
    system: DescentSystem, carry: Carry, gap: Array, rates: Rates, loop: Loop
) -> Carry:
    """Stretches of `every` steps, up to the record or the event."""
    event, every = loop.event, loop.every
    assert event is not None
    target = carry.step + gap

    def stretch(carry: Carry) -> Carry:
        count = jnp.minimum(target - carry.step, every - carry.step % every)
        carry = _steps(system, carry, count, rates, loop)
        # Seeds that wait for their start have nothing to show.
        due = (carry.step % every == 0) & (carry.step > carry.start)
        reached = jax.lax.cond(
            due, lambda: event(system, carry.state) >= 0, lambda: jnp.asarray(False)
        )
        return carry._replace(end=jnp.where(reached, carry.step, carry.end))

    carry = jax.lax.while_loop(
        lambda carry: (carry.step < target) & (carry.end < 0), stretch, carry
    )
    return carry._replace(step=target)


def _steps_to_event(
    system: DescentSystem, carry: Carry, gap: Array, rates: Rates, loop: Loop
) -> tuple[Carry, Sight]:
    """Steps before each of which the event is evaluated."""
    event = loop.event
    assert event is not None
    target = carry.step + gap

    def step(now: _Now) -> _Now:
        """One sight serves the event, the gradient and, at the end, a record."""
        carry = now.carry
        directions, sight = _direction(_at(system, carry.step), carry.state)
        reached = evaluate(event, system, carry.state, sight) >= 0
        met = reached & (carry.step > carry.start) & (carry.end < 0)
        end = jnp.where(met, carry.step, carry.end)
        done = (carry.step >= target) | (end >= 0)
        # Seeds wait for their own start and stay where they met the event.
        moving = (carry.step >= carry.start) & ~done
        carry = _move(system, carry, directions, rates, loop, moving)
        next_step = carry.step + jnp.where(done, 0, 1)
        return _Now(carry._replace(step=next_step, end=end), sight, done)

    blank = jax.tree.map(
        lambda x: jnp.zeros(x.shape, x.dtype),
        jax.eval_shape(lambda state: _direction(system, state)[1], carry.state),
    )
    begun = _Now(carry, blank, jnp.asarray(False))
    now = jax.lax.while_loop(lambda now: ~now.done, step, begun)
    return now.carry._replace(step=target), now.sight


class _Now(NamedTuple):
    """Inside a walk: the `sight` is the last one, at the end that of the end."""

    carry: Carry
    sight: Sight
    done: Array


def _at(system: DescentSystem, step: Array) -> DescentSystem:
    """The system as a step sees it, where steps differ."""
    return system.at(step) if isinstance(system, BatchSystem) else system


def _direction(system: DescentSystem, state: State) -> tuple[dict[str, State], Sight]:
    """Directions, and the sight of a system that keeps one."""
    if isinstance(system, SightSystem):
        return system.direction_and_forward(state)
    return system.direction(state), None


def evaluate(
    function: Callable[..., Result], system: DescentSystem, state: State, sight: Sight
) -> Result:
    """A function of system and state, of which there may be a sight already."""
    return function(system, state, *([] if sight is None else [sight]))


def _move(
    system: DescentSystem,
    carry: Carry,
    directions: dict[str, State],
    rates: Rates,
    loop: Loop,
    moving: Array | None,
) -> Carry:
    """After a step; where `moving` is given and false, as before it."""
    rules = [(name, joined(plain, loop.numbers[name])) for name, plain in loop.rules]
    updates, memory = updates_of(
        system, carry.state, carry.memory, directions, rules, rates, carry.step
    )
    state = system.move(carry.state, updates)
    if moving is not None:
        state, memory = jax.tree.map(
            lambda new, old: jnp.where(moving, new, old),
            (state, memory),
            (carry.state, carry.memory),
        )
    return carry._replace(state=state, memory=memory)


def updates_of(
    system: DescentSystem,
    state: State,
    memory: State,
    directions: dict[str, State],
    rules: Sequence[tuple[str, Descent]],
    rates: Mapping[str, Array | float],
    step: Array,
) -> tuple[dict[str, State], dict[str, State]]:
    """What each part adds, by its rule, and what the rules remember after it."""
    updates, after = {}, {}
    length = _length(system, state, directions, rules, NormalisedDescent)
    whole = _length(system, state, directions, _clipping(rules))
    for name, rule in rules:
        part = own_state(system, state, name)
        gradient = _clipped(gradient_for(rule, directions[name]), rule, whole)
        update, after[name] = _update(rule, gradient, memory[name], part)
        if isinstance(rule, Muon):
            assert isinstance(system, MatrixSystem)
            update = system.each_matrix(name, state, update, rule.orthogonalised)
        rate = -rates[name] * rule.pace(step)
        scale = rate
        if isinstance(rule, NormalisedDescent):
            scale = rate / (length + rule.epsilon)
        updates[name] = jax.tree.map(lambda u, scale=scale: scale * u, update)
        if rule.decays_apart and not is_zero(rule.weight_decay):
            decay = rate * rule.weight_decay
            shrinking = own_state(system, system_unit(system, state), name)
            updates[name] = jax.tree.map(
                lambda u, x, decay=decay: u + decay * x, updates[name], shrinking
            )
    return updates, after


def velocity_of(
    system: FlowSystem, time: Array, state: State, decay: Array | None
) -> State:
    """The derivative of a state under gradient flow and weight decay."""
    velocity = system.velocity(time, state)
    if decay is None:
        return velocity
    assert isinstance(system, ShrinkingSystem)
    return jax.tree.map(lambda v, x: v - decay * x, velocity, system.shrinking(state))


def own_state(system: DescentSystem, state: State, name: str) -> State:
    """The part of a state that a rule moves, which may be some weights of a part."""
    return system.own(state, name) if isinstance(system, PartedSystem) else state[name]


def system_unit(system: DescentSystem, state: State) -> State:
    """What to add to a state for all of its weights once more."""
    return system.unit(state) if isinstance(system, PartedSystem) else state


def _update(
    rule: Descent, gradient: State, before: State, part: State
) -> tuple[State, State]:
    if isinstance(rule, Adam) and isinstance(before, AdamMemory):
        return adam(rule, gradient, before)
    return rule.transformation().update(gradient, before, part)


def _clipping(rules: Sequence[tuple[str, Descent]]) -> list[tuple[str, Descent]]:
    return [(name, rule) for name, rule in rules if not is_zero(rule.clip)]


def _clipped(gradient: State, rule: Descent, length: Array | float) -> State:
    """A part of a gradient of this length, shortened to the rule's `clip`."""
    if is_zero(rule.clip) or isinstance(rule, NormalisedDescent):
        return gradient
    # PyTorch's constant, so that its loops are followed to rounding.
    share = jnp.minimum(rule.clip / (length + 1e-6), 1.0)
    return jax.tree.map(lambda entry: share * entry, gradient)


def _length(
    system: DescentSystem,
    state: State,
    directions: dict[str, State],
    rules: Sequence[tuple[str, Descent]],
    kind: type[AbstractDescent] = AbstractDescent,
) -> Array | float:
    """The length of the gradient by all parts with rules of a kind.

    It is 1 where the gradient is zero, or there is no such rule.
    """
    names = [name for name, rule in rules if isinstance(rule, kind)]
    if not names:
        return 1.0
    assert isinstance(system, LengthSystem)
    squares = [system.square(name, state, directions[name]) for name in names]
    total = jnp.stack(squares).sum()
    return jnp.sqrt(jnp.where(total > 0, total, 1.0))


def gradient_for(rule: Descent, direction: PyTree) -> PyTree:
    """The gradient that a rule takes, from a direction that may have scaled leaves."""

    def gradient(leaf: Array | Scaled) -> Array | Scaled:
        if not isinstance(leaf, Scaled):
            return -leaf
        if isinstance(rule, SignGD):
            return -leaf.mantissa
        if isinstance(rule, Adam):
            return Scaled(-leaf.mantissa, leaf.log)
        return -leaf.plain

    return jax.tree.map(
        gradient, direction, is_leaf=lambda leaf: isinstance(leaf, Scaled)
    )
