"""Descent: steps of optax's rules inside a compiled loop, recorded at chosen steps."""

import math
from collections.abc import Callable, Iterable, Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.schema.dataset import Outcome
from attnflow.training.programs import (
    Axes,
    Effort,
    Program,
    put,
    require_precise,
    size_of,
)
from attnflow.training.rules import Adam, Descent, split
from attnflow.training.scaled_numbers import AdamMemory, begin_adam, earliest
from attnflow.training.system import (
    CODES,
    DescentSystem,
    Event,
    Leg,
    Observe,
    Row,
    State,
)
from attnflow.training.walk import Carry, Loop, Rates, evaluate, own_state, walk

WORK = 10**10
"""Steps times numbers of system and state, up to which compiling takes the time."""
FEW = 100
LITTLE = 10**8
"""Steps, and steps times numbers, up to which the code may be slow: it loses less than
half a second, and compiling it well takes longer. Figure 6 of `scansnap` has 100 steps
of ten million numbers, which such code would take seven times as long for."""

ALONE = 1000
"""Numbers of a seed's state from which on seeds run one after the other.

Products of matrices of 32 rows and more take 15 to 25% longer side by side.
"""

# A run is cut into blocks of records, between which it can show progress, be
# interrupted, and stop early where every seed has diverged.
BLOCKS = 10


