"""Experiments as frozen records: built from settings, with one canonical JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from jaxtyping import PyTree

from attnflow.data import Task as Task
from attnflow.models.forms import Initial
from attnflow.models.problem import Problem
from attnflow.observables.registry import Registry
from attnflow.schema.facts import AbstractPresentable, Facts
from attnflow.schema.settings import as_record, look_up, typed_setting
from attnflow.training import Grid, Stage
from attnflow.training.rules import Rule, per_part

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Arrays = Mapping[str, np.ndarray]
Setting = Mapping[str, Any]
"""A flat setting: numbers, texts and tuples of these by the names of its fields."""
STREAMS = ("data", "weights", "test", "batches")


class Model(Protocol):
    """Builds dynamical systems that are written directly, as a frozen dataclass.

    `system` says which dynamical system it is, and stands in the run's attributes;
    `registry` has the observables of that system.
    """

    system: ClassVar[str]
    registry: ClassVar[Registry]

    def refuses(self, rules: Sequence[Rule], /) -> str | None:
        """Why these rules cannot be followed; `None` if they can."""
        ...

    def members(
        self, seeds: Sequence[int], weights: Arrays | None, /
    ) -> list[tuple[PyTree, PyTree]]:
        """The system and the initial state of each seed, all of one shape."""
        ...

    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of the dims of observables."""
        ...

    def form(self) -> tuple[str, str]:
        """The name of the form, and why it is this form."""
        ...

    def drift(self, system: PyTree, before: PyTree, after: PyTree, /) -> float:
        """The drift of the quantities that a flow conserves."""
        ...


class AbstractExperiment(AbstractPresentable):
    """A frozen record of everything that decides what a run computes."""

    paper: str
    id: str
    setting: Setting
    citation: str

    def canonical(self) -> dict[str, Any]:
        """The record as JSON-able data, the same for equal records."""
        record = as_record(self)
        record.pop("citation")
        return record


@dataclass(frozen=True, repr=False)
class Experiment(AbstractExperiment):
    """An experiment: task, problem, initial weights, stages of training, and records.

    **Arguments:**

    - `paper`, `id`, `setting`: where it comes from and the flat setting it was built
      from.
    - `task`, `problem`, `initial`: data, model, initial weights.
    - `stages`: training, one stretch after the other; all flows, or all descents.
    - `grid`, `observables`: when and what to record.
    - `form`: `auto`, or the name of a form.
    - `fixed`: streams of random numbers held fixed over seeds, such as
      `{"weights": 0}`; the streams are `data`, `weights`, `test` and
      `batches`.
    """

    paper: str
    id: str
    setting: Setting
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
        unknown = sorted(set(self.fixed) - set(STREAMS))
        if unknown:
            raise ValueError(f"There are no streams {unknown}: use {STREAMS}.")
        trained = [name for stage in self.stages for name in stage.trains]
        if self.initial.stuck(trained):
            raise ValueError(
                f"Keys and queries begin at {self.initial.scales} times what their "
                "width sets: the force on either goes through the other, so that at 0 "
                "the attention never starts to move. Use omega=0.1, or train values "
                "alone."
            )
        by_weight = [rule.name for rule in rules_of(self) if not rule.equivariant]
        wide = self.initial.width == "infinite" and not self.initial.merged
        if by_weight and wide:
            raise ValueError(
                f"{by_weight[0]} acts on each weight alone, and at infinite width "
                "there are none. Use a finite width, as in width=128, or a rule that "
                "commutes with rotations (flow, gd, momentum, muon)."
            )

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
                ("setting", " ".join(typed_setting(self.setting))),
                ("task", repr(self.task)),
                ("problem", " ".join(repr(self.problem).split())),
                ("initial", repr(self.initial)),
                *_course_facts(self.stages, self.grid, self.observables),
                ("form", self.form),
                ("held fixed", ", ".join(fixed) or "nothing"),
            ),
            hint="af.run(experiment, seeds=3)",
        )


