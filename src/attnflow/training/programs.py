"""Compiled programs: in float64, with seeds side by side, kept between sessions.

XLA takes seconds to compile a program, and most runs take milliseconds. So a program
that runs briefly is compiled with little effort, and one that runs long is optimised.
Compiler options change the last digits of results; the choice therefore depends only on
the sizes of arrays and the number of steps, and a run is always compiled the same way.
"""

import ctypes
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, PyTree

from attnflow.schema.clock import COUNTS, spend
from attnflow.schema.installation import programs_directory
from attnflow.training.system import State, System

# A quarter of Linux's default limit on memory mappings per process.
MAPPINGS = 16_000
MEMORY = 10**9
"""Bytes of a process beyond which compiled programs are forgotten."""
GROWTH = 4 * 10**8
"""Bytes that a process may grow by before programs are forgotten once more."""

S = TypeVar("S")
Result = TypeVar("Result")


class Effort(Enum):
    """How hard the compiler optimises; with CPU seconds to compile two programs.

    - `LEAST`: loops as they are written (0.14 s for the descent of `mixture/figure1`,
      1.0 s for its flow); the program runs up to twice as long.
    - `LESS`: XLA's older code for fused loops (0.5 s, 2.0 s); small flows run 1.6 times
      as long, descents no longer.
    - `FULL`: JAX's default (1.0 s, 3.5 s).
    """

    LEAST = (
        ("xla_cpu_use_fusion_emitters", False),
        ("xla_backend_optimization_level", 0),
    )
    LESS = (("xla_cpu_use_fusion_emitters", False),)
    FULL = ()