def descend(
    system: DescentSystem,
    axes: Axes,
    state: State,
    *,
    rules: Mapping[str, Descent],
    start: np.ndarray,
    stop: int,
    times: np.ndarray,
    observe: Observe,
    event: Event | None = None,
    every: int = 1,
    rates: Mapping[str, np.ndarray] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Leg:
    """Move every seed from step `start` to step `stop`, or until `event` is positive.

    Arguments are as in `flow`, with steps for times, and one rule for each part.
    The event is evaluated every `every` steps. `rates` has for each part the learning
    rates of the seeds, where these differ.
    """
    require_precise()
    common = {name: rule.learning_rate for name, rule in rules.items()}
    # Numbers are arguments of the compiled loop: a sweep over them compiles once.
    # Weak types, so that they take the precision of what they multiply.
    rate_of = {name: jax.device_put(rate) for name, rate in (rates or common).items()}
    parts = {name: split(rule) for name, rule in rules.items()}
    plain = tuple((name, rule) for name, (rule, _) in parts.items())
    numbers = {name: of_rule for name, (_, of_rule) in parts.items()}
    first = int(start.min())
    inside = (times >= first) & (times <= stop)
    marks = times[inside].astype(int)
    if not len(marks) or marks[-1] < stop:
        marks = np.append(marks, stop)
    gaps = np.diff(np.concatenate([[first], marks]))
    carry = begin(system, state, plain, start, first)
    waits = bool((start != first).any())
    loop = Loop(plain, numbers, observe, event, waits=waits, every=every)
    rows, alive, carry, stopped = _blocks(
        system, axes, loop, rate_of, carry, gaps, progress
    )
    leg = _leg(carry, rows, alive, inside, stop, awaits_event=event is not None)
    leg = leg._replace(swamped=_swamped(carry))
    if stopped:
        # The carry is that of the last whole block, and so are the rows.
        return leg._replace(
            code=np.full_like(leg.code, CODES.index(Outcome.INTERRUPTED)),
            end=np.asarray(carry.step, float),
        )
    return leg


def _swamped(carry: Carry) -> np.ndarray | None:
    """By seed, the first step at which some Adam's ε outweighed its gradients."""
    memories = [m for m in carry.memory.values() if isinstance(m, AdamMemory)]
    steps = [step for memory in memories for step in memory.swamped.values()]
    return earliest(steps) if steps else None


def begin(
    system: DescentSystem,
    state: State,
    rules: Iterable[tuple[str, Descent]],
    start: np.ndarray,
    first: int,
) -> Carry:
    """What seeds carry at the start of a stage."""
    memory = {}
    for name, rule in rules:
        begin = rule.transformation().init
        if getattr(system, "scaled", False) and isinstance(rule, Adam):
            begin = begin_adam
        # An empty state is empty for all seeds, and a vmap over them would cost a
        # millisecond.
        each = begin if rule.memoryless else jax.vmap(begin)
        memory[name] = each(own_state(system, state, name))
    seeds = len(start)
    return Carry(
        state=jax.tree.map(_strong, state),
        memory=jax.tree.map(_strong, memory),
        step=put(np.full(seeds, first)),
        start=put(np.asarray(start, int)),
        end=put(np.full(seeds, -1)),
    )


def _strong(leaf: Array) -> Array:
    """The same numbers with a strong type.

    A loop gives back strong types: a second block that starts with them where the first
    began with weak ones would be another program, compiled anew.
    """
    return put(leaf) if leaf.weak_type else leaf


def _blocks(
    system: DescentSystem,
    axes: Axes,
    loop: Loop,
    rates: Rates,
    carry: Carry,
    gaps: np.ndarray,
    progress: Callable[[float], None] | None,
) -> tuple[dict[str, np.ndarray], np.ndarray, Carry, bool]:
    """All records, as `(seeds, records, …)`, block by block, and whether one stopped.

    An interrupt is heard between blocks; what was recorded by then is kept.
    """
    size = _block_size(len(gaps))
    effort = _effort(system, int(gaps.sum()), size_of(system, carry.state))
    padded = np.concatenate([gaps, np.zeros(-len(gaps) % size, int)])
    parts, living = [], []
    stopped = False
    for number, block in enumerate(padded.reshape(-1, size)):
        try:
            after, rows, alive = _advance(
                effort, system, axes, carry, put(block), rates, loop
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


def _effort(system: DescentSystem, steps: int, numbers: int) -> Effort:
    """What it is worth to compile so many steps of so many numbers."""
    work = steps * numbers
    if work > WORK and not getattr(system, "in_products", False):
        return Effort.FULL
    return Effort.LEAST if steps <= FEW and work <= LITTLE else Effort.LESS


def _block_size(records: int) -> int:
    """How many records a block has: a power of two.

    So runs of somewhat fewer or more records share one program; surplus records in the
    last block repeat the end.
    """
    return 2 ** math.ceil(math.log2(max(1.0, records / BLOCKS)))


def _block(
    system: DescentSystem,
    axes: Axes,
    carry: Carry,
    gaps: Array,
    rates: Rates,
    loop: Loop,
) -> tuple[Carry, Row, Array]:
    own = {name: rate for name, rate in rates.items() if rate.ndim}

    def of_seed(
        system: DescentSystem, both: tuple[Carry, Rates]
    ) -> tuple[Carry, Row, Array]:
        carry, mine = both

        def record(carry: Carry, gap: Array) -> tuple[Carry, tuple[Row, Array]]:
            carry, sight = walk(system, carry, gap, {**rates, **mine}, loop)
            row = evaluate(loop.observe, system, carry.state, sight)
            return carry, (row, _finite(carry.state))

        carry, (rows, alive) = jax.lax.scan(record, carry, gaps)
        return carry, rows, alive

    large = size_of(carry.state) > ALONE * len(carry.step)
    if large or getattr(system, "apart", False):
        return axes.one_by_one(of_seed, system, (carry, own))
    return jax.vmap(of_seed, in_axes=(axes.tree(system), 0))(system, (carry, own))


_advance = Program(_block)


def _finite(state: State) -> Array:
    # A maximum propagates NaN, and is one program where a count would be two.
    sizes = [jnp.max(jnp.abs(x), initial=0.0) for x in jax.tree.leaves(state)]
    return jnp.isfinite(jnp.stack(sizes)).all()


def _leg(
    carry: Carry,
    rows: dict[str, np.ndarray],
    alive: np.ndarray,
    inside: np.ndarray,
    stop: int,
    *,
    awaits_event: bool,
) -> Leg:
    """The records on the whole grid, and how each seed ended.

    The last record is that of the end.
    """
    count = int(inside.sum())
    kept = min(count, alive.shape[1])
    recorded = np.flatnonzero(inside)[:kept]
    full = {}
    for name, values in rows.items():
        empty = np.full((values.shape[0], len(inside), *values.shape[2:]), np.nan)
        mask = alive[:, :kept].reshape(len(alive), kept, *(1,) * (values.ndim - 2))
        empty[:, recorded] = np.where(mask, values[:, :kept], np.nan)
        full[name] = empty
    final = min(count, alive.shape[1] - 1)
    living = alive[:, final]
    reached = np.asarray(carry.end) >= 0
    done = CODES.index(Outcome.EVENT_NOT_REACHED if awaits_event else Outcome.FINISHED)
    code = np.where(reached, CODES.index(Outcome.EVENT), done)
    code = np.where(living, code, CODES.index(Outcome.DIVERGED))
    return Leg(
        rows=full,
        state=carry.state,
        end=np.where(reached, np.asarray(carry.end), stop),
        end_row={name: v[:, final] for name, v in rows.items()},
        code=code,
    )
