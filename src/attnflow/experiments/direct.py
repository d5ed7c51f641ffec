"""Experiments on systems that are written directly, not as a form on a problem.

Everything else is as in other experiments: stages, records, the Dataset, its address.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import jax
import xarray as xr

from attnflow.experiments.course import course_of, drifts
from attnflow.experiments.dataset import as_dataset
from attnflow.experiments.events import event_of
from attnflow.experiments.record import course_facts
from attnflow.experiments.refinement import finer, refinement
from attnflow.observables import parse
from attnflow.observables.registry import DirectObserve, Registry
from attnflow.schema.facts import Facts, Shown
from attnflow.schema.settings import as_record, typed
from attnflow.training import Grid, Reach, Stage, stack, stack_arrays
from attnflow.training.rules import Rule, per_part

Progress = Callable[[float, str], None]
Members = list[tuple[Any, Any]]


class Model(Protocol):
    """What builds systems, as a frozen dataclass.

    `system` says which dynamical system it is, and stands in the run's attributes;
    `registry` has the observables of that system.
    """

    system: ClassVar[str]
    registry: ClassVar[Registry]

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Why these rules cannot be followed; `None` if they can."""
        ...

    def members(self, seeds: Sequence[int], given: Mapping[str, Any] | None) -> Members:
        """The system and the initial state of each seed, all of one shape."""
        ...

    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of the dims of observables."""
        ...

    def form(self) -> tuple[str, str]:
        """The name of the form, and why this one."""
        ...

    def drift(self, system: Any, before: Any, after: Any) -> float:
        """The drift of what a flow conserves."""
        ...


@dataclass(frozen=True, repr=False)
class SystemExperiment(Shown):
    """Everything that decides what a run of a system computes.

    As `Experiment`, with a `model` in the place of task, problem, initial weights and
    form.
    """

    paper: str
    id: str
    setting: Mapping[str, Any]
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
        reason = self.model.refuses(self.rules)
        if reason:
            raise ValueError(reason)

    @property
    def rules(self) -> list[Rule]:
        """The rules of all stages and parts."""
        each = [per_part(stage.rule, stage.trains) for stage in self.stages]
        return [rule for rules in each for rule in rules.values()]

    @property
    def is_flow(self) -> bool:
        """Whether training is by gradient flow."""
        return self.stages[0].is_flow

    def facts(self) -> Facts:
        """Which system is trained, how, and what is recorded."""
        return Facts(
            f"Experiment {self.paper}/{self.id} on the system {self.model.system}",
            (
                ("setting", " ".join(typed(self.setting))),
                ("model", repr(self.model)),
                *course_facts(self.stages, self.grid, self.observables),
            ),
            hint="af.run(experiment, seeds=3)",
        )

    def canonical(self) -> dict[str, Any]:
        """The experiment as JSON-able data, the same for equal experiments."""
        record = as_record(self)
        record.pop("citation")
        return record


def require_none(**asked: Any) -> None:
    """Refuse what only experiments on a task can do."""
    odd = [name for name, value in asked.items() if value]
    if odd:
        raise ValueError(
            f"{' and '.join(odd)} cannot be given to an experiment on a system that "
            "is written directly: change its settings, or give its initial tables as "
            "weights."
        )


def train_directly(
    experiment: SystemExperiment,
    seeds: Sequence[int],
    given: Mapping[str, Any] | None,
    progress: Progress | None,
    *,
    check: bool = False,
) -> tuple[xr.Dataset, dict[str, str]]:
    """The run as a Dataset, and what it says of its form, rule and system."""
    model = experiment.model
    for name in experiment.observables:
        model.registry.find(name)
    members = model.members(seeds, given)
    system, axes = stack([member for member, _ in members])
    state = jax.tree.map(stack_arrays, *[first for _, first in members])
    legs = [(stage, system, axes, _event(stage, model)) for stage in experiment.stages]
    observe = DirectObserve(experiment.observables, model.registry)
    course = course_of(experiment, legs, state, observe=observe, progress=progress)
    body = as_dataset(
        experiment, list(seeds), course, model.labels(), find=model.registry.find
    )
    if experiment.is_flow:
        body["drift"] = ("seed", drifts(members, course, model.drift))
    if check:
        fine = [(finer(stage), *rest) for stage, *rest in legs]
        again = course_of(experiment, fine, state, observe=observe, progress=progress)
        body = body.assign(refinement(course, again, experiment.observables))
    name, why = model.form()
    rules = ", ".join(dict.fromkeys(rule.name for rule in experiment.rules))
    notes = {"form": name, "form_reason": why, "rule": rules, "system": model.system}
    return body, notes


def _event(stage: Stage, model: Model) -> Any:
    """What a stage waits for that does not end at a time."""
    if not isinstance(stage.until, Reach):
        return None
    known = model.registry
    scalar = parse(stage.until.scalar, dict(model.labels()), known.find)
    return event_of(stage.until, scalar, known.view)
