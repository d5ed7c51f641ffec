"""Statements along sizes: ladders, fitted slopes, large enough sizes, rare failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from attnflow import schema
from attnflow.claims.base import Evidence
from attnflow.claims.checks import Finding, HighProbability, Ladder, LargeEnough, Slope
from attnflow.claims.judges.base import AbstractJudge, Measure, measured
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

Size: TypeAlias = "str | Callable[[xr.Dataset], float]"
"""A field of the setting, a dim of the table, or a function of the run."""


def _rungs(
    measure: Measure, size: Size, runs: Sequence[xr.Dataset], *, each: bool = False
) -> tuple[list[float], list[float], int]:
    """Sizes, medians over seeds (or each seed's number), and the number of seeds."""
    table = measured(measure, runs[:1]) if len(runs) == 1 else None
    if table is not None and size in table.dims:
        parts = [(float(at[size]), at) for at in table.transpose(size, ...)]
        seeds = table.sizes.get(SEED, 1)
    else:
        parts = [(_size(size, run), measured(measure, (run,))) for run in runs]
        seeds = min(run.sizes[SEED] for run in runs)
    rungs = [(number, part.values.reshape(-1)) for number, part in parts]
    if not each:
        rungs = [(number, np.array([np.median(part)])) for number, part in rungs]
    sizes = [number for number, part in rungs for _ in part]
    return sizes, [float(value) for _, part in rungs for value in part], seeds


def _size(size: Size, run: xr.Dataset) -> float:
    return float(schema.setting_of(run)[size] if isinstance(size, str) else size(run))


def _named(measure: Size | Measure, otherwise: str) -> str:
    """A name for an axis: that of a field or of a function, where it has one."""
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", "")
    return otherwise if name in ("", "<lambda>") else name.strip("_").replace("_", " ")


@dataclass(frozen=True)
class Rungs(AbstractJudge):
    """An asymptotic statement: measured / predicted along a ladder of sizes.

    - `measure`: run → measured / predicted, by seed; the median counts, or with
      `each` every seed is a point (seeds that are independent across sizes).
    - `order`: of the ladder rule, such as `O` or `theta-tilde`.
    - `size`: a field of the setting or a function of each run; or a dim of the table,
      where one run has all sizes.
    - `constant`, `max_log_power`: see `attnflow.claims.Ladder`.
    """

    what: str
    measure: Measure
    order: Literal[
        "theta", "theta-tilde", "O", "O-tilde", "Omega", "Omega-tilde", "o(1)"
    ]
    size: Size
    constant: float = field(default=10.0, kw_only=True)
    max_log_power: float = field(default=2.0, kw_only=True)
    each: bool = field(default=False, kw_only=True)

    def __call__(self, evidence: Evidence) -> Finding:
        """The ladder, with its ratios as numbers."""
        runs = [run for (run,) in self.runs(evidence).values()]
        sizes, ratios, seeds = _rungs(self.measure, self.size, runs, each=self.each)
        check = Ladder(
            tuple(sizes),
            tuple(ratios),
            self.order,
            self.what,
            constant=self.constant,
            max_log_power=self.max_log_power,
            seeds=seeds,
            axis=_named(self.size, "size"),
        )
        return Finding((check,), {self.what: ratios, f"{self.what}, sizes": sizes})

    def words(self) -> str:
        """Which order, and within which constant."""
        return (
            f"{self.what} is {self.order} along five sizes over two decades or more, "
            f"with no change beyond a factor of {self.constant:g}"
            f"{', a point for each seed' if self.each else ''}"
        )


@dataclass(frozen=True)
class Line(AbstractJudge):
    """A fitted slope: y against x over the runs, or over a dim of one run's tables.

    `x` and `y` are measures, already transformed; medians over seeds are fitted.
    """

    what: str
    x: Measure
    y: Measure
    slope: float
    within: float

    def __call__(self, evidence: Evidence) -> Finding:
        """The slope, with its points as numbers."""
        runs = [run for (run,) in self.runs(evidence).values()]
        x, y = (_points(measure, runs) for measure in (self.x, self.y))
        seeds = min(run.sizes[SEED] for run in runs)
        axes = _named(self.x, "x, as fitted"), _named(self.y, "y, as fitted")
        check = Slope(x, y, self.slope, self.within, self.what, seeds, axes)
        return Finding((check,), {f"{self.what}, points": list(zip(x, y, strict=True))})

    def words(self) -> str:
        """Which slope, and how near."""
        return f"{self.what}: fitted slope {self.slope:g} ± {self.within:g}"


def _points(measure: Measure, runs: Sequence[xr.Dataset]) -> tuple[float, ...]:
    """Medians over seeds of all entries, run after run."""
    points: list[float] = []
    for run in runs:
        table = measured(measure, (run,))
        if SEED in table.dims:
            table = table.median(SEED, skipna=False)
        points += table.values.reshape(-1).tolist()
    return tuple(points)


@dataclass(frozen=True)
class FromSizeOn(AbstractJudge):
    """For all sizes that are large enough, a measure keeps to a bound in every seed."""

    what: str
    measure: Measure
    size: Size
    least: float | None = field(default=None, kw_only=True)
    most: float | None = field(default=None, kw_only=True)

    def __call__(self, evidence: Evidence) -> Finding:
        """Whether each size has the property."""
        runs = [run for (run,) in self.runs(evidence).values()]
        sizes = [_size(self.size, run) for run in runs]
        held = [self._holds(measured(self.measure, (run,)).values) for run in runs]
        seeds = min(run.sizes[SEED] for run in runs)
        axis = _named(self.size, "size")
        check = LargeEnough(tuple(sizes), tuple(held), self.what, seeds, axis)
        return Finding(
            (check,), {self.what: dict(zip(map(str, sizes), held, strict=True))}
        )

    def _holds(self, values: np.ndarray) -> bool | None:
        """Whether all values are between the bounds; `None` where one is not known."""
        least = -np.inf if self.least is None else self.least
        most = np.inf if self.most is None else self.most
        if ((values < least) | (values > most)).any():
            return False
        return None if np.isnan(values).any() else True

    def words(self) -> str:
        """What holds for all large sizes."""
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in (("≥", self.least), ("≤", self.most))
            if bound is not None
        ]
        return f"{self.what} {' and '.join(bounds)} from some size on"


@dataclass(frozen=True)
class Rarely(AbstractJudge):
    """Failures in draws: `failures` and `draws` count them in each run of a ladder."""

    what: str
    failures: Callable[[xr.Dataset], int]
    draws: Callable[[xr.Dataset], int]
    delta: float

    def __call__(self, evidence: Evidence) -> Finding:
        """Failures against δ, the largest size last."""
        runs = [run for (run,) in self.runs(evidence).values()]
        failures = tuple(int(self.failures(run)) for run in runs)
        draws = tuple(int(self.draws(run)) for run in runs)
        check = HighProbability(failures, draws, self.delta, self.what)
        numbers = {f"{self.what}, failures": failures, f"{self.what}, draws": draws}
        return Finding((check,), numbers)

    def words(self) -> str:
        """What may happen how often."""
        return f"with probability at most {self.delta:g}, {self.what}"
