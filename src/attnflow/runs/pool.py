"""Spawned processes that share tasks: replaceable, and kept for the next tasks.

A worker that dies (killed, out of memory, out of time) is replaced, and the task that
it held is given out again; the others notice nothing. `concurrent.futures` breaks as a
whole then.
"""

from collections import Counter
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from multiprocessing import connection
from typing import Any, TypeVar

from attnflow.runs.workers import Trouble, Worker, answered, cores, spawn

T = TypeVar("T")

Pick = Callable[[Sequence[Any], Any, Sequence[Any]], int]
"""Index of the next task, from the waiting ones, the worker's last and the others'."""

_STILLBORN = 3


def _first(waiting: Sequence[Any], last: Any, others: Sequence[Any]) -> int:
    return 0


class Pool:
    """Spawned processes on this machine, each on a core of its own.

    **Arguments:**

    - `workers`: how many; as many as there are cores without it.
    - `prepare`: what each of them calls before its first task.
    - `deaths`: how many workers a task may lose; any number without it.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        prepare: Callable[[], None] | None = None,
        deaths: int | None = None,
    ):
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}. Give 1 or more.")
        self.workers = workers or len(cores())
        self.prepare = prepare
        self.deaths = deaths
        self._idle: list[Worker] = []
        self._stillborn = 0

    def run(
        self, work: Callable[[T], Any], waiting: MutableSequence[T], pick: Pick = _first
    ) -> Iterator[tuple[T, Any]]:
        """Each task with its answer, or with its `Trouble`, as they are done.

        Tasks leave `waiting` as they are given out; whoever iterates may add more.
        """
        team: list[Worker] = []
        lost: Counter[int] = Counter()
        try:
            self._engage(team, work, waiting, pick)
            while team:
                for worker in _heard(team):
                    team.remove(worker)
                    task = worker.take()
                    lives, answer = worker.hear()
                    if lives:
                        self._stillborn = 0
                        self._idle.append(worker)
                        # A later task may get the same id.
                        lost.pop(id(task), None)
                    else:
                        self._mourn(worker)
                        lost[id(task)] += 1
                        answer = Trouble(_died(lost[id(task)]))
                        if task is not None and self._retries(lost[id(task)]):
                            waiting.insert(0, task)
                            task = None
                    self._engage(team, work, waiting, pick)
                    if task is not None:
                        yield task, answer
                self._engage(team, work, waiting, pick)
        finally:
            for worker in team:
                worker.end()

    def close(self) -> None:
        """Let the workers end."""
        for worker in self._idle:
            worker.close()
        self._idle = []

    def _engage(
        self,
        team: list[Worker],
        work: Callable[[Any], Any],
        waiting: MutableSequence[Any],
        pick: Pick,
    ) -> None:
        """Give waiting tasks to idle workers, and start as many as are lacking."""
        while waiting and self._idle:
            worker = self._idle.pop(0)
            others = [other.task for other in team if other.task is not None]
            worker.give(work, waiting.pop(pick(waiting, worker.last, others)))
            team.append(worker)
        starting = sum(not worker.ready for worker in team)
        lacking = min(self.workers - len(team), len(waiting) - starting)
        for _ in range(lacking):
            taken = [worker.core for worker in team]
            team.append(spawn(min(cores(), key=taken.count), self.prepare))

    def _retries(self, lost: int) -> bool:
        return self.deaths is None or lost < self.deaths

    def _mourn(self, worker: Worker) -> None:
        """Give up where workers die before they begin, one after the other."""
        self._stillborn = 0 if worker.ready else self._stillborn + 1
        if self._stillborn >= _STILLBORN:
            raise RuntimeError(
                f"{self._stillborn} worker processes ended before they began (the last "
                f"with exit code {worker.process.exitcode}). Work in this process "
                "alone instead: workers=0, or a sweep with executor='here'."
            )


class Here:
    """The tasks one after the other in this process, with the face of a `Pool`."""

    workers = 1

    def run(
        self, work: Callable[[T], Any], waiting: MutableSequence[T], pick: Pick = _first
    ) -> Iterator[tuple[T, Any]]:
        """Each task with its answer, or with its `Trouble`."""
        task = None
        while waiting:
            task = waiting.pop(pick(waiting, task, ()))
            yield task, answered(work, task)

    def close(self) -> None:
        """Nothing waits."""


def _heard(team: list[Worker]) -> list[Worker]:
    """The workers that said something or died; waits for the first."""
    ready = set(connection.wait([worker.pipe for worker in team]))
    return [worker for worker in team if worker.pipe in ready]


def _died(times: int) -> str:
    return f"{times} worker processes died while they worked on it."
