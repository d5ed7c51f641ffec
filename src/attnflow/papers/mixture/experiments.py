"""Builders of the experiments of `mixture` from their settings."""

from typing import Any

from attnflow.data import MixtureTask
from attnflow.experiments import Builder, Experiment
from attnflow.models.forms import Initial, Vector
from attnflow.models.problem import Logistic, Problem, ReluPair
from attnflow.papers.mixture import settings
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Batches, trained_by

BUILD = Builder("mixture", "mixture2024")
SYSTEMS = "attnflow.papers.mixture.systems"
# How long to wait for a detector. The paper's times are Θ(log 1/ω) and O(1/ε); these
# are far longer for every ω and ε in float64.
PATIENCE = {"T1_level": 1e4, "T2_level": 1e4, "epsilon": 1e7}


def simultaneous(setting: settings.Simultaneous) -> Experiment:
    """Simultaneous training of all weights, or of one part, on all samples."""
    stage = Stage(
        until=setting.steps,
        **trained_by(setting),
        batches=None if setting.batch is None else Batches(setting.batch),
    )
    return _experiment(
        setting,
        stages=(stage,),
        task=MixtureTask(setting.K, setting.L, setting.population, setting.embed),
        initial=Initial(
            setting.width, setting.omega, Vector(setting.value_scale), setting.draw
        ),
        grid=Grid(stop=setting.steps, count=setting.records),
    )


def three_stage(setting: settings.ThreeStage) -> Experiment:
    """Algorithm 1, whose stages end at a time or by a detector."""
    if not 1 <= setting.stages <= 3:
        raise ValueError(f"stages is {setting.stages}; Algorithm 1 has 1 to 3 stages.")
    unit = _unit(setting)
    ends = _ends(setting, unit)
    # Stage 3 lasts Θ(1/ε): there steps should grow with time.
    first, second, third = (
        _rule(setting, unit, part, clock=clock)
        for part, clock in (("values", None), ("scores", None), ("values", "log"))
    )
    stages = (
        Stage(until=ends[0], name="1: neurons", **first),
        Stage(until=ends[1], group="conflicting", name="2: attention", **second),
        Stage(until=ends[2], name="3: neurons", **third),
    )[: setting.stages]
    return _experiment(
        setting,
        stages=stages,
        task=MixtureTask(setting.K, setting.L, setting.population),
        initial=Initial(setting.width, setting.omega, draw=setting.draw),
        grid=Grid(
            start=0.0 if setting.spacing == "linear" else setting.first_record / unit,
            stop=(setting.last_record or _horizon(setting)) / unit,
            count=setting.records,
            spacing=setting.spacing,
        ),
    )


def _rule(
    setting: settings.ThreeStage, unit: float, part: str, *, clock: str | None
) -> dict[str, Any]:
    """What trains one layer, with schedules over the whole record."""
    steps = (setting.last_record or _horizon(setting)) / unit
    # This paper's ε is a loss; that of Adam is its own.
    options = {"clock": clock, "steps": steps, "epsilon": None}
    return trained_by(setting, only=(part,), **options)


def _ends(setting: settings.ThreeStage, unit: float) -> list[float | Reach]:
    def end(time: float | None, scalar: str, level: float, wait: str) -> float | Reach:
        if time is not None:
            return time / unit
        down = "down" if scalar == "loss" else "up"
        return Reach(scalar, level, PATIENCE[wait] / unit, down)

    first = setting.T1 / unit
    if setting.T1_level is not None:
        first = end(None, "value[+,c1]", setting.T1_level, "T1_level")
    return [
        first,
        end(setting.T2, "score[+,c1,v1]", setting.T2_level, "T2_level"),
        end(setting.T3, "loss", setting.epsilon, "epsilon"),
    ]


def _horizon(setting: settings.ThreeStage) -> float:
    """The last time of the record grid: later than T3 in all our settings."""
    if setting.stages == 3:
        return setting.T3 or 1000 + 100 / setting.epsilon
    return setting.T2 or 2000.0


def stage_one(setting: settings.StageOne) -> Experiment:
    """Stage 1, with an event when the positive head switches off on c1, −v1, −v2."""
    unit = _unit(setting)
    end = setting.T1 / unit
    rule = trained_by(setting, only=("values",), steps=end)
    off = Reach("head_output[c1 -v1 -v2,+]", -setting.bias, end, "down")
    stages = (
        Stage(until=off, name="1.1: all active", **rule),
        Stage(until=end, name="1.2: switched off", **rule),
    )
    return _experiment(
        setting,
        stages=stages,
        task=MixtureTask(),
        initial=Initial(setting.width, setting.omega),
        grid=Grid(stop=end, count=setting.records),
    )


def _unit(setting: settings.ThreeStage | settings.StageOne) -> float:
    """The time of a step: times of the flow are those of descents over this."""
    return 1.0 if setting.rule == "flow" else setting.learning_rate


def _experiment(
    setting: settings.Trained,
    *,
    task: MixtureTask,
    initial: Initial,
    stages: tuple[Stage, ...],
    grid: Grid,
) -> Experiment:
    return BUILD.experiment(
        setting,
        task=task,
        initial=initial,
        stages=stages,
        grid=grid,
        problem=Problem(ReluPair(setting.bias), Logistic()),
        observables=setting.record,
        form=setting.form,
    )


computed = BUILD.computed(
    {
        "Construction": f"{SYSTEMS}:constructions",
        "Separability": f"{SYSTEMS}:separable_patterns",
        "InitialMargin": f"{SYSTEMS}:initial_margins",
        "Concentration": f"{SYSTEMS}:initial_products",
        "Conformance": f"{SYSTEMS}:conformances",
    }
)
"""Computations without training: the function that carries out each of them."""
