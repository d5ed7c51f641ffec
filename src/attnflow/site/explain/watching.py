"""What a judge reads of its evidence: series that detectors see, and variables."""

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Finding
from attnflow.claims.stages import Detection, record_detections
from attnflow.schema.dims import SEED, TIME

_read: ContextVar[list[str]] = ContextVar("read")


class _Watched(xr.Dataset):
    """A run that remembers which of its variables were asked for."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        names = _read.get([])
        if isinstance(key, Hashable) and str(key) not in names:
            names.append(str(key))
        return super().__getitem__(key)


@dataclass(frozen=True)
class Seen:
    """What a claim's judge found, and what it looked at on the way.

    `looks` are the series that detectors saw; `read` has the names of the variables
    that were asked for, of any run.
    """

    finding: Finding
    looks: tuple[Detection, ...]
    read: tuple[str, ...]


def watch(judge: Callable[[Evidence], Finding], evidence: Evidence) -> Seen:
    """What a judge finds, and what it looks at."""
    watched = {name: _watched(run) for name, run in evidence.items()}
    names: list[str] = []
    token = _read.set(names)
    try:
        with record_detections() as looks:
            finding = judge(watched)
    finally:
        _read.reset(token)
    told = [name for name in names if _is_told(name)]
    return Seen(finding, tuple(looks), tuple(_without_bulk(told, evidence)))


def series_of(seen: Seen, evidence: Evidence) -> tuple[Detection, ...]:
    """Series to show: those with a level first, else recorded variables that were read.

    Variables with entries of their own are shown by all of them.
    """
    if seen.looks:
        return tuple(sorted(seen.looks, key=lambda look: look.level is None))
    run = next(iter(evidence.values()))
    names = [name.removesuffix(schema.AT_END) for name in seen.read] or ["loss"]
    return tuple(
        Detection(name, run, run[name].transpose(SEED, TIME, ...), None, ())
        for name in dict.fromkeys(names)
        if name in run and {SEED, TIME} <= set(run[name].dims)
        if run[name].dtype.kind == "f"
    )


def _without_bulk(names: list[str], evidence: Evidence) -> list[str]:
    """Without values at the ends of stages where all were taken, whatever is needed."""
    ends = {str(n) for run in evidence.values() for n in run if _is_end(str(n))}
    every = len(ends) > 1 and ends <= set(names)
    return [name for name in names if not (every and name in ends)]


def _is_end(name: str) -> bool:
    return name.endswith(schema.AT_END)


def _watched(run: xr.Dataset) -> _Watched:
    return _Watched(run.data_vars, coords=run.coords, attrs=run.attrs)


def _is_told(name: str) -> bool:
    return name not in schema.BOOKKEEPING and name not in (SEED, TIME)
