"""Phase 2 of a run, seed by seed, and ladders of its statistics over widths."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Ladder, Seeds
from attnflow.papers.cooccurrence.claims.evidence import (
    END_OF_PHASE_ONE,
    PLAN,
    WIDTHS,
    clock,
    whole,
)
from attnflow.papers.cooccurrence.claims.ladders import Kind
from attnflow.schema.declarations import Request

LARGE = (8192, 32768, 131072, 524288, 1048576)
"""Five widths over 2.1 decades, for statements about sizes.

By Lemma F.10 the readout gain b grows by m1 log²m / b in phase 2, and is
Θ(σ1² m m1) where that is small compared with b: here b grows by at most 7%. At
m = 512 it grows nearly fourfold, and every size in terms of σ1² m m1 is off by that.
"""

LARGE_CONDITION = (
    "Assumption 2.3 (exact shares, distinct fillers) and Condition 1 with c0 = c1 = "
    "0.3 in place of its logarithms: σ0 = 0.3/sqrt(L m), σ1 = 0.3/sqrt(m1); n = 60, "
    "L = 5, m1 = 64, m = 8192 … 1048576, where b stays within 7% of σ1² m m1"
)

TABLES_START = 25.0
"""First record of `tables`: b0 is random, and may be 10% below its mean."""


def tables(width: int, *, seeds: tuple[int, ...] = PLAN) -> Request:
    """Request for Phase 2 until the loss is 1/m, with tables on all tokens."""
    recorded = (
        "loss",
        "pull_by_group",
        "margin",
        "readout_gain",
        "value",
        "inner_part_rate",
        "score",
        "score_rate",
        "pooled_token",
    )
    setting = {
        "width": width,
        "level": 1.0 / width,
        "horizon": 1e7,
        "records": 21,
        "first_record": TABLES_START,
        "show": "all",
        "test_samples": 0,
        "record": recorded,
        "draw": "bartlett",
    }
    return Request("theory", setting, seeds=seeds)


def needs(
    request: Callable[[int], Request], widths: tuple[int, ...]
) -> dict[str, Request]:
    """Requests by name, one for each width."""
    return {f"m={width}": request(width) for width in widths}


ALL_WIDTHS = needs(whole, WIDTHS)
LARGE_WIDTHS = needs(whole, LARGE)
LARGE_TABLES = needs(tables, LARGE)


@dataclass(frozen=True)
class Course:
    """Phase 2 of one seed.

    - `width` m, `samples` n, `length` L, `neurons` m1.
    - `key_norm`: σ0² m, and `gain`: σ1² m m1, of the initial distribution.
    - `start`: the record at time 0; `rows`: those from b0·t = 20 to the end, with the
      coordinate `clock`, b0·t.
    """

    width: float
    samples: float
    length: int
    neurons: int
    key_norm: float
    gain: float
    start: xr.Dataset
    rows: xr.Dataset

    def __getitem__(self, name: str) -> np.ndarray:
        """Records of an observable as an array, time first."""
        return self.rows[name].values


def courses(run: xr.Dataset) -> list[Course]:
    """Phase 2 of every seed of a run under Condition 1."""
    setting = schema.setting_of(run)
    sizes = {
        "width": setting["width"],
        "samples": setting["samples"],
        "length": setting["length"],
        "neurons": setting["neurons"],
        "key_norm": setting["c0"] ** 2 / setting["length"],
        "gain": setting["c1"] ** 2 * setting["width"],
    }
    time = clock(run).transpose("seed", "time")
    clocked = run.assign_coords(clock=(("seed", "time"), time.values)).isel(head=0)
    each = (clocked.isel(seed=number) for number in range(run.sizes["seed"]))
    return [
        Course(**sizes, start=seed.isel(time=0), rows=_phase_two(seed)) for seed in each
    ]


def _phase_two(seed: xr.Dataset) -> xr.Dataset:
    inside = seed["recorded"] & (seed["clock"] >= END_OF_PHASE_ONE)
    return seed.isel(time=np.flatnonzero(inside.values))


def by_width(evidence: Evidence) -> list[tuple[float, list[Course]]]:
    """Widths, in increasing order, with the courses of their seeds."""
    pairs = [
        (schema.setting_of(run)["width"], courses(run)) for run in evidence.values()
    ]
    return sorted(pairs, key=lambda pair: pair[0])


Series = Callable[[Course], np.ndarray]
"""A course's numbers, one or several for each time."""
Pick = Callable[[np.ndarray], float]
"""The extreme that counts: `np.max` or `np.min`."""


def points(
    evidence: Evidence, series: Series, pick: Pick
) -> tuple[tuple[float, float], ...]:
    """Width and extreme value (`pick`) of a series in phase 2, for each seed."""
    return tuple(
        (width, float(pick(series(course))))
        for width, seeds in by_width(evidence)
        for course in seeds
    )


def worst(evidence: Evidence, series: Series, pick: Pick) -> dict[float, float]:
    """Extreme value (`pick`) of a series over phase 2 and seeds, by width."""
    values_by_width: dict[float, list[float]] = {}
    for width, value in points(evidence, series, pick):
        values_by_width.setdefault(width, []).append(value)
    return {
        width: float(pick(np.array(values)))
        for width, values in values_by_width.items()
    }


def ladder(
    evidence: Evidence,
    series: Series,
    what: str,
    *,
    kind: Kind,
    pick: Pick = np.max,
    constant: float = 2.0,
    max_log_power: float = 2.0,
) -> Ladder:
    """Ladder over widths of a series' extreme in phase 2, with a point for each seed.

    The logarithm that tilde kinds allow for is that of m.
    """
    size, ratio = zip(*points(evidence, series, pick), strict=True)
    return Ladder(
        size,
        ratio,
        kind,
        what,
        constant=constant,
        max_log_power=max_log_power,
        seeds=_seeds(evidence),
    )


def band(
    evidence: Evidence, series: Series, what: str, *, kind: Kind, constant: float = 2.0
) -> tuple[Ladder, Ladder]:
    """Ladders of the smallest and of the largest value of a series in phase 2."""
    low, high = (
        ladder(
            evidence, series, f"{word} {what}", kind=kind, pick=pick, constant=constant
        )
        for word, pick in (("least", np.min), ("largest", np.max))
    )
    return low, high


def everywhere(evidence: Evidence, margin: Series, what: str) -> Seeds:
    """Check that a margin is positive at all widths and times, seed by seed."""
    least_by_width = [
        [float(np.min(margin(c))) for c in each] for _, each in by_width(evidence)
    ]
    margins = [min(seed) for seed in zip(*least_by_width, strict=True)]
    return Seeds(tuple(m > 0 for m in margins), tuple(margins), what)


def extremes(evidence: Evidence, series: Series) -> dict[str, list[float]]:
    """Smallest and largest value by width, for printing."""
    return {
        "least by width": at_widths(worst(evidence, series, np.min)),
        "largest by width": at_widths(worst(evidence, series, np.max)),
    }


def over_logs(evidence: Evidence, series: Series, power: int) -> dict[str, list[float]]:
    """Largest value by width, plain and over a power of log m, for printing."""
    largest = worst(evidence, series, np.max)
    logs = [value / math.log(m) ** power for m, value in largest.items()]
    return {"over its bound": at_widths(largest), f"and over log^{power} m": logs}


def at_widths(values_by_width: Mapping[float, float]) -> list[float]:
    """Numbers by width, as a list for printing."""
    return [float(value) for value in values_by_width.values()]


def _seeds(evidence: Evidence) -> int:
    return min(run.sizes["seed"] for run in evidence.values())
