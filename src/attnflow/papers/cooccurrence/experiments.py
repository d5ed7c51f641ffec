"""From the settings of `cooccurrence` to experiments of the core."""

import dataclasses
import math
from typing import Any

from attnflow.data import CooccurrenceOrbits, CooccurrenceTask
from attnflow.experiments import Builder, Experiment
from attnflow.models.forms import Initial, Neurons
from attnflow.models.problem import Logistic, Problem
from attnflow.papers.cooccurrence import settings
from attnflow.papers.cooccurrence.readings import Scales, scales
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Batches, Flow, GradientDescent, rule_of

BUILD = Builder("cooccurrence", "cooccurrence2024")
SYSTEMS = "attnflow.papers.cooccurrence.systems"


def train(setting: settings.Train) -> Experiment:
    """All weights trained together on a drawn training set."""
    drawn = _scales(setting)
    task = CooccurrenceTask(
        samples=setting.samples,
        length=setting.length,
        embed=setting.embed,
        fillers=setting.fillers,
        shares=setting.shares,
        test_samples=setting.test_samples,
        shown=setting.show,
    )
    unit = _unit(setting, drawn)
    return _experiment(
        setting,
        task=task,
        form=setting.form,
        initial=_initial(setting, drawn, draw=setting.draw, follow=setting.follow),
        stages=(_stage(setting, unit),),
        grid=_grid(setting, unit),
        observables=_recorded(setting),
    )


def quotient(setting: settings.Quotient) -> Experiment:
    """The same without noise and up to symmetry."""
    drawn = scales(
        "theory",
        embed=0,
        length=setting.length,
        width=setting.width,
        neurons=setting.neurons,
        c0=setting.c0,
        c1=setting.c1,
    )
    task = CooccurrenceOrbits(
        setting.samples, setting.length, setting.unseen, setting.test_samples
    )
    unit = 1 / _gain(setting, drawn)
    flow = setting.rule == "flow"
    if not flow:
        unit /= setting.learning_rate
    rule = (
        Flow(setting.rtol, setting.atol, clock="log")
        if flow
        else GradientDescent(setting.learning_rate)
    )
    return _experiment(
        setting,
        task=task,
        form="quotient",
        initial=_initial(setting, drawn, draw="expected"),
        stages=(Stage(rule, setting.horizon * unit),),
        grid=Grid(
            start=setting.first_record * unit,
            stop=setting.horizon * unit,
            count=setting.records,
            spacing="log",
        ),
        observables=setting.record,
    )


def _scales(setting: settings.Train) -> Scales:
    drawn = scales(
        setting.reading,
        embed=setting.embed,
        length=setting.length,
        width=setting.width,
        neurons=setting.neurons,
        c0=setting.c0,
        c1=setting.c1,
    )
    return (
        dataclasses.replace(drawn, law="normal") if setting.law == "normal" else drawn
    )


def _gain(setting: Any, drawn: Scales) -> float:
    """b0 = |a|² σ1² m in the mean."""
    output = setting.neurons * drawn.output**2
    return output * drawn.inner**2 * setting.width


def _unit(setting: settings.Train, drawn: Scales) -> float:
    """What times are given in: 1, or 1/b0 beside a horizon; descents count steps."""
    if setting.horizon is None:
        return 1.0
    rate = 1.0 if setting.rule == "flow" else setting.learning_rate
    return 1 / (rate * _gain(setting, drawn))


def _end(setting: settings.Train, unit: float) -> float | Reach:
    end = setting.steps if setting.horizon is None else setting.horizon * unit
    return end if setting.level is None else Reach("loss", setting.level, end, "down")


def _grid(setting: settings.Train, unit: float) -> Grid:
    stop = setting.steps if setting.horizon is None else setting.horizon * unit
    if setting.spacing == "even":
        return Grid(stop=stop, count=setting.records)
    return Grid(
        start=setting.first_record * unit,
        stop=stop,
        count=setting.records,
        spacing="log",
    )


def _recorded(setting: settings.Train) -> tuple[str, ...]:
    """Tests are recorded where there are test samples."""
    return tuple(
        name
        for name in setting.record
        if setting.test_samples or not name.startswith("test_")
    )


def _stage(setting: settings.Train, unit: float) -> Stage:
    batches = None if setting.batch is None else Batches(setting.batch, "epochs")
    # Late training slows down like 1/t: steps of a flow should grow with time.
    rule = rule_of(setting, clock="log")
    return Stage(rule, _end(setting, unit), batches=batches)


def _initial(
    setting: Any, drawn: Scales, *, draw: settings.Draw, follow: bool = False
) -> Initial:
    values = Neurons(
        width=setting.width,
        count=setting.neurons,
        scale=drawn.first,
        inner_scale=drawn.inner,
        output_scale=drawn.output,
        output=drawn.output_kind,
        law=drawn.law,
        follow=follow,
    )
    omega = drawn.first * math.sqrt(setting.width)
    return Initial(setting.width, omega, values, draw, drawn.law)


def _experiment(setting: Any, **parts: Any) -> Experiment:
    return BUILD.experiment(
        setting,
        problem=Problem(loss=Logistic(), score_scale=setting.width**-0.5),
        **parts,
    )


computed = BUILD.computed(
    {
        "Gradients": f"{SYSTEMS}:gradients",
        "AppendixC": f"{SYSTEMS}:appendix_c",
        "Concentration": f"{SYSTEMS}:concentration",
        "TokenSvm": f"{SYSTEMS}:token_svm",
        "Conformance": f"{SYSTEMS}:conformance",
        "Conservation": f"{SYSTEMS}:conservation",
    }
)
"""What trains nothing through the forms: which function carries out each of them."""
