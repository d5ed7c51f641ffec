"""Compiled programs: in float64, with seeds side by side, kept between sessions.

XLA takes seconds to compile a program, and most runs take milliseconds. So a program
that runs briefly is compiled with little effort, and one that runs long is optimised.
Compiler options change the last digits of results; the choice therefore depends only on
the sizes of arrays and the number of steps, and a run is always compiled the same way.

What is compiled is kept in the user's cache, under a digest of the program as JAX
lowers it. Tracing and lowering take as long again as all else that a short run waits
for, and what they give follows from code and shapes: where the digest of a run's code
is known (`keeping`), it is kept which program that was, and none of it is done again.
"""

import ctypes
import gc
import hashlib
import io
import itertools
import os
import pickle
import time
import warnings
import weakref
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax import core

# JAX says of no other way that programs may be kept by it, but for its cache, which
# finds them only after they were traced and lowered.
from jax.experimental import serialize_executable  # noqa: TID251
from jax.typing import ArrayLike
from jaxtyping import Array, PyTree

from attnflow.schema import files
from attnflow.schema.clock import COUNTS, compile_events, count_compiling
from attnflow.schema.installation import library_versions, processor, programs_directory
from attnflow.training.system import State, System

# A quarter of Linux's default limit on memory mappings per process.
MAPPINGS = 16_000
MEMORY = 10**9
"""Bytes of a process beyond which compiled programs are forgotten."""
GROWTH = 4 * 10**8
"""Bytes that a process may grow by before programs are forgotten once more."""
WORTH = 0.1
"""Seconds to trace and compile a program that are worth a file."""

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
    LESS = (
        ("xla_cpu_use_fusion_emitters", False),
        ("xla_backend_optimization_level", 1),
    )
    FULL = ()


