"""Processes of this machine: spawned, one core and one thread each, replaceable."""

from collections.abc import Iterator, Sequence
from functools import partial

from attnflow.runs.pool import Pool, Trouble
from attnflow.sweeps.compute import Job
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.work import Report, work


class Local:
    """Spawned processes on this machine.

    **Arguments:**

    - `workers`: how many; as many as there are cores without it.
    """

    def __init__(self, workers: int | None = None):
        # How often a batch may lose its worker, its journal decides.
        self._pool = Pool(workers)
        self.workers = self._pool.workers

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches, each by the next worker that is free."""
        done = self._pool.run(partial(work, job, retry=retry), list(batches))
        for batch, answer in done:
            if isinstance(answer, Trouble):
                yield Report(batch.key, len(batch), trouble=answer.text)
            else:
                yield answer

    def close(self) -> None:
        """Let the workers end."""
        self._pool.close()
