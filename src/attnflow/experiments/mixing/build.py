"""From parts to an experiment: in Python by `mix`, by names of a setting in `build`."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnflow.data import Causal, NoisyLabels, Positions, PromptQuery
from attnflow.experiments import Experiment, Task
from attnflow.experiments.mixing.settings import RECORD, AbstractMix
from attnflow.models.forms import (
    Chain,
    ClassMeans,
    Initial,
    Neurons,
    Scores,
    Vector,
)
from attnflow.models.problem import (
    Classes,
    Exponential,
    Linear,
    Logistic,
    Problem,
    ReluPair,
    Squared,
    Unhinged,
)
from attnflow.schema.settings import as_record, look_up
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import RULES, Batches, Rules, trained_by
from attnflow.training.stages import BOTH

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def mix(
    task: Task,
    rule: Rules,
    until: float | Reach,
    *,
    problem: Problem | None = None,
    initial: Initial | None = None,
    trains: Sequence[str] = BOTH,
    batches: Batches | None = None,
    grid: Grid | None = None,
    record: Sequence[str] = RECORD,
    form: str = "auto",
) -> Experiment:
    """An experiment from any task, problem and rule that fit together.

    **Arguments:**

    - `task`: the data, such as `af.SignalNoiseTask()`.
    - `rule`, `until`: how it is trained, and to which time, step or event.
    - `problem`, `initial`: the model and its initial weights.
    - `trains`: the parts that move, `scores` and `values`, or weights of them, as in
      `Stage`; `batches`: what each step of a descent sees of the samples.
    - `grid`, `record`: when to record (201 times) and which observables.
    - `form`: the name of a form; the cheapest exact form without it.

    **Returns:** what `af.run` takes. Parts that do not fit each other are refused with
    the reason.

    !!! example

        >>> import attnflow as af
        >>> task = af.SignalNoiseTask(samples=4, embed=50, support=5)
        >>> experiment = af.mix(task, af.Flow(), 10.0, initial=af.Initial(width=8))
        >>> experiment.stages[0].rule.name
        'gradient flow'

        and `af.run(experiment)` runs it.
    """
    if not hasattr(task, "sequences"):
        raise ValueError(f"{task!r} is not a task: give one, such as af.MixtureTask().")
    for each in rule.values() if isinstance(rule, Mapping) else (rule,):
        if not hasattr(each, "equivariant"):
            raise ValueError(f"{each!r} is not a rule: give one, such as af.Flow().")
    problem, initial = problem or Problem(), initial or Initial()
    parts = {"task": task, "problem": problem, "initial": initial, "rule": rule}
    end = until.horizon if isinstance(until, Reach) else float(until)
    stage = Stage(rule, until, tuple(trains), batches=batches)
    return Experiment(
        paper="mix",
        id=type(task).__name__,
        setting={name: as_record(part) for name, part in parts.items()},
        task=task,
        problem=problem,
        initial=initial,
        stages=(stage,),
        grid=grid or Grid(stop=end),
        observables=tuple(record),
        form=form,
    )


def build(setting: AbstractMix) -> Experiment:
    """The experiment of a setting by names."""
    if not setting.rules:
        RULE.part_of(setting)
    experiment = mix(
        _task(setting),
        until=setting.steps,
        **trained_by(setting),
        problem=Problem(
            READOUTS.part_of(setting),
            LOSSES.part_of(setting),
            setting.score_scale,
            setting.attention,
        ),
        initial=Initial(
            setting.width,
            setting.omega,
            VALUES.part_of(setting),
            setting.start,
            setting.law,
            setting.merged,
            _scores(setting),
            setting.shared,
        ),
        batches=None if setting.batch is None else Batches(setting.batch),
        grid=Grid(
            stop=setting.steps,
            count=setting.records,
            start=setting.first_record if setting.spacing == "log" else 0.0,
            spacing=setting.spacing,
        ),
        record=setting.record,
        form=setting.form,
    )
    return dataclasses.replace(experiment, setting=dataclasses.asdict(setting))


def _task(setting: AbstractMix) -> Task:
    """The task with noise, positions and a prompt, where the setting has them."""
    task = setting.task
    if setting.flip or setting.deviation:
        task = NoisyLabels(task, setting.flip, setting.deviation)
    if setting.positions is not None:
        task = Positions(task, setting.positions)
    if setting.mask is not None:
        task = Causal(task)
    return PromptQuery(task) if setting.query == "prompt" else task


def _scores(setting: AbstractMix) -> Scores | None:
    """Keys and queries, where they begin otherwise than alike."""
    scales = setting.key_omega, setting.query_omega
    return None if scales == (None, None) else Scores(*scales)


@dataclass(frozen=True)
class Choice:
    """A part that can be chosen: what makes it, and its arguments by setting."""

    make: "type[DataclassInstance]"
    arguments: Mapping[str, str]

    @property
    def needed(self) -> list[str]:
        """Settings without which it cannot be made."""
        plain = {
            field.name
            for field in dataclasses.fields(self.make)
            if field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        }
        return [key for key, name in self.arguments.items() if name not in plain]


@dataclass(frozen=True)
class Slot:
    """A part of a model, such as its loss, and the choices for it.

    `name` is the setting that chooses; settings that are `None` take the default of
    the part.
    """

    name: str
    choices: Mapping[str, Choice]

    def part_of(self, setting: Any) -> Any:
        """The part that a setting names; an error for missing and unused options."""
        name = getattr(setting, self.name)
        choice = look_up(self.name, name, self.choices)
        every = (key for each in self.choices.values() for key in each.arguments)
        for key in dict.fromkeys(every):
            if getattr(setting, key) is not None and key not in choice.arguments:
                raise ValueError(self._unused(key, name, getattr(setting, key)))
        missing = [key for key in choice.needed if getattr(setting, key) is None]
        if missing:
            raise ValueError(
                f"{self.name}={name} needs {' and '.join(missing)}: give "
                f"{missing[0]}=…."
            )
        arguments = {
            argument: getattr(setting, key)
            for key, argument in choice.arguments.items()
            if getattr(setting, key) is not None
        }
        return choice.make(**arguments)

    def _unused(self, key: str, name: str, value: object) -> str:
        users = [n for n, choice in self.choices.items() if key in choice.arguments]
        allowed = ", ".join(self.choices[name].arguments) or "nothing"
        return (
            f"{key}={value} is not used by {self.name}={name}, which takes {allowed}. "
            f"Leave it out, or use {self.name}={' or '.join(users)}."
        )


def with_fields(make: "type[DataclassInstance]", *left_out: str) -> Choice:
    """A choice whose arguments are settings of the same names."""
    names = [field.name for field in dataclasses.fields(make)]
    return Choice(make, {name: name for name in names if name not in left_out})


READOUTS = Slot(
    "readout",
    {
        "linear": Choice(Linear, {"heads": "heads"}),
        "relu-pair": Choice(ReluPair, {"bias": "bias"}),
        "classes": Choice(Classes, {"heads": "count"}),
    },
)
LOSSES = Slot(
    "loss",
    {
        "logistic": Choice(Logistic, {}),
        "exponential": Choice(Exponential, {}),
        "squared": Choice(Squared, {}),
        "unhinged": Choice(Unhinged, {}),
    },
)
_SCALE = {"value_scale": "scale", "law": "law"}
_CHAIN = {"value_width": "width", **_SCALE, "output_scale": "output_scale"}
VALUES = Slot(
    "values",
    {
        "vector": Choice(Vector, _SCALE),
        "chain": Choice(Chain, {**_CHAIN, "output_trained": "trained"}),
        "neurons": Choice(
            Neurons, {**_CHAIN, "neurons": "count", "inner_scale": "inner_scale"}
        ),
        "class-means": Choice(ClassMeans, {**_SCALE, "neurons": "count"}),
    },
)
# What a solver or an iteration is made of in detail is set from Python.
_DETAILS = (
    "solver",
    "max_steps",
    "interpolate",
    "scale",
    "orthogonal",
    "iterations",
    "coefficients",
    "cutoff",
    "schedule",
)
RULE = Slot(
    "rule", {name: with_fields(kind, *_DETAILS) for name, kind in RULES.items()}
)