class Program:
    """A function that is compiled by the shapes of its arguments, with some effort.

    What is no array in its arguments, or in its value, is compiled in.

    !!! example
        ```python
        kernels = Program(lambda system: system.kernel())
        kernels(Effort.LEAST, system)
        ```
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.ready: dict[Hashable, _Ready] = {}
        _PROGRAMS.add(self)

    def __call__(self, effort: Effort, *args: PyTree) -> Any:
        """The value of the function."""
        leaves, tree = jax.tree.flatten(args)
        arrays = [leaf for leaf in leaves if eqx.is_array(leaf)]
        if any(isinstance(array, core.Tracer) for array in arrays):
            # It is called while another program is traced, and is a part of that.
            return self.function(*args)
        kinds = [jax.typeof(x) if eqx.is_array(x) else (type(x), x) for x in leaves]
        key = effort, tree, tuple(kinds)
        ready = self.ready.get(key)
        if ready is None:
            ready = self.ready[key] = _prepare(self.function, effort, leaves, tree)
        return ready.value.of(ready.compiled(*arrays))


_PROGRAMS: weakref.WeakSet[Program] = weakref.WeakSet()


class _Leaf(Enum):
    """Stands for an array of a value."""

    ARRAY = "array"


class _Value(NamedTuple):
    """What a program returns, but for its arrays."""

    tree: Any
    leaves: list[Any]

    def of(self, arrays: Iterable[Any]) -> Any:
        """The value with these arrays."""
        given = iter(arrays)
        leaves = [next(given) if x is _Leaf.ARRAY else x for x in self.leaves]
        return jax.tree.unflatten(self.tree, leaves)


class _Ready(NamedTuple):
    """A program that is compiled, from arrays to arrays."""

    compiled: Callable[..., list[Array]]
    value: _Value


_CODE: ContextVar[str | None] = ContextVar("code", default=None)


@contextmanager
def keeping(code: str) -> Iterator[None]:
    """A context in which programs follow from code of this digest and their arguments.

    Where the variable ATTNFLOW_TRACES is `kept`, one that another session traced is
    then not traced again. Commands and workers set it. In a session of Python, somebody
    may have replaced a function that the program is made of.
    """
    token = _CODE.set(code if os.environ.get("ATTNFLOW_TRACES") == "kept" else None)
    try:
        yield
    finally:
        _CODE.reset(token)


def _prepare(
    function: Callable[..., Any], effort: Effort, leaves: list[Any], tree: Any
) -> _Ready:
    """A program as it is kept, or else traced and compiled, and kept from then on."""
    begun = time.perf_counter()
    # Other backends have options of their own.
    options: dict[str, Any] = {}
    if jax.default_backend() == "cpu":
        options = dict(effort.value)
    machine = processor(), jax.devices()[0].device_kind, os.environ.get("XLA_FLAGS")
    around = options, machine, sorted(library_versions().items())
    count = sum(map(eqx.is_array, leaves))
    trace = _trace_name(function, leaves, tree, around)
    if trace is not None and (ready := _read_trace(trace, count)):
        return ready
    lowered, value = _lower(function, leaves, tree)
    text = lowered.as_text()
    name = _named(function, (text, around), ".program")
    compiled = _read_program(name, count, value)
    if compiled is None:
        hits = COUNTS["kept"]
        compiled = lowered.compile(compiler_options=options or None)
        # What calls back has an address in this process. What JAX read from a cache of
        # its own, which a user may have set, cannot be written.
        can_last = "callback" not in text and COUNTS["kept"] == hits
        is_worth_it = time.perf_counter() - begun > WORTH
        if not (is_worth_it and can_last and _write_program(name, compiled)):
            return _Ready(compiled, value)
    # Libraries that a program calls, such as LAPACK, are loaded when it is lowered.
    if trace is not None and "custom_call" not in text:
        _write_trace(trace, name, value)
    return _Ready(compiled, value)


def _lower(
    function: Callable[..., Any], leaves: list[Any], tree: Any
) -> tuple[jax.stages.Lowered, _Value]:
    """The function as one of arrays, for the compiler, and what these make up."""
    values: list[_Value] = []

    def program(*arrays: Array) -> list[Array]:
        given = iter(arrays)
        whole = [next(given) if eqx.is_array(x) else x for x in leaves]
        parts, shape = jax.tree.flatten(function(*jax.tree.unflatten(tree, whole)))
        kinds = [_Leaf.ARRAY if eqx.is_array(x) else x for x in parts]
        values.append(_Value(shape, kinds))
        return [x for x in parts if eqx.is_array(x)]

    program.__name__ = _name(function)
    # Otherwise two functions that read different arguments would have one text.
    whole = jax.jit(program, keep_unused=True)
    lowered = whole.lower(*(x for x in leaves if eqx.is_array(x)))
    return lowered, values[-1]


def _trace_name(
    function: Callable[..., Any], leaves: list[Any], tree: Any, around: object
) -> str | None:
    """The file that says which program this is; `None` where that cannot be known."""
    code = _CODE.get()
    if code is None:
        return None
    kinds = [repr(jax.typeof(x)) if eqx.is_array(x) else x for x in leaves]
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    # Without a memo, which would tell a text that occurs twice from two equal ones.
    pickler.fast = True
    try:
        pickler.dump((function, jax.tree.unflatten(tree, kinds)))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        # Something has no name by which another session would know it.
        return None
    parts = file.getvalue()
    if b"__main__" in parts:
        return None
    switches = os.environ.get("EQX_ON_ERROR"), sorted(jax.config.values.items())
    double = jax.dtypes.canonicalize_dtype(float) == np.float64
    return _named(function, (code, parts, double, switches, around), ".trace")


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", "program").strip("_<>")


def _named(function: Callable[..., Any], content: object, ending: str) -> str:
    digest = hashlib.sha256(repr(content).encode()).hexdigest()
    return f"{_name(function)}-{digest[:32]}{ending}"


def _read_trace(name: str, arguments: int) -> _Ready | None:
    kept = _read(name)
    if kept is None:
        return None
    program, parts = kept
    try:
        leaves, tree = jax.tree.flatten(pickle.loads(parts["value"].data))
        value = _Value(tree, leaves)
    except Exception:
        # What it is made of may have gone from a package that no digest covers.
        return None
    compiled = _read_program(program, arguments, value)
    return compiled and _Ready(compiled, value)


def _write_trace(name: str, program: str, value: _Value) -> None:
    """Keep which program this is, unless another session could not name its value."""
    # As it is, and not its structure: in that of a module, Equinox knows absent fields
    # by an object of this process.
    try:
        content = pickle.dumps(value.of(itertools.repeat(_Leaf.ARRAY)))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return
    _write(name, program, value=content)


def _read_program(name: str, arguments: int, value: _Value) -> Any:
    """A compiled program of some arrays, where it is kept."""
    begun = time.perf_counter()
    kept = _read(name)
    if kept is None:
        return None
    content = zlib.decompress(kept[1]["program"].data)
    taken = jax.tree.structure(((0,) * arguments, {}))
    given = jax.tree.structure([x for x in value.leaves if x is _Leaf.ARRAY])
    try:
        # It runs on one device, where JAX would load it for all that there are.
        compiled = serialize_executable.deserialize_and_load(
            content, taken, given, execution_devices=jax.local_devices()[:1]
        )
    except Exception:
        # XLA says in many ways that it cannot load something: it is compiled anew.
        return None
    COUNTS["kept"] += 1
    count_compiling("compiled", time.perf_counter() - begun)
    return compiled


def _write_program(name: str, compiled: jax.stages.Compiled) -> bool:
    """Keep a compiled program, unless JAX cannot write it."""
    try:
        content = serialize_executable.serialize(compiled)[0]
    except (ValueError, NotImplementedError, jax.errors.JaxRuntimeError):
        return False
    # At the lowest level; at others it takes longer and is hardly smaller.
    _write(name, None, program=zlib.compress(content, 1))
    return True


def _read(name: str) -> tuple[Any, dict[str, np.ndarray]] | None:
    path = programs_directory() / name
    try:
        return files.read_sealed(path)
    except (OSError, files.OtherVersion):
        return None
    except files.SealError:
        text = "A compiled program was damaged on disk: it is compiled anew."
        warnings.warn(text, stacklevel=2)
    with suppress(OSError):
        path.unlink()
    return None


def _write(name: str, content: Any, **parts: bytes) -> None:
    arrays = {part: np.frombuffer(data, np.uint8) for part, data in parts.items()}
    directory = programs_directory()
    with suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        files.write_sealed(directory / name, content, arrays)


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


def make_room(limit: int = MAPPINGS, memory: int = MEMORY) -> bool:
    """Drop compiled programs if they take up too much of this process.

    Every program keeps pieces of memory mapped. Linux allows a process some 65,000
    mappings; beyond that XLA crashes without a message. Long sessions over many shapes,
    such as the whole claims table, get there, and to gigabytes. Programs that are
    needed again are read where they are kept. Mappings are counted only if something
    was compiled since the last count, which takes a millisecond.
    """
    if _CHECKED.get((limit, memory)) == compile_events():
        return False
    _CHECKED[limit, memory] = compile_events()
    try:
        mapped = Path("/proc/self/maps").read_bytes().count(b"\n")
        resident = _resident()
    except OSError:
        return False
    # Memory that programs do not hold stays after they are dropped: do not drop them
    # again until the process has grown by GROWTH since.
    if mapped <= limit and resident <= max(memory, _LEFT[0] + GROWTH):
        return False
    for program in _PROGRAMS:
        program.ready.clear()
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


# How much was compiled when mappings were last counted.
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
    if event in _DONE:
        count_compiling(_DONE[event], duration_secs)


def _count(event: str, **kwargs: str | int) -> None:
    if event == _HIT:
        COUNTS["kept"] += 1


# JAX keeps listeners for the life of the process: register exactly once.
jax.monitoring.register_event_duration_secs_listener(_listen)
jax.monitoring.register_event_listener(_count)
