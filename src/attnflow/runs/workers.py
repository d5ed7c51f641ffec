"""Worker processes: spawned, on one core and one thread each, tasks in, answers out."""

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # On one core, code that is split for several threads takes a fifth longer to
    # compile.
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false "
    "--xla_cpu_parallel_codegen_split_count=1",
    # Arrays of a megabyte go back to the system when they are freed. Otherwise the C
    # library keeps them between smaller ones, a third of what a long session holds.
    "MALLOC_MMAP_THRESHOLD_": "1000000",
    "MALLOC_ARENA_MAX": "1",
    # As in commands: see `attnflow.cli.app.main`.
    "EQX_ON_ERROR": "off",
    "ATTNFLOW_TRACES": "kept",
}
"""Variables of a worker, for one thread, little memory and no needless tracing."""


def worker_environment() -> dict[str, str]:
    """The variables of `ENVIRONMENT`, with what the user has set of them kept."""
    return {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}


def pin(core: int) -> None:
    """Keep this process on one core, where the system can.

    XLA takes as many threads as it finds cores, whatever its flags say.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def cores() -> list[int]:
    """The cores that this process may use, which in a container are not all."""
    usable = getattr(os, "sched_getaffinity", None)
    return sorted(usable(0)) if usable else list(range(os.cpu_count() or 1))


_READY = "ready"


@dataclass(frozen=True)
class Trouble:
    """Why a task has no answer: an error of its work, or the death of its workers.

    `text` is the error in one line, `details` where it happened, and `cause` what the
    operating system said, if it was that: a full disk is nobody's fault.
    """

    text: str
    details: str = ""
    cause: OSError | None = None


@dataclass
class Worker:
    """A process, our end of its pipe, and the task that it holds."""

    process: Any
    pipe: Any
    core: int
    task: Any = None
    last: Any = None
    ready: bool = False

    def give(self, work: Callable[[Any], Any], task: Any) -> None:
        """Hand over a task; a worker that died meanwhile is heard of by its pipe."""
        self.task = self.last = task
        with suppress(OSError):
            self.pipe.send((work, task))

    def hear(self) -> tuple[bool, Any]:
        """Whether it lives, and what it says: that it is ready, or an answer."""
        try:
            said = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return False, None
        self.ready = True
        return True, said

    def take(self) -> Any:
        """The task that it holds, which is then nobody's; `None` where it has none."""
        task, self.task = self.task, None
        return task

    def end(self) -> None:
        """End it at once, whatever it does."""
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        """Let it end when it is idle."""
        self.pipe.close()
        self.process.join()


def spawn(core: int, prepare: Callable[[], None] | None = None) -> Worker:
    """A new process on a core, which calls `prepare` before its first task."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, core, prepare), daemon=True)
    with _environment(worker_environment()), _without_main():
        process.start()
    # Once our copy of the worker's end is closed, the pipe ends when the worker dies.
    theirs.close()
    return Worker(process, ours, core)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Variables that a process started in the context inherits."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Let a process that starts in the context not import the user's script again.

    Tasks are records of importable modules, so that a worker needs nothing of it, and a
    script without `if __name__ == "__main__":` works.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(pipe: Any, core: int, prepare: Callable[[], None] | None) -> None:
    """The life of a worker."""
    # Ctrl-C reaches the whole group of processes; the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pin(core)
    threading.Thread(target=_end_with_driver, daemon=True).start()
    if prepare is not None:
        prepare()
    pipe.send(_READY)
    while True:
        try:
            work, task = pipe.recv()
        except (EOFError, OSError):
            # The driver closed the pipe, or died.
            return
        answer = answered(work, task)
        with suppress(OSError):
            pipe.send(answer)


def _end_with_driver() -> None:
    """End this process with the one that started it, whatever it does by then.

    A driver that is killed cannot end its workers, and a task may take minutes.
    """
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


def answered(work: Callable[[Any], Any], task: Any) -> Any:
    """What the work makes of a task, or the trouble that it has with it."""
    try:
        return work(task)
    except Exception as error:
        cause = error if isinstance(error, OSError) else None
        text = f"{type(error).__name__}: {error}"
        return Trouble(text, traceback.format_exc(), cause)
