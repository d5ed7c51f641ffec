"""Where the time of a process goes: seconds by what was done, each counted once."""

import time
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager

SPENT: defaultdict[str, float] = defaultdict(float)
"""Seconds of this process by what was done (`compiled`, `judged`)."""
COUNTS: Counter[str] = Counter()
"""How often, of what is counted: what `compile_events` counts; programs `kept`."""
COMPILING = ("traced", "lowered", "compiled")
"""Steps from a function to its compiled program, one of which may be to read it."""

_ended: list[tuple[float, float]] = []


@contextmanager
def measured(what: str) -> Generator[None]:
    """Count the seconds inside the context, less those that are counted there."""
    begun = time.perf_counter()
    try:
        yield
    finally:
        spend(what, time.perf_counter() - begun)


def spend(what: str, seconds: float) -> float:
    """Count seconds that end now, less those in between that are counted already.

    JAX tells how long something took when it is done, and of what is inside before.

    **Returns:** the seconds that were counted.
    """
    end = time.perf_counter()
    begun = end - seconds
    counted = 0.0
    # The first inner interval may be reported to have begun a microsecond earlier.
    while _ended and _ended[-1][0] + _ended[-1][1] > 2 * begun:
        first, last = _ended.pop()
        counted += last - first
    _ended.append((begun, end))
    # A long session only needs the intervals that may still be open.
    del _ended[:-_MOST]
    own = max(0.0, seconds - counted)
    SPENT[what] += own
    return own


_MOST = 100_000


class Stopwatch:
    """Seconds that went into tracing, lowering and compiling."""

    seconds: float = 0.0


_ACTIVE: list[Stopwatch] = []


@contextmanager
def compile_time() -> Generator[Stopwatch]:
    """Measure the compile time inside the context."""
    watch = Stopwatch()
    _ACTIVE.append(watch)
    try:
        yield watch
    finally:
        _ACTIVE.remove(watch)


def count_compiling(step: str, seconds: float) -> None:
    """Count one of the steps of `COMPILING`, which ends now."""
    COUNTS[step] += 1
    own = spend(step, seconds)
    for watch in _ACTIVE:
        watch.seconds += own


def compile_events() -> int:
    """How often something was traced, lowered or compiled in this process."""
    return sum(COUNTS[step] for step in COMPILING)
