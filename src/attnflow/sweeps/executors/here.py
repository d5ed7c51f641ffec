"""Batches one after the other in this process: for notebooks and small sweeps."""

from collections.abc import Iterator, Sequence

from attnflow.sweeps.compute import Job
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.work import Report, work


class Here:
    """Computes in this process, which a limit of time would end."""

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches in their order."""
        if job.limit is not None:
            raise ValueError(
                f"limit={job.limit:g} cannot be kept in this process, which would have "
                "to end itself. Use executor='local' or 'dask'."
            )
        for batch in batches:
            yield work(job, batch, retry=retry)

    def close(self) -> None:
        """Nothing waits."""
