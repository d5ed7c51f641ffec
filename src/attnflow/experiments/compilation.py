"""Compilation: kept between sessions, and its time told apart from that of running."""

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jax

# A quarter of what Linux allows a process unless told otherwise, and a gigabyte.
MAPPINGS = 16_000


def cache_directory() -> Path:
    """Where compiled programs are kept: `ATTNFLOW_CACHE`, or the user's cache."""
    if "ATTNFLOW_CACHE" in os.environ:
        return Path(os.environ["ATTNFLOW_CACHE"]) / "compiled"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "attnflow" / "compiled"


def keep_compiled() -> None:
    """Use a persistent compilation cache, unless the user has set one or none works."""
    if jax.config.values.get("jax_compilation_cache_dir"):
        return
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(directory))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def make_room(limit: int = MAPPINGS) -> bool:
    """Forget compiled programs where they take up much of a process's mappings.

    Every program keeps pieces of memory mapped, of which Linux allows a process some
    65,000; beyond, XLA ends it without a word. Long sessions over many shapes, such as
    the whole claims table, come there. Programs that are needed again are read from the
    persistent cache. Mappings are counted only where something was compiled since they
    were: reading them takes a millisecond.
    """
    if _CHECKED.get(limit) == _COMPILED[0]:
        return False
    _CHECKED[limit] = _COMPILED[0]
    try:
        mapped = Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:
        return False
    if mapped <= limit:
        return False
    jax.clear_caches()
    gc.collect()
    # Without it the C library keeps what is free, on Linux, where we are now.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return True


class Stopwatch:
    """Seconds that went into tracing, lowering and compiling."""

    seconds: float = 0.0


@contextmanager
def compile_time() -> Iterator[Stopwatch]:
    """Measure the compile time inside the context."""
    watch = Stopwatch()
    _ACTIVE.append(watch)
    try:
        yield watch
    finally:
        _ACTIVE.remove(watch)


_ACTIVE: list[Stopwatch] = []
# How often something was compiled, and how often that was when mappings were counted.
_COMPILED = [0]
_CHECKED: dict[int, int] = {}


def _listen(event: str, duration_secs: float, **kwargs: str | int) -> None:
    if event.startswith("/jax/core/compile/"):
        _COMPILED[0] += 1
        for watch in _ACTIVE:
            watch.seconds += duration_secs


# JAX keeps listeners for the life of the process: register exactly once.
jax.monitoring.register_event_duration_secs_listener(_listen)
