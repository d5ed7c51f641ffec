"""Processes of this machine: spawned, one core and one thread each, replaceable.

A worker that dies (killed, out of memory, out of time) is replaced, and the batch that
it held is given out again; the others notice nothing.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from attnflow.sweeps.compute import Job
from attnflow.sweeps.executors.base import cores, pin, worker_environment
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.work import Report, work

_STILLBORN = 3
_READY = "ready"


@dataclass
class _Worker:
    process: Any
    pipe: Any
    core: int
    batch: Batch | None = None
    ready: bool = False


class Local:
    """Spawned processes on this machine.

    **Arguments:**

    - `workers`: how many; as many as there are cores without it.
    """

    def __init__(self, workers: int | None = None):
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}. Give 1 or more.")
        self.workers = workers or len(cores())
        self._idle: list[_Worker] = []

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches, each by the next worker that is free."""
        waiting = deque(batches)
        team = self._gather(len(waiting))
        stillborn = 0
        try:
            for worker in team:
                if worker.ready:
                    _give(worker, waiting, job, retry=retry)
            while team:
                for worker in _heard(team):
                    said = _message(worker)
                    if said is None:
                        stillborn = 0 if worker.ready else stillborn + 1
                        _check_birth(stillborn, worker)
                        team.remove(worker)
                        if worker.batch is not None:
                            waiting.appendleft(worker.batch)
                        if waiting:
                            team.append(_spawn(worker.core))
                        continue
                    worker.ready, worker.batch = True, None
                    if not _give(worker, waiting, job, retry=retry):
                        team.remove(worker)
                        self._idle.append(worker)
                    if isinstance(said, Report):
                        yield said
        finally:
            for worker in team:
                worker.process.kill()
                worker.process.join()

    def close(self) -> None:
        """Let the workers end."""
        for worker in self._idle:
            worker.pipe.close()
            worker.process.join()
        self._idle = []

    def _gather(self, batches: int) -> list[_Worker]:
        """Workers that wait since the last batches, and as many as are lacking."""
        team, self._idle = self._idle[:batches], self._idle[batches:]
        taken = [worker.core for worker in (*team, *self._idle)]
        free = sorted(cores(), key=taken.count)
        lacking = min(self.workers, batches) - len(team)
        return team + [_spawn(free[n % len(free)]) for n in range(lacking)]


def _heard(team: list[_Worker]) -> list[_Worker]:
    """The workers that said something or died; waits for the first."""
    ready = set(connection.wait([worker.pipe for worker in team]))
    return [worker for worker in team if worker.pipe in ready]


def _message(worker: _Worker) -> Any:
    """What a worker says; `None` where it is dead."""
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        return None


def _give(worker: _Worker, waiting: deque[Batch], job: Job, *, retry: bool) -> bool:
    """Give a worker the next batch; whether there was one."""
    if not waiting:
        return False
    worker.batch = waiting.popleft()
    # One that died meanwhile is heard of by its pipe.
    with suppress(OSError):
        worker.pipe.send((job, worker.batch, retry))
    return True


def _check_birth(stillborn: int, worker: _Worker) -> None:
    if stillborn >= _STILLBORN:
        raise RuntimeError(
            f"{stillborn} worker processes ended before they began (the last with exit "
            f"code {worker.process.exitcode}). A script that starts a sweep needs "
            "`if __name__ == '__main__':` around it; executor='here' has no processes."
        )


def _spawn(core: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, core), daemon=True)
    with _environment(worker_environment()):
        process.start()
    # Without our copy of its end, the pipe tells when the worker dies.
    theirs.close()
    return _Worker(process, ours, core)


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


def _serve(pipe: Any, core: int) -> None:
    """The life of a worker: batches in, reports out, until the pipe is closed."""
    # Ctrl-C reaches the whole group of processes; the driver decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pin(core)
    pipe.send(_READY)
    while True:
        try:
            job, batch, retry = pipe.recv()
        except EOFError:
            return
        try:
            report = work(job, batch, retry=retry)
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
            report = Report(batch.key, len(batch), trouble=trouble)
        with suppress(OSError):
            pipe.send(report)