class Program:
    """A function that is compiled by the shapes of its arguments, with some effort.

    !!! example
        ```python
        kernels = Program(lambda system: system.kernel())
        kernels(Effort.LEAST, system)
        ```
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.compiled = cache(self._compiled)

    def __call__(self, effort: Effort, *args: PyTree) -> Any:
        """The value of the function."""
        return self.compiled(effort)(*args)

    def _compiled(self, effort: Effort) -> Any:
        # Other backends have options of their own.
        ours = jax.default_backend() == "cpu"
        options = dict(effort.value) if ours else {}
        # Equinox passes every option on to jax.jit, but declares only some of them.
        return eqx.filter_jit(self.function, compiler_options=options or None)  # pyright: ignore[reportCallIssue]


def size_of(*trees: PyTree) -> int:
    """How many numbers the arrays of PyTrees have."""
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(trees))


def precise() -> AbstractContextManager[None]:
    """A context in which JAX computes in float64; the caller's setting comes back.

    !!! example
        ```python
        with attnflow.precise():
            data = attnflow.MixtureTask().sequences()
        ```
    """
    return jax.enable_x64(True)


def require_precise() -> None:
    """Raise where JAX computes in float32: exactness would be lost without a word."""
    if jax.dtypes.canonicalize_dtype(float) != np.float64:
        raise RuntimeError(
            "JAX computes in float32 here, in which reduced forms are not exact. Call "
            "this inside `with attnflow.precise():`, or set jax_enable_x64."
        )


class Axes:
    """The axes of a stacked system: hashable, so that jit can hold it as static."""

    def __init__(self, axes: tuple[int | None, ...]):
        self.axes = axes

    def __hash__(self) -> int:
        return hash(self.axes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axes) and self.axes == other.axes

    def tree(self, system: System) -> System:
        """The axes in the shape of the system."""
        return jax.tree.unflatten(jax.tree.structure(system), self.axes)

    def one_by_one(
        self, function: Callable[[S, State], Result], system: S, carry: State
    ) -> Result:
        """A function of system and carry, for one seed after the other.

        Side by side costs no less where a seed's arrays are large, and every branch
        would be taken for every seed.
        """
        leaves, tree = jax.tree.flatten(system)
        stacked = [x for x, axis in zip(leaves, self.axes, strict=True) if axis == 0]

        def of_seed(item: tuple[list[Array], State]) -> Result:
            mine = iter(item[0])
            whole = [
                leaf if axis is None else next(mine)
                for leaf, axis in zip(leaves, self.axes, strict=True)
            ]
            return function(jax.tree.unflatten(tree, whole), item[1])

        return jax.lax.map(of_seed, (stacked, carry))


def stack(systems: Sequence[S]) -> tuple[S, Axes]:
    """Systems of several seeds as one, and the axes to map over.

    Leaves that are equal for every seed (a population, say) are kept once, with axis
    `None`; the others are stacked along axis 0.
    """
    leaves, trees = zip(*(jax.tree.flatten(s) for s in systems), strict=True)
    if any(tree != trees[0] for tree in trees[1:]):
        raise ValueError(
            "The seeds' systems differ in shape or form, so that they cannot run side "
            "by side: run them one by one."
        )
    stacked, axes = [], []
    for column in zip(*leaves, strict=True):
        same = all(_equal(column[0], other) for other in column[1:])
        stacked.append(column[0] if same else stack_arrays(*column))
        axes.append(None if same else 0)
    return jax.tree.unflatten(trees[0], stacked), Axes(tuple(axes))


def stack_arrays(*arrays: Array) -> Array:
    """Arrays along a new first axis; on the host, where no shape is compiled."""
    if len(arrays) == 1:
        return put(np.asarray(arrays[0])[None])
    return put(np.stack([np.asarray(array) for array in arrays]))


def put(array: ArrayLike) -> Array:
    """An array of JAX, of a strong type, for which nothing is compiled.

    `jnp.asarray` compiles a program for every shape.
    """
    return jax.device_put(np.asarray(array))


def _equal(a: Array, b: Array) -> bool:
    return a is b or (
        np.shape(a) == np.shape(b) and bool((np.asarray(a) == np.asarray(b)).all())
    )


def keep_compiled() -> None:
    """Use a persistent compilation cache, unless the user has set one or none works.

    It is in `ATTNFLOW_CACHE`, or in the user's cache directory.
    """
    if jax.config.values.get("jax_compilation_cache_dir"):
        return
    directory = programs_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(directory))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)


def make_room(limit: int = MAPPINGS, memory: int = MEMORY) -> bool:
    """Drop compiled programs if they take up too much of this process.

    Every program keeps pieces of memory mapped. Linux allows a process some 65,000
    mappings; beyond that XLA crashes without a message. Long sessions over many shapes,
    such as the whole claims table, get there, and to gigabytes. Programs that are
    needed again are read from the persistent cache. Mappings are counted only if
    something was compiled since the last count, which takes a millisecond.
    """
    if _CHECKED.get((limit, memory)) == _COMPILED[0]:
        return False
    _CHECKED[limit, memory] = _COMPILED[0]
    try:
        mapped = Path("/proc/self/maps").read_bytes().count(b"\n")
        resident = _resident()
    except OSError:
        return False
    # Memory that programs do not hold stays after they are dropped: do not drop them
    # again until the process has grown by GROWTH since.
    if mapped <= limit and resident <= max(memory, _LEFT[0] + GROWTH):
        return False
    jax.clear_caches()
    gc.collect()
    # Freed memory goes back to Linux only when the C library is asked to return it.
    # (/proc exists, so this is Linux.)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    _LEFT[0] = _resident()
    return True


def _resident() -> int:
    """Bytes of memory that this process has, on Linux."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def compile_events() -> int:
    """How often something was traced, lowered or compiled in this process."""
    return _COMPILED[0]


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
# The number of compilations so far, and what it was when mappings were last counted.
_COMPILED = [0]
_CHECKED: dict[tuple[int, int], int] = {}
# Resident bytes just after programs were last dropped.
_LEFT = [0]


_DONE = {
    "/jax/core/compile/jaxpr_trace_duration": "traced",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lowered",
    "/jax/core/compile/backend_compile_duration": "compiled",
}
_HIT = "/jax/compilation_cache/cache_hits"


def _listen(event: str, duration_secs: float, **kwargs: str | int) -> None:
    done = _DONE.get(event)
    if done is None:
        return
    _COMPILED[0] += 1
    COUNTS[done] += 1
    own = spend(done, duration_secs)
    for watch in _ACTIVE:
        watch.seconds += own


def _count(event: str, **kwargs: str | int) -> None:
    if event == _HIT:
        COUNTS["kept"] += 1


# JAX keeps listeners for the life of the process: register exactly once.
jax.monitoring.register_event_duration_secs_listener(_listen)
jax.monitoring.register_event_listener(_count)
