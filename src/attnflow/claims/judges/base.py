"""Judges as records: what all of them share, and several of them together."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np

from attnflow.claims import look
from attnflow.claims.base import Evidence
from attnflow.claims.checks import Finding, Measurement
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

Table: TypeAlias = "xr.DataArray | np.ndarray | float"
Measure = Callable[..., Table]
"""A function of a run, or of several runs together, that gives a table."""
Mask: TypeAlias = "Callable[..., xr.DataArray]"
EVERY = ("*",)


@dataclass(frozen=True, kw_only=True)
class AbstractJudge(abc.ABC):
    """A predicate over the runs of a claim.

    - `of`: names of the runs that it is about, or patterns of them (`N=*`).
    - `together`: the measure takes all these runs at once, as its arguments.
    """

    of: tuple[str, ...] = EVERY
    together: bool = False

    @abc.abstractmethod
    def __call__(self, evidence: Evidence) -> Finding:
        """The checks of the predicate and the numbers to print."""

    @abc.abstractmethod
    def words(self) -> str:
        """The predicate as a sentence."""

    def runs(self, evidence: Evidence) -> dict[str, tuple[xr.Dataset, ...]]:
        """The arguments of the measure, by the name under which they are printed."""
        names = [n for p in self.of for n in evidence if fnmatchcase(n, p)]
        names = list(dict.fromkeys(names))
        if not names:
            raise ValueError(
                f"No run is called {' or '.join(self.of)}. There are "
                f"{', '.join(evidence)}."
            )
        if self.together:
            return {"": tuple(evidence[name] for name in names)}
        if len(names) == 1:
            return {"": (evidence[names[0]],)}
        return {name: (evidence[name],) for name in names}


_memory: ContextVar[tuple[set[int], dict[Any, Any]] | None] = ContextVar(
    "memory", default=None
)


@contextmanager
def remembering(evidence: Evidence) -> Iterator[None]:
    """A memory of measures: each is computed once for these very runs.

    Trials change one run after another, and leave the others as they are.
    """
    token = _memory.set(({id(run) for run in evidence.values()}, {}))
    try:
        yield
    finally:
        _memory.reset(token)


def _recalled(function: Callable[..., Any], runs: Sequence[xr.Dataset]) -> Any:
    memory = _memory.get()
    if memory is None or not all(id(run) in memory[0] for run in runs):
        return function(*runs)
    key = (id(function), *map(id, runs))
    if key not in memory[1]:
        # Keeping a reference to the function prevents its id from being reused.
        memory[1][key] = (function, function(*runs))
    return memory[1][key][1]


def measured(measure: Measure, runs: Sequence[xr.Dataset]) -> xr.DataArray:
    """A measure of some runs, as a table."""
    return as_table(_recalled(measure, runs), runs)


def as_table(value: Table, runs: Sequence[xr.Dataset]) -> xr.DataArray:
    """A measure's value as a table; numbers without dims are by seed, or of all."""
    if isinstance(value, xr.DataArray):
        return value.astype(float)
    numbers = np.asarray(value, float)
    if numbers.ndim == 1 and numbers.shape == (runs[0].sizes[SEED],):
        return xr.DataArray(numbers, dims=SEED, coords={SEED: runs[0][SEED]})
    dims = [f"entry_{i}" for i in range(numbers.ndim)]
    return xr.DataArray(numbers, dims=dims)


def mask_of(
    table: xr.DataArray, when: Mask | None, runs: Sequence[xr.Dataset]
) -> xr.DataArray | None:
    """The records that are meant: what was recorded, unless `when` says otherwise."""
    if when is not None:
        return _recalled(when, runs)
    if TIME not in table.dims:
        return None
    mask = look.recorded(runs[0])
    for run in runs[1:]:
        mask = mask & look.recorded(run)
    if table.sizes[TIME] == mask.sizes[TIME]:
        # A measure may have a clock of its own; aligning by time would drop its
        # records.
        mask = mask.assign_coords({TIME: table[TIME]})
    return mask


def labelled(what: str, name: str) -> str:
    """The words of a check, with the name of its run where there are several."""
    return f"{name}: {what}" if name else what


@dataclass(frozen=True)
class All:
    """Several predicates, which must all hold; `also` is only printed.

    **Arguments:**

    - `parts`: records, or functions of the evidence.
    - `also`: by name, functions of the evidence that give numbers to print.
    """

    parts: tuple[Callable[[Evidence], Finding], ...]
    also: Mapping[str, Callable[[Evidence], Any]] = field(default_factory=dict)

    def __call__(self, evidence: Evidence) -> Finding:
        """The checks of all parts."""
        checks: list[Measurement] = []
        numbers: dict[str, Any] = {}
        for part in self.parts:
            finding = part(evidence)
            checks += finding.checks
            for name, value in finding.numbers.items():
                if name in numbers:
                    raise ValueError(
                        f"Two parts print {name!r}: give them different words."
                    )
                numbers[name] = value
        more = {name: measure(evidence) for name, measure in self.also.items()}
        return Finding(tuple(checks), {**numbers, **more})

    def words(self) -> str:
        """The predicates of all parts that are records."""
        records = [p for p in self.parts if isinstance(p, AbstractJudge | All)]
        return "; ".join(record.words() for record in records)
