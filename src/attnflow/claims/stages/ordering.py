"""The order of events."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnflow.claims.stages.events import Event


@dataclass(frozen=True)
class Order:
    """Whether events happened in the given order, per seed.

    **Arguments:**

    - `held`: per seed, whether all happened, each strictly after the one before.
    - `gap`: per seed, the least log of a time over the one before it: ln 2 means that
      every event took twice as long as the one before; negative where out of order,
      and −1 where an event did not happen.
    """

    names: tuple[str, ...]
    held: tuple[bool, ...]
    gap: tuple[float, ...]


def order(events: Sequence[Event]) -> Order:
    """Whether `events` happened one after the other, in each seed."""
    if len(events) < 2 or len({event.seeds for event in events}) != 1:
        raise ValueError("An order needs two events or more, of the same seeds.")
    times = np.stack([event.times for event in events])
    happened = np.isfinite(times).all(axis=0)
    safe = np.where(np.isfinite(times), times, 1.0)
    held = happened & (np.diff(safe, axis=0).min(axis=0) > 0.0)
    floor = 1e-12 * float(safe.max(initial=1.0))
    gaps = np.diff(np.log(np.maximum(safe, floor)), axis=0).min(axis=0)
    gaps = np.where(happened, gaps, -1.0)
    return Order(
        tuple(event.name for event in events),
        tuple(bool(h) for h in held),
        tuple(float(g) for g in gaps),
    )
