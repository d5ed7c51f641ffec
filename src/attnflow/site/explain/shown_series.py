"""The series that a picture of a verdict shows: those on which the verdict depends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnflow import schema
from attnflow.claims import All, Evidence, Finding, Measurement, Rule, Seeds, Verdict
from attnflow.claims.base import Judge
from attnflow.claims.decision import decide_check
from attnflow.claims.judgement import rule_of
from attnflow.claims.judges.base import as_table, mask_of
from attnflow.claims.judges.seeds import AbstractComparison, AtLeast, AtMost, Near
from attnflow.claims.stages import Detection
from attnflow.claims.trials import Reading
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr
from attnflow.site.explain.explanation import Explanation

_RANKS = (Verdict.FAILS, Verdict.INCONCLUSIVE, Verdict.HOLDS, Verdict.UNCHECKED)


@dataclass(frozen=True)
class Shown:
    """A series of a run, and the place of the seed that decides, where one does.

    `name` is that of the run in the evidence, empty where there is only one.
    """

    detection: Detection
    name: str = ""
    seed: int | None = None

    def where(self, slug: str) -> str:
        """The run in words: `mixture/figure1, ω=3`."""
        experiment = self.detection.run.attrs.get("experiment", "")
        return ", ".join(part for part in (f"{slug}/{experiment}", self.name) if part)


def shown_series(explanation: Explanation, evidence: Evidence) -> tuple[Shown, ...]:
    """Series of the run that decided: what was compared, detected, or read.

    What a record compares with a bound comes first, then what detectors read with a
    level, and without either the recorded variables that were read.
    """
    reading, judge = explanation.printed, explanation.claim.judge
    deciding = deciding_check(reading.finding, rule_of(explanation.claim))
    name = run_of(deciding, reading, evidence)
    run = evidence[name]
    seed = _seed_of(deciding, run)
    label = name if len(evidence) > 1 else ""
    found = [
        *_compared(judge, evidence, name, deciding),
        *sorted(_detected(reading, name), key=lambda item: item.level is None),
    ] or list(_recorded(reading, run, name))
    return tuple(Shown(item, label, seed) for item in found if _is_known(item.series))


def deciding_check(finding: Finding, rule: Rule) -> Measurement | None:
    """The check on which the verdict depends."""
    return next(iter(by_gravity(finding, rule)), None)


def by_gravity(finding: Finding, rule: Rule) -> list[Measurement]:
    """The checks, those on which the verdict depends first, by their margins."""

    def rank(check: Measurement) -> tuple[int, float]:
        decision = decide_check(check, rule)
        return _RANKS.index(decision.verdict), decision.margin

    return sorted(finding.checks, key=rank)


def run_of(check: Measurement | None, reading: Reading, evidence: Evidence) -> str:
    """The name of the run that a check is about; else of the first that was read."""
    what = getattr(check, "what", "")
    named = [name for name in evidence if what.startswith(f"{name}: ")]
    read = [name for name, _ in reading.reads if name in evidence]
    return [*named, *read, *evidence][0]


def _seed_of(check: Measurement | None, run: xr.Dataset) -> int | None:
    if not isinstance(check, Seeds) or len(check.margin) != run.sizes[SEED]:
        return None
    # Unknown values decide before known ones.
    margins = np.nan_to_num(np.array(check.margin), nan=-np.inf)
    return int(margins.argmin()) if len(margins) > 1 else None


def _compared(
    judge: Judge, evidence: Evidence, name: str, deciding: Measurement | None
) -> Iterator[Detection]:
    """What records compare with a bound along time, that of the deciding check."""
    parts = judge.parts if isinstance(judge, All) else (judge,)
    what = getattr(deciding, "what", "")
    for part in parts:
        if not isinstance(part, AbstractComparison) or not what.endswith(part.what):
            continue
        for runs in part.runs(evidence).values():
            if not any(run is evidence[name] for run in runs):
                continue
            table = as_table(part.measure(*runs), runs)
            if {SEED, TIME} <= set(table.dims):
                meant = mask_of(table, part.when, runs)
                table = table.where(meant).transpose(SEED, TIME, ...)
                series = table.rename(part.what)
                yield Detection(part.what, runs[0], series, _level(part, name), ())


def _level(part: AbstractComparison, name: str) -> float | None:
    bound = None
    if isinstance(part, AtLeast | AtMost):
        bound = part.bound
    elif isinstance(part, Near):
        bound = part.target
    if isinstance(bound, dict):
        bound = bound.get(name)
    return float(bound) if isinstance(bound, int | float) else None


def _detected(reading: Reading, name: str) -> list[Detection]:
    """What detectors read of a run, or of all where none of it."""
    # A judge may detect the same event several times.
    keys = [(d.name, d.level, _run_of(d), str(d.times)) for d in reading.detections]
    unique = list(dict(zip(keys, reading.detections, strict=True)).values())
    return [d for d in unique if _run_of(d) == name] or unique


def _run_of(detection: Detection) -> str:
    return str(detection.run.attrs.get("_watched", ""))


def _recorded(reading: Reading, run: xr.Dataset, name: str) -> Iterator[Detection]:
    """The recorded variables that were read; one with further dims by all entries."""
    read = [n.removesuffix(schema.AT_END) for of, n in reading.reads if of == name]
    for variable in dict.fromkeys(read or ["loss"]):
        if variable in run and {SEED, TIME} <= set(run[variable].dims):
            series = run[variable].transpose(SEED, TIME, ...)
            if series.dtype.kind == "f":
                yield Detection(variable, run, series, None, ())


def _is_known(series: xr.DataArray) -> bool:
    return bool(np.isfinite(series.values).any())