@dataclass(frozen=True, repr=False)
class SystemExperiment(AbstractExperiment):
    """Training of a dynamical system that is written directly.

    As `Experiment`, with a `model` in the place of task, problem, initial weights and
    form; stages, records, the Dataset and its address are the same.
    """

    paper: str
    id: str
    setting: Setting
    model: Model
    stages: tuple[Stage, ...]
    grid: Grid
    observables: tuple[str, ...]
    citation: str = ""

    def __post_init__(self) -> None:
        if not self.stages or len({stage.is_flow for stage in self.stages}) > 1:
            raise ValueError(
                f"The experiment has {len(self.stages)} stages: give one or more, all "
                "flows or all descents."
            )
        if any(stage.batches is not None for stage in self.stages):
            raise ValueError(
                "A system that is written directly draws its own samples: set its "
                "batch size where the model has one, and give stages no batches."
            )
        reason = self.model.refuses(rules_of(self))
        if reason:
            raise ValueError(reason)

    @property
    def is_flow(self) -> bool:
        """Whether training is by gradient flow."""
        return self.stages[0].is_flow

    def facts(self) -> Facts:
        """Which system is trained, how, and what is recorded."""
        return Facts(
            f"Experiment {self.paper}/{self.id} on the system {self.model.system}",
            (
                ("setting", " ".join(typed_setting(self.setting))),
                ("model", repr(self.model)),
                *_course_facts(self.stages, self.grid, self.observables),
            ),
            hint="af.run(experiment, seeds=3)",
        )


Trained = Experiment | SystemExperiment
"""An experiment that trains."""


def rules_of(experiment: Trained) -> list[Rule]:
    """The rules of all stages and parts."""
    by_stage = [per_part(stage.rule, stage.trains) for stage in experiment.stages]
    return [rule for rules in by_stage for rule in rules.values()]


def rule_names(experiment: Trained) -> str:
    """The names of all rules, each once."""
    return ", ".join(dict.fromkeys(rule.name for rule in rules_of(experiment)))


def _course_facts(
    stages: Sequence[Stage], grid: Grid, observables: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    return (
        ("stages", "; then ".join(map(str, stages))),
        ("records", f"{', '.join(observables)} at {grid}"),
    )


@dataclass(frozen=True, repr=False)
class Computation(AbstractExperiment):
    """An experiment that trains nothing: a linear programme, a Monte Carlo bound.

    `function` is the path `module:function` of a function of the setting and of the
    seeds that returns a Dataset with the dim `seed`. It may take `progress`, which is
    called with the fraction done and what is being done. Many experiments run as
    cells of a map are a computation too.
    """

    paper: str
    id: str
    setting: Setting
    function: str
    citation: str = ""

    def facts(self) -> Facts:
        """What is computed, by which function."""
        return Facts(
            f"Computation {self.paper}/{self.id}",
            (
                ("setting", " ".join(typed_setting(self.setting))),
                ("function", self.function),
            ),
            hint="af.run(computation)",
        )


Runnable = Trained | Computation
"""An experiment that `run` takes."""


@dataclass(frozen=True)
class Builder:
    """Builds the experiments of one paper.

    Each is called after the type of its setting, and keeps the setting itself.

    **Arguments:**

    - `paper`: the short name of the paper.
    - `citation`: the BibTeX key that its runs carry.

    !!! example

        ```python
        BUILD = Builder("needle", citation="needle2026")


        def train(setting: Train) -> Experiment:
            return BUILD.experiment(setting, task=…, problem=…, initial=…, …)
        ```
    """

    paper: str
    citation: str = ""

    def experiment(self, setting: "DataclassInstance", **parts: Any) -> Experiment:
        """Training on a task; `parts` are the other fields of `Experiment`."""
        return Experiment(**self._origin(setting), **parts)

    def system(self, setting: "DataclassInstance", **parts: Any) -> SystemExperiment:
        """A system that is written directly; `parts` as in `SystemExperiment`."""
        return SystemExperiment(**self._origin(setting), **parts)

    def computation(self, setting: "DataclassInstance", function: str) -> Computation:
        """What trains nothing: `function` is a path such as `needle.systems:bound`."""
        return Computation(**self._origin(setting), function=function)

    def computed(
        self, functions: Mapping[str, str]
    ) -> Callable[["DataclassInstance"], Computation]:
        """A function of settings, for computations of several types of setting.

        `functions` has the path of each by the name of its setting's type.
        """

        def build(setting: "DataclassInstance") -> Computation:
            name = type(setting).__name__
            path = look_up(f"computation of {self.paper} for settings", name, functions)
            return self.computation(setting, path)

        return build

    def _origin(self, setting: "DataclassInstance") -> dict[str, Any]:
        return {
            "paper": self.paper,
            "id": type(setting).__name__,
            "setting": asdict(setting),
            "citation": self.citation,
        }
