"""Builders of the experiments of `cooccurrence` from their settings."""

import dataclasses
import math

from attnflow.data import CooccurrenceOrbits, CooccurrenceTask
from attnflow.experiments import Builder, Experiment
from attnflow.models.forms import Initial, Neurons
from attnflow.models.problem import Logistic, Problem
from attnflow.papers.cooccurrence import settings
from attnflow.papers.cooccurrence.readings import Scales, scales
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Batches, trained_by

BUILD = Builder("cooccurrence", "cooccurrence2024")
SYSTEMS = "attnflow.papers.cooccurrence.systems"


def train(setting: settings.Train) -> Experiment:
    """Training of all weights, or of one part, on a random training set."""
    deviations = _scales(setting)
    task = CooccurrenceTask(
        samples=setting.samples,
        length=setting.length,
        embed=setting.embed,
        fillers=setting.fillers,
        shares=setting.shares,
        test_samples=setting.test_samples,
        shown=setting.show,
    )
    unit = _unit(setting, deviations)
    return BUILD.experiment(
        setting,
        problem=_problem(setting.width),
        task=task,
        form=setting.form,
        initial=_initial(setting, deviations, draw=setting.draw, follow=setting.follow),
        stages=(_stage(setting, unit),),
        grid=_grid(setting, unit),
        observables=_recorded(setting),
    )


def quotient(setting: settings.Quotient) -> Experiment:
    """Training of all weights, or of one part, without noise, up to symmetry."""
    deviations = scales(
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
    unit = 1 / _gain(setting, deviations)
    if setting.rule != "flow":
        unit /= setting.learning_rate
    end = setting.horizon * unit
    return BUILD.experiment(
        setting,
        problem=_problem(setting.width),
        task=task,
        form="quotient",
        initial=_initial(setting, deviations, draw="expected"),
        stages=(Stage(until=end, **trained_by(setting, clock="log", steps=end)),),
        grid=Grid(
            start=setting.first_record * unit,
            stop=end,
            count=setting.records,
            spacing="log",
        ),
        observables=setting.record,
    )


def _scales(setting: settings.Train) -> Scales:
    deviations = scales(
        setting.reading,
        embed=setting.embed,
        length=setting.length,
        width=setting.width,
        neurons=setting.neurons,
        c0=setting.c0,
        c1=setting.c1,
    )
    return (
        dataclasses.replace(deviations, law="normal")
        if setting.law == "normal"
        else deviations
    )


def _gain(setting: settings.Train | settings.Quotient, deviations: Scales) -> float:
    """Mean of the initial readout gain, b0 = |a|² σ1² m."""
    output = setting.neurons * deviations.output**2
    return output * deviations.inner**2 * setting.width


def _unit(setting: settings.Train, deviations: Scales) -> float:
    """Unit of times: 1, or 1/b0 with a `horizon`; in steps for gradient descent."""
    if setting.horizon is None:
        return 1.0
    rate = 1.0 if setting.rule == "flow" else setting.learning_rate
    return 1 / (rate * _gain(setting, deviations))


def _end(setting: settings.Train, unit: float) -> float | Reach:
    end = _last(setting, unit)
    return end if setting.level is None else Reach("loss", setting.level, end, "down")


def _last(setting: settings.Train, unit: float) -> float:
    """When training ends at the latest."""
    return setting.steps if setting.horizon is None else setting.horizon * unit


def _grid(setting: settings.Train, unit: float) -> Grid:
    stop = _last(setting, unit)
    if setting.spacing == "even":
        return Grid(stop=stop, count=setting.records)
    return Grid(
        start=setting.first_record * unit,
        stop=stop,
        count=setting.records,
        spacing="log",
    )


def _recorded(setting: settings.Train) -> tuple[str, ...]:
    """Observables to record: those of the test set only where there is one."""
    return tuple(
        name
        for name in setting.record
        if setting.test_samples or not name.startswith("test_")
    )


def _stage(setting: settings.Train, unit: float) -> Stage:
    batches = None if setting.batch is None else Batches(setting.batch, "epochs")
    # Late training slows down like 1/t: the flow's steps should grow with time.
    rule = trained_by(setting, clock="log", steps=_last(setting, unit))
    return Stage(until=_end(setting, unit), batches=batches, **rule)


def _initial(
    setting: settings.Train | settings.Quotient,
    deviations: Scales,
    *,
    draw: settings.Draw,
    follow: bool = False,
) -> Initial:
    values = Neurons(
        width=setting.width,
        count=setting.neurons,
        scale=deviations.first,
        inner_scale=deviations.inner,
        output_scale=deviations.output,
        output=deviations.output_kind,
        law=deviations.law,
        follow=follow,
    )
    omega = deviations.first * math.sqrt(setting.width)
    return Initial(setting.width, omega, values, draw, deviations.law)


def _problem(width: int) -> Problem:
    """The logistic loss, with scores over the square root of the width."""
    return Problem(loss=Logistic(), score_scale=width**-0.5)


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
"""Builder of computations: the function that computes each type of setting."""
