"""Experiments of `signgd`: builds the core's experiments from settings."""

import math
from typing import Any

import numpy as np

from attnflow.data import DisjointNoiseTask, SignalNoiseTask
from attnflow.experiments import Builder, Computation, Experiment
from attnflow.models.forms import Chain, ClassMeans, Initial
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.papers.signgd import computations, settings
from attnflow.papers.signgd.sizes import Sizes, sizes
from attnflow.papers.signgd.stages.clock import steps_at
from attnflow.papers.signgd.stages.formulas import late
from attnflow.training import Grid, Stage
from attnflow.training.rules import per_part, trained_by

BUILD = Builder("signgd", "signgd2025")
SYSTEMS = "attnflow.papers.signgd.systems"


def train(setting: settings.Train) -> Experiment:
    """Training of all weights together, on a random training set."""
    size = sizes(setting)
    rule = trained_by(setting, learning_rate=size.learning_rate)
    stage = Stage(until=float(setting.steps), **rule)
    return BUILD.experiment(
        setting,
        problem=Problem(Linear(setting.heads), Logistic()),
        task=SignalNoiseTask(
            samples=size.samples,
            embed=setting.embed,
            support=size.support,
            noise=size.sigma_p,
            length=setting.length,
            noise_tokens=setting.noise_tokens,
            orthogonal=size.orthogonal,
            classes=setting.classes,
            test_samples=setting.test_samples,
            disjoint=setting.supports == "disjoint",
        ),
        initial=_initial(size, learnable=setting.head == "learnable"),
        stages=(stage,),
        grid=Grid(points=setting.recorded_steps),
        observables=_recorded(setting, stage),
        form=setting.form,
    )


def lattice(setting: settings.Lattice) -> Experiment:
    """SignGD on disjoint supports, of which only the norms of the noise matter."""
    size = sizes(setting)
    end = late(size)["T4-_hi"]
    if end.time is None:
        raise ValueError(
            f"The horizon is in units of T4⁻, which has no value here: {end.reason}. "
            "Use a larger support, as in support=1e6."
        )
    last = setting.horizon * end.time
    steps: Any = np.ceil(steps_at(last, size.growth))
    return BUILD.experiment(
        setting,
        problem=Problem(Linear(setting.heads), Logistic()),
        task=DisjointNoiseTask(
            samples=size.samples,
            support=size.support,
            noise=size.sigma_p,
            classes="drawn",
            test_samples=setting.test_samples,
        ),
        initial=_initial(size, learnable=False),
        stages=(Stage(until=float(steps), **_growing(setting, size, steps)),),
        grid=Grid(stop=steps, count=setting.records),
        observables=setting.record,
        form=setting.form,
    )


def _growing(setting: settings.Lattice, size: Sizes, steps: float) -> dict[str, Any]:
    rate, growth = size.learning_rate, size.growth
    return trained_by(setting, learning_rate=rate, growth=growth, steps=steps)


def _recorded(setting: settings.Train, stage: Stage) -> tuple[str, ...]:
    """The observables to record, as far as the setting allows.

    Those of tests need test samples, those of gradients a form other than `weights`,
    which rules need that decay or see a gradient as a whole.
    """
    rules = per_part(stage.rule, stage.trains).values()
    plain = any(rule.weight_decay or rule.sees != "entries" for rule in rules)
    left_out = () if setting.test_samples else ("test_",)
    if setting.form == "weights" or plain or stage.is_flow:
        left_out = (*left_out, "log_mean_", "zero_signs", "tied_signs", "signs_count")
    return tuple(name for name in setting.record if not name.startswith(left_out))


def _initial(size: Sizes, *, learnable: bool) -> Initial:
    count, scale = size.value_neurons, size.sigma_0
    values = ClassMeans(count, scale)
    if learnable:
        values = Chain(2 * count, scale, output_scale=1 / count, output="banks")
    return Initial(size.key_neurons, scale * math.sqrt(size.key_neurons), values)


def naive_signs(setting: computations.NaiveSigns) -> Computation:
    """Shares of gradient signs that autodiff loses along a run."""
    return BUILD.computation(setting, f"{SYSTEMS}:naive_signs")


def updates(setting: computations.Updates) -> Computation:
    """Mean |update| of keys and queries under Adam."""
    return BUILD.computation(setting, f"{SYSTEMS}:updates")


def draws(setting: computations.Draws) -> Computation:
    """Norms and initial inner products over draws."""
    return BUILD.computation(setting, f"{SYSTEMS}:draws")
