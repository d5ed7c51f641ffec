"""Parts that are put together, and those that do not fit; nothing is trained."""

import dataclasses
import pickle

import pytest

import attnflow as af
from attnflow.data import NoisyLabels, Positions, PromptQuery
from attnflow.experiments.mixing.settings import AbstractMix
from attnflow.papers.mix import MIX
from attnflow.training.rules import RULES

NAMES = [recipe.id for recipe in MIX.recipes]
OPTIONS = {"learning_rate": 0.1}


def build(task="mixture", **changes):
    recipe = MIX.recipe(task)
    return recipe.experiment(recipe.with_overrides(changes))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("task", NAMES)
def test_every_task_goes_with_every_rule(task, rule):
    experiment = build(task, rule=rule, **({} if rule == "flow" else OPTIONS))
    assert isinstance(experiment.stages[0].rule, RULES[rule])
    assert experiment.setting["rule"] == rule
    assert experiment.task == MIX.recipe(task).setting.task


@pytest.mark.parametrize("task", NAMES)
def test_settings_are_the_task_s_and_the_model_s(task):
    setting = MIX.recipe(task).setting
    fields = {field.name for field in dataclasses.fields(setting)}
    of_task = {field.name for field in dataclasses.fields(setting.task_kind)}
    assert fields == of_task | {field.name for field in dataclasses.fields(AbstractMix)}
    # Workers of a sweep get settings in this way.
    assert pickle.loads(pickle.dumps(setting)) == setting


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ("vector", {"value_scale": 0.1}),
        ("chain", {"value_width": 4, "value_scale": 0.1, "output_scale": 0.5}),
        (
            "neurons",
            {
                "value_width": 4,
                "neurons": 3,
                "value_scale": 0.1,
                "inner_scale": 0.2,
                "output_scale": 0.5,
            },
        ),
        ("class-means", {"neurons": 3, "value_scale": 0.1}),
    ],
)
def test_values_of_every_kind(values, options):
    experiment = build(rule="flow", values=values, law="uniform", **options)
    fields = dataclasses.asdict(experiment.initial.values)
    assert fields["scale"] == 0.1
    assert fields["law"] == "uniform"


def test_what_is_done_to_a_task():
    task = build(rule="flow", flip=0.1, positions="sum", query="prompt").task
    assert isinstance(task, PromptQuery)
    assert isinstance(task.task, Positions)
    assert task.task.task == NoisyLabels(af.MixtureTask(), 0.1)


def test_readouts_losses_schedules_and_batches():
    experiment = build(
        readout="relu-pair",
        bias=0.2,
        loss="squared",
        rule="gd",
        schedule="cosine",
        batch=4,
        **OPTIONS,
    )
    assert experiment.problem.readout.bias == 0.2
    assert isinstance(experiment.problem.loss, af.Squared)
    assert experiment.stages[0].rule.schedule is not None
    assert experiment.stages[0].batches.size == 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "rule=gd needs learning_rate"),
        ({"rule": "sgd"}, "no rule 'sgd'. Did you mean 'gd'"),
        ({"rule": "flow", **OPTIONS}, "learning_rate=0.1 is not used by rule=flow"),
        ({"rule": "flow", "schedule": "cosine"}, "nothing to schedule"),
        ({"rule": "flow", "batch": 4}, "sees all samples at once"),
        ({"rule": "flow", "values": "chain"}, "needs value_width and value_scale"),
        ({"rule": "flow", "neurons": 4}, "is not used by values=vector"),
        ({"rule": "flow", "readout": "relu-pair", "heads": 2}, "which takes bias"),
        (
            {"rule": "adam", "width": "infinite", **OPTIONS},
            "Adam acts on each weight alone, and at infinite width there are none",
        ),
        ({"rule": "flow", "lenght": 4}, "no setting 'lenght'. Did you mean 'length'"),
    ],
)
def test_what_does_not_fit_is_said(changes, message):
    with pytest.raises(ValueError) as error:
        build(**changes)
    assert message in str(error.value)


def test_parts_from_python():
    task, rule = af.SignalNoiseTask(samples=4, embed=50, support=5), af.Flow()
    experiment = af.mix(task, rule, 10.0, record=("loss",))
    assert experiment.grid.times(whole=False)[-1] == 10.0
    assert experiment.canonical()["task"]["samples"] == 4
    event = af.Reach("loss", 0.1, 50.0, "down")
    assert af.mix(task, rule, event).grid.times(whole=False)[-1] == 50.0


def test_the_program_finds_them():
    with pytest.raises(ValueError, match="mix/signal-noise, mix/disjoint-noise"):
        af.run("mix")
