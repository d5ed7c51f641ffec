"""Executors compute the batches of a sweep: in this process, in others, on a cluster.

Dask workers write to the store themselves and send back no more than a report, so that
all of them must see the same directory. A batch whose workers died, or that a
restarted scheduler has forgotten, is submitted again.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Protocol

from attnflow.runs.pool import Pool, Trouble
from attnflow.runs.workers import cores, pin, worker_environment
from attnflow.schema.settings import unknown
from attnflow.sweeps.job import Job
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.worker import Report, work

if TYPE_CHECKING:
    from distributed import (
        Client,
        Future,
        LocalCluster,
        Security,
        Worker,
        WorkerPlugin,
    )

NAMES = ("local", "dask", "here")
RESUBMISSIONS = 200
"""How often a batch is submitted again before it is given up."""
POLL, MEND = 0.02, 5.0
"""Seconds between checks of what is done, and of whether workers are missing."""
PATIENCE = 20.0
"""Seconds to wait for a scheduler's first answer."""


class Executor(Protocol):
    """Computes batches."""

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches, in any order, and report on each as it is done."""
        ...

    def close(self) -> None:
        """Let go of workers, which otherwise wait for more batches."""
        ...


def choose_executor(
    name: str, *, workers: int | None = None, scheduler: str | None = None
) -> Executor:
    """The executor of this name.

    **Arguments:**

    - `workers`: how many processes; as many as there are cores without it.
    - `scheduler`: the address of a Dask cluster that runs already.
    """
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if scheduler is not None and name != "dask":
        raise ValueError(
            f"scheduler={scheduler!r} belongs to executor='dask', and executor is "
            f"{name!r}. Use executor='dask'."
        )
    if name == "dask":
        return Dask(workers, scheduler)
    return Local(workers) if name == "local" else Here()


class Here:
    """Computes batches in this process: for notebooks and small sweeps."""

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


class Local:
    """Spawned processes on this machine, one core and one thread each, replaceable.

    `workers` says how many; as many as there are cores without it.
    """

    def __init__(self, workers: int | None = None):
        # The journal of a batch decides how often it may lose its worker.
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


class Dask:
    """A cluster of `distributed`.

    **Arguments:**

    - `workers`: processes of a cluster on this machine; as many as there are cores.
    - `scheduler`: the address of a cluster that runs already, in its place.
    """

    def __init__(self, workers: int | None = None, scheduler: str | None = None):
        try:
            import distributed
        except ImportError:
            raise ValueError(
                "executor='dask' needs dask and distributed, which are not installed. "
                "Install them with: pip install 'attnflow[dask]'"
            ) from None
        if workers is not None and scheduler is not None:
            raise ValueError(
                f"workers={workers} cannot be chosen for the cluster at {scheduler}, "
                "which has its own. Leave one of them out."
            )
        if workers is not None and workers < 1:
            raise ValueError(f"workers={workers}. Give 1 or more.")
        self._distributed = distributed
        self.workers = workers or len(cores())
        self.scheduler = scheduler
        self._stack = ExitStack()
        self._client: Client | None = None
        self._cluster: LocalCluster | None = None

    def run(
        self, job: Job, batches: Sequence[Batch], *, retry: bool = False
    ) -> Iterator[Report]:
        """Compute the batches on the cluster."""
        client = self._client = self._client or self._connect()
        # Drivers that share a cluster must not wait for one another's futures.
        name = f"attnflow-{uuid.uuid4().hex[:8]}"

        def submit(batch: Batch, tries: int) -> "Future":
            key = f"{name}-{batch.key}-{tries}"
            return client.submit(work, job, batch, retry=retry, key=key, pure=False)

        futures = {submit(batch, 1): (batch, 1) for batch in batches}
        done = self._distributed.as_completed(futures)
        mended = time.monotonic()
        try:
            while futures:
                while futures and done.has_ready():
                    future = next(done)
                    batch, tries = futures.pop(future)
                    report = _report(future, batch, tries)
                    future.release()
                    if report is not None:
                        yield report
                        continue
                    again = submit(batch, tries + 1)
                    futures[again] = batch, tries + 1
                    done.add(again)
                time.sleep(POLL)
                if time.monotonic() - mended > MEND:
                    self._mend()
                    mended = time.monotonic()
        finally:
            # A cluster that stays alive need not compute results that nobody waits for.
            if futures:
                client.cancel(list(futures))

    def close(self) -> None:
        """Leave the cluster; one of our own ends."""
        self._stack.close()
        self._client = self._cluster = None

    def _mend(self) -> None:
        """Start workers anew that our own cluster has given up."""
        if self._cluster is not None and len(self._cluster.workers) < self.workers:
            self._cluster.scale(self.workers)

    def _connect(self) -> "Client":
        import dask.config

        if self.scheduler is not None:
            try:
                client = self._distributed.Client(self.scheduler, timeout=PATIENCE)
            except (OSError, TimeoutError, ValueError) as error:
                raise ValueError(
                    f"No scheduler answers at {self.scheduler}: {error}. Start one "
                    "with `dask scheduler`, or leave out --scheduler."
                ) from error
            return self._stack.enter_context(client)
        # Threads are counted when a library is loaded: variables come before that.
        settings = {
            "distributed.nanny.pre-spawn-environ": worker_environment(),
            "distributed.scheduler.allowed-failures": RESUBMISSIONS,
            "distributed.worker.memory.terminate": False,
            # They start HTTP servers even without a dashboard: these serve nothing,
            # and are stopped below.
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            # A worker that comes back late is given up, and replaced by `_mend`.
            "distributed.deploy.lost-worker-timeout": "60s",
        }
        self._stack.enter_context(dask.config.set(settings))
        options = {"processes": True, "dashboard_address": None}
        cluster = self._distributed.LocalCluster(
            n_workers=self.workers,
            threads_per_worker=1,
            silence_logs=logging.CRITICAL,
            # Others on this machine could have our workers run their code: both ends
            # of every connection show a certificate that only this process gave out.
            security=_certificate(),
            **options,
        )
        if cluster.scheduler is not None:
            cluster.scheduler.http_server.stop()
        self._stack.enter_context(cluster)
        self._cluster = cluster
        client = self._distributed.Client(cluster)
        client.register_plugin(_pinning(cores()), name="attnflow-pinning")
        return self._stack.enter_context(client)


def _certificate() -> "Security":
    """A certificate for one cluster, which ends with this process."""
    from distributed import Security

    try:
        return Security.temporary()
    except ImportError:
        raise ValueError(
            "executor='dask' needs cryptography, for connections that nobody else can "
            "use, and it is not installed: pip install 'attnflow[dask]'"
        ) from None


def _pinning(usable: list[int]) -> "WorkerPlugin":
    """A plugin that keeps workers of a local cluster on a core each, without HTTP."""
    from distributed import WorkerPlugin

    class Pinning(WorkerPlugin):
        def setup(self, worker: "Worker") -> None:
            pin(usable[int(worker.name) % len(usable)])
            if worker.http_server is not None:
                worker.http_server.stop()

    return Pinning()


def _report(future: "Future", batch: Batch, tries: int) -> Report | None:
    """The report of a future; `None` where the batch has to be tried again."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    # A report may also be lost on its way, with the worker or the scheduler.
    cancelled = (CancelledError, asyncio.CancelledError)
    try:
        return future.result()
    except (*cancelled, KilledWorker, CommClosedError, TimeoutError) as error:
        if tries <= RESUBMISSIONS:
            return None
        trouble = f"it was lost {RESUBMISSIONS} times, the last by {error!r}"
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
    return Report(batch.key, len(batch), trouble=trouble)
