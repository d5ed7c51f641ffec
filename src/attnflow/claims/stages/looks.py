"""Which series detectors look at, and for which level: told to whoever listens."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import xarray as xr

_listener: ContextVar["list[Look] | None"] = ContextVar("listener", default=None)


@dataclass(frozen=True)
class Look:
    """A series that a detector looked at.

    **Arguments:**

    - `run`: where it comes from; `series`: with dims `(seed, time)`, and its own behind
      them where all its entries are looked at.
    - `level`: what the series had to reach; `None` where there is no such level.
    - `times`: when it did, per seed; NaN where it did not.
    """

    name: str
    run: xr.Dataset
    series: xr.DataArray
    level: float | None
    times: tuple[float, ...]


@contextmanager
def listening() -> Iterator[list[Look]]:
    """What detectors look at inside the context, in their order."""
    heard: list[Look] = []
    token = _listener.set(heard)
    try:
        yield heard
    finally:
        _listener.reset(token)


def tell(look: Look) -> None:
    """Tell whoever listens."""
    heard = _listener.get()
    if heard is not None:
        heard.append(look)
