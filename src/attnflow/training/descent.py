"""Descent: steps of optax's rules inside a compiled loop, recorded at chosen steps."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.schema.dataset import Outcome
from attnflow.training.flow import CODES, Leg, Observe
from attnflow.training.precision import require_precise
from attnflow.training.rules import Descent, split
from attnflow.training.scaled import begin_adam, swamped_step, takes_scales
from attnflow.training.walk import Carry, Loop, told, walk

# A run is cut into blocks of records, between which it can show progress, be
# interrupted, and stop early where every seed has diverged.
BLOCKS = 10
# A block of fewer steps costs more to dispatch than it has to show.
STEPS_PER_BLOCK = 1000


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
    every: int = 1,
    rates: Mapping[str, np.ndarray] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Leg:
    """Move every seed from step `start` to step `stop`, or until `event` is positive.

    Arguments are as in `flow`, with steps for times, and one rule for each part.
    The event is looked at after `every` so many steps. `rates` has for each part the
    learning rates of the seeds, where these differ.
    """
    require_precise()
    own = {name: rule.learning_rate for name, rule in rules.items()}
    # Numbers are arguments of the compiled loop: a sweep over them compiles once.
    given = {name: jnp.asarray(rate) for name, rate in (rates or own).items()}
    parts = {name: split(rule) for name, rule in rules.items()}
    plain = tuple((name, rule) for name, (rule, _) in parts.items())
    numbers = {name: found for name, (_, found) in parts.items()}
    first = int(start.min())
    inside = (times >= first) & (times <= stop)
    marks = times[inside].astype(int)
    if not len(marks) or marks[-1] < stop:
        marks = np.append(marks, stop)
    gaps = np.diff(np.concatenate([[first], marks]))
    carry = _begin(state, plain, start, first, scaled=getattr(system, "scaled", False))
    waits = bool((start != first).any())
    loop = Loop(plain, numbers, observe, event, waits=waits, every=every)
    rows, alive, carry, stopped = _blocks(
        system, axes, loop, given, carry, gaps, progress
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
        # What is empty is so for all seeds: a map over them costs a millisecond.
        each = begin if rule.memoryless else jax.vmap(begin)
        memory[name] = each(state[name])
    seeds = len(start)
    return Carry(
        state=jax.tree.map(_strong, state),
        memory=jax.tree.map(_strong, memory),
        step=jax.device_put(np.full(seeds, first)),
        start=jax.device_put(np.asarray(start, int)),
        end=jax.device_put(np.full(seeds, -1)),
    )


def _strong(leaf: Any) -> Any:
    """The same numbers with a type of their own.

    A loop gives back strong types: a second block that starts with them where the first
    began with weak ones would be another program, compiled anew.
    """
    return jax.device_put(np.asarray(leaf)) if leaf.weak_type else leaf


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
    def one(system: Any, carry: Carry, rates: dict[str, Array] = rates) -> tuple:
        def record(carry: Carry, gap: Array) -> tuple:
            carry, sight = walk(system, carry, gap, rates, loop)
            row = told(loop.observe, system, carry.state, sight)
            return carry, (row, _finite(carry.state))

        carry, (rows, alive) = jax.lax.scan(record, carry, gaps)
        return carry, rows, alive

    if getattr(system, "apart", False):
        return axes.one_by_one(one, system, carry)
    each = {name: 0 if rate.ndim else None for name, rate in rates.items()}
    return jax.vmap(one, in_axes=(axes.tree(system), 0, each))(system, carry, rates)


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
