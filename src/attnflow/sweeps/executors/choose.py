"""Executors by name."""

from attnflow.schema.names import unknown
from attnflow.sweeps.executors.base import Executor
from attnflow.sweeps.executors.here import Here
from attnflow.sweeps.executors.local import Local

NAMES = ("local", "dask", "here")


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
        from attnflow.sweeps.executors.dask import Dask

        return Dask(workers, scheduler)
    return Local(workers) if name == "local" else Here()
