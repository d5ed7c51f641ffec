"""Experiments as frozen records with one canonical JSON and one content address."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile
from zlib import error as BadStream

import numpy as np

from attnflow.data import Task
from attnflow.experiments.versions import code_version, setting_version
from attnflow.models.forms import Initial
from attnflow.models.problem import Problem
from attnflow.schema.facts import Facts, Shown
from attnflow.schema.settings import as_record, canonical_json, digest, typed
from attnflow.training import Grid, Stage

Given = Mapping[str, Any] | str | Path
# A type error says that the file has one array, without a name.
UNREADABLE = (ValueError, OSError, EOFError, TypeError, BadZipFile, BadStream)
STREAMS = ("data", "weights", "test", "batches")


@dataclass(frozen=True, repr=False)
class Experiment(Shown):
    """Everything that decides what a run computes.

    **Arguments:**

    - `paper`, `id`, `setting`: where it comes from and the flat setting it was built
      from.
    - `task`, `problem`, `initial`: data, model, initial weights.
    - `stages`: training, one stretch after the other; all flows, or all descents.
    - `grid`, `observables`: when and what to record.
    - `form`: `auto`, or the name of one.
    - `fixed`: streams of random numbers held fixed over seeds, such as
      `{"weights": 0}`; the streams are `data`, `weights`, `test` and
      `batches`.
    """

    paper: str
    id: str
    setting: Mapping[str, Any]
    task: Task
    problem: Problem
    initial: Initial
    stages: tuple[Stage, ...]
    grid: Grid
    observables: tuple[str, ...]
    form: str = "auto"
    fixed: Mapping[str, int] = field(default_factory=dict)
    citation: str = ""

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError(
                "The experiment has no stages, so that nothing is trained."
            )
        kinds = {stage.is_flow for stage in self.stages}
        if len(kinds) > 1:
            raise ValueError(
                "Some stages are flows and some are descents, which have different "
                "clocks: use one kind in one experiment."
            )
        odd = sorted(set(self.fixed) - set(STREAMS))
        if odd:
            raise ValueError(f"There are no streams {odd}: use {STREAMS}.")

    @property
    def is_flow(self) -> bool:
        """Whether training is by gradient flow."""
        return self.stages[0].is_flow

    def facts(self) -> Facts:
        """What is trained on what, how, and what is recorded."""
        fixed = [f"{stream} of seed {seed}" for stream, seed in self.fixed.items()]
        return Facts(
            f"Experiment {self.paper}/{self.id}",
            (
                ("setting", " ".join(typed(self.setting))),
                ("task", repr(self.task)),
                ("problem", " ".join(repr(self.problem).split())),
                ("initial", repr(self.initial)),
                *course_facts(self.stages, self.grid, self.observables),
                ("form", self.form),
                ("held fixed", ", ".join(fixed) or "nothing"),
            ),
            hint="af.run(experiment, seeds=3)",
        )

    def canonical(self) -> dict[str, Any]:
        """The experiment as JSON-able data, the same for equal experiments."""
        record = as_record(self)
        record.pop("citation")
        return record


def course_facts(
    stages: Sequence[Stage], grid: Grid, observables: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """How something is trained and what is recorded, in words."""
    return (
        ("stages", "; then ".join(map(str, stages))),
        ("records", f"{', '.join(observables)} at {grid}"),
    )


@dataclass(frozen=True, repr=False)
class Computation(Shown):
    """An experiment that trains nothing: a linear programme, a Monte Carlo bound.

    `function` is the path `module:function` of a function of the setting and of the
    seeds that returns a Dataset with the dim `seed`. It may take `progress`, which is
    called with the fraction done and what is being done. Many experiments run as
    cells of a map are one too.
    """

    paper: str
    id: str
    setting: Mapping[str, Any]
    function: str
    citation: str = ""

    def facts(self) -> Facts:
        """What is computed, by which function."""
        return Facts(
            f"Computation {self.paper}/{self.id}",
            (
                ("setting", " ".join(typed(self.setting))),
                ("function", self.function),
            ),
            hint="af.run(computation)",
        )

    def canonical(self) -> dict[str, Any]:
        """The computation as JSON-able data."""
        record = as_record(self)
        record.pop("citation")
        return record


class Addressed(Protocol):
    """A record of what a run computes: an experiment of any kind."""

    @property
    def paper(self) -> str:
        """The short name of its paper."""
        ...

    def canonical(self) -> dict[str, Any]:
        """JSON-able data, the same for equal records."""
        ...


def address(
    experiment: Addressed,
    *,
    seeds: Sequence[int],
    data: Given | None = None,
    weights: Given | None = None,
    check: bool = False,
    lift: bool = False,
) -> str:
    """The content address of a run: setting, seeds, given arrays, code version.

    A run that is checked at a finer tolerance, or that keeps its final weights, is
    another one.
    """
    version = setting_version if isinstance(experiment, Computation) else code_version
    parts = {
        "experiment": experiment.canonical(),
        "seeds": [int(seed) for seed in seeds],
        "data": fingerprint(data),
        "weights": fingerprint(weights),
        "check": check,
        "lift": lift,
        "code": version(experiment.paper),
    }
    return digest(canonical_json(parts))


def load(given: Given | None) -> dict[str, np.ndarray] | None:
    """Given arrays: a mapping, or the path of an npz file."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {str(name): np.asarray(value) for name, value in given.items()}
    path = Path(given)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give an npz file of arrays.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except UNREADABLE as problem:
        raise ValueError(
            f"{path} is not a readable npz file ({problem}): write it by numpy.savez."
        ) from problem


def fingerprint(given: Given | None) -> str | None:
    """A digest of given arrays."""
    arrays = load(given)
    if arrays is None:
        return None
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        total.update(np.ascontiguousarray(arrays[name]).data)
    return total.hexdigest()[:16]
