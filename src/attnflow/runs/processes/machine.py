"""The cores of this machine, and how a process keeps to one of them."""

import os

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
"""Variables that give a worker one thread; they must be set before it starts."""


def worker_environment() -> dict[str, str]:
    """The variables of `ONE_THREAD` with what the user has set of them kept."""
    return {name: os.environ.get(name, value) for name, value in ONE_THREAD.items()}


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
