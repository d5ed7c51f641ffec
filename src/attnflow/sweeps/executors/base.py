"""What computes batches: here, in processes of this machine, or on a cluster."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from attnflow.sweeps.compute import Job
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.work import Report


class Executor(Protocol):
    """What computes batches."""

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches, in any order, and report on each as it is done."""
        ...

    def close(self) -> None:
        """Let go of workers, which otherwise wait for more batches."""
        ...
