"""From parts to an experiment, in Python or by names."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from attnflow.data import NoisyLabels, Positions, PromptQuery
from attnflow.experiments import Experiment, Task
from attnflow.experiments.mixing import parts
from attnflow.experiments.mixing.settings import Mix
from attnflow.models.forms import Initial
from attnflow.models.problem import Problem
from attnflow.schema.settings import as_record
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import (
    AbstractSchedule,
    Batches,
    Rules,
    per_part,
    schedule_named,
)

PARTS = {"both": ("scores", "values"), "scores": ("scores",), "values": ("values",)}
RECORD = Mix().record


def mix(
    task: Task,
    rule: Rules,
    until: float | Reach,
    *,
    problem: Problem | None = None,
    initial: Initial | None = None,
    trains: Sequence[str] = PARTS["both"],
    batches: Batches | None = None,
    grid: Grid | None = None,
    record: Sequence[str] = RECORD,
    form: str = "auto",
) -> Experiment:
    """An experiment out of parts: any task, any problem and any rule that fit.

    **Arguments:**

    - `task`: the data, such as `af.SignalNoiseTask()`.
    - `rule`, `until`: how it is trained, and to which time, step or event.
    - `problem`, `initial`: the model and its initial weights.
    - `trains`: the parts that move, `scores` and `values`; `batches`: what each step
      of a descent sees of the samples.
    - `grid`, `record`: when to record (201 times) and which observables.
    - `form`: the name of one; the cheapest exact one without it.

    **Returns:** what `af.run` takes. Parts that do not fit each other are refused with
    the reason.

    !!! example

        >>> import attnflow as af
        >>> task = af.SignalNoiseTask(samples=4, embed=50, support=5)
        >>> made = af.mix(task, af.Flow(), 10.0, initial=af.Initial(width=8))
        >>> made.stages[0].rule.name
        'gradient flow'

        and `af.run(made)` runs it.
    """
    problem, initial = problem or Problem(), initial or Initial()
    chosen = {"task": task, "problem": problem, "initial": initial, "rule": rule}
    end = until.horizon if isinstance(until, Reach) else float(until)
    made = Experiment(
        paper="mix",
        id=type(task).__name__,
        setting={name: as_record(part) for name, part in chosen.items()},
        task=task,
        problem=problem,
        initial=initial,
        stages=(Stage(rule, until, tuple(trains), batches=batches),),
        grid=grid or Grid(stop=end),
        observables=tuple(record),
        form=form,
    )
    _check(made)
    return made


def build(setting: Mix) -> Experiment:
    """The experiment of a setting by names."""
    rule = parts.RULE.made(setting)
    schedule = schedule_named(setting.schedule, setting.steps)
    if schedule is not None:
        rule = _scheduled(rule, schedule, setting)
    made = mix(
        _task(setting),
        rule,
        setting.steps,
        problem=Problem(
            parts.READOUTS.made(setting),
            parts.LOSSES.made(setting),
            setting.score_scale,
        ),
        initial=Initial(
            setting.width,
            setting.omega,
            parts.VALUES.made(setting),
            setting.start,
            setting.law,
            setting.merged,
        ),
        trains=PARTS[setting.trains],
        batches=None if setting.batch is None else Batches(setting.batch),
        grid=_grid(setting),
        record=setting.record,
        form=setting.form,
    )
    return dataclasses.replace(made, setting=dataclasses.asdict(setting))


def _task(setting: Mix) -> Task:
    """The task with what is done to it."""
    task = setting.task
    if setting.flip or setting.deviation:
        task = NoisyLabels(task, setting.flip, setting.deviation)
    if setting.positions is not None:
        task = Positions(task, setting.positions)
    return PromptQuery(task) if setting.query == "prompt" else task


def _scheduled(rule: Any, schedule: AbstractSchedule, setting: Mix) -> Any:
    if not hasattr(rule, "schedule"):
        raise ValueError(
            f"schedule={setting.schedule} plays no part with rule={setting.rule}, "
            "which has no learning rate to change. Use a descent, or leave it out."
        )
    return dataclasses.replace(rule, schedule=schedule)


def _grid(setting: Mix) -> Grid:
    log = setting.spacing == "log"
    return Grid(
        stop=setting.steps,
        count=setting.records,
        start=setting.first_record if log else 0.0,
        spacing=setting.spacing,
    )


def _check(experiment: Experiment) -> None:
    """Refuse rules that act on single weights where there are none."""
    rules = per_part(experiment.stages[0].rule, experiment.stages[0].trains)
    odd = next((rule for rule in rules.values() if not rule.equivariant), None)
    initial = experiment.initial
    if odd is not None and initial.width == "infinite" and not initial.merged:
        raise ValueError(
            f"{odd.name} acts on each weight alone, and at infinite width there are "
            "none. Use a finite width, or a rule that commutes with rotations (flow, "
            "gd, momentum, muon)."
        )
