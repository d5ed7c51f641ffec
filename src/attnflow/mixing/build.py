"""From parts to an experiment, in Python or by names."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from attnflow._types import as_record
from attnflow.dynamics import Grid, Reach, Stage
from attnflow.experiment import Experiment, Task
from attnflow.forms import Initial
from attnflow.mixing import fit, parts
from attnflow.mixing.settings import Mix
from attnflow.problem import Problem
from attnflow.rules import Rules

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
    grid: Grid | None = None,
    record: Sequence[str] = RECORD,
    form: str = "auto",
) -> Experiment:
    """An experiment out of parts: any task, any problem and any rule that fit.

    **Arguments:**

    - `task`: the data, such as `af.SignalNoiseTask()`.
    - `rule`, `until`: how it is trained, and to which time, step or event.
    - `problem`, `initial`: the model and its initial weights.
    - `trains`: the parts that move, `scores` and `values`.
    - `grid`, `record`: when to record (201 times) and which observables.
    - `form`: the name of one; the cheapest exact one without it.

    **Returns:** what `af.run` takes. Parts that do not fit each other are refused with
    the reason.

    !!! example

        >>> task = af.SignalNoiseTask(samples=4, embed=50, support=5)
        >>> made = af.mix(task, af.Flow(), 10.0, initial=af.Initial(width=8))
        >>> run = af.run(made, store=False)
    """
    problem, initial = problem or Problem(), initial or Initial()
    end = until.horizon if isinstance(until, Reach) else float(until)
    made = Experiment(
        paper="mix",
        id=type(task).__name__,
        setting={"task": as_record(task), "initial": as_record(initial)},
        task=task,
        problem=problem,
        initial=initial,
        stages=(Stage(rule, until, tuple(trains)),),
        grid=grid or Grid(stop=end),
        observables=tuple(record),
        form=form,
    )
    fit.check(made)
    return made


def build(setting: Any) -> Experiment:
    """The experiment of a setting by names."""
    kind = fit.task_of(setting)
    own = {f.name: getattr(setting, f.name) for f in dataclasses.fields(kind)}
    task, rule = kind(**own), parts.RULE.made(setting)
    fit.check_pace(setting, rule)
    made = mix(
        task,
        rule,
        setting.steps,
        problem=Problem(
            parts.READOUTS.made(setting), parts.LOSSES.made(setting), setting.score_scale
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
        grid=_grid(setting),
        record=setting.record,
        form=setting.form,
    )
    return dataclasses.replace(made, setting=dataclasses.asdict(setting))


def _grid(setting: Mix) -> Grid:
    log = setting.spacing == "log"
    return Grid(
        stop=setting.steps,
        count=setting.records,
        start=setting.first_record if log else 0.0,
        spacing=setting.spacing,
    )
