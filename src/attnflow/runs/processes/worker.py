"""One spawned process: tasks in, answers out, until its pipe is closed."""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from attnflow.runs.processes.machine import pin, worker_environment

_READY = "ready"


@dataclass(frozen=True)
class Trouble:
    """Why a task has no answer: an error of its work, or the death of its workers.

    `text` is the error in one line, `details` where it happened.
    """

    text: str
    details: str = ""


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
    with _environment(worker_environment()):
        process.start()
    # Without our copy of its end, the pipe tells when the worker dies.
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
        return Trouble(f"{type(error).__name__}: {error}", traceback.format_exc())
