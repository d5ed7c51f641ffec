import math

import numpy as np
import pytest

from attnflow.experiments import Computation
from attnflow.models.forms import Chain, Vector
from attnflow.papers.vit import PAPER, experiments, settings
from attnflow.papers.vit.conditions import condition
from attnflow.papers.vit.sizes import sizes

pytestmark = pytest.mark.usefixtures("precise")


def build(id, **changes):
    recipe = PAPER.recipe(id)
    return recipe.experiment(recipe.with_overrides(changes))


def test_every_experiment_can_be_built():
    for recipe in PAPER.recipes:
        experiment = recipe.experiment(recipe.setting)
        assert experiment.paper == "vit"
        if isinstance(experiment, Computation):
            continue
        assert experiment.is_flow is False
        assert experiment.stages[0].until.scalar == "loss"
        assert experiment.stages[0].until.direction == "down"


def test_section_6():
    experiment = build("figure1", snr=15.6)
    assert experiment.task.signal == pytest.approx(99.84)
    assert (
        experiment.task.strong,
        experiment.task.weak,
        experiment.task.projected,
    ) == (4.0, 0.2, False)
    assert experiment.stages[0].rule.learning_rate == 0.1
    assert experiment.stages[0].until.level == 0.01
    # Uniform on ±1/√1024 over 16.
    deviation = 1 / 32 / math.sqrt(3) / 16
    assert experiment.initial.omega / math.sqrt(512) == pytest.approx(deviation)
    assert experiment.initial.law == "uniform"
    assert experiment.initial.values.scale == pytest.approx(deviation)


@pytest.mark.parametrize(
    ("readout", "scale", "trained", "output"),
    [
        ("default16-fixed", 1 / math.sqrt(3 * 512) / 16, False, "law"),
        ("default16-trained", 1 / math.sqrt(3 * 512) / 16, True, "law"),
        ("default-fixed", 1 / math.sqrt(3 * 512), False, "law"),
        ("unit-fixed", 1 / math.sqrt(512), False, "banks"),
    ],
)
def test_readings_of_the_readout(readout, scale, trained, output):
    values = build("figure1", readout=readout).initial.values
    assert isinstance(values, Chain)
    assert values.output_scale == pytest.approx(scale)
    assert (values.trained, values.output, values.law) == (trained, output, "uniform")


def test_another_norm_of_the_readout():
    experiment = build("figure1", readout="default16-fixed", gain=0.02)
    assert experiment.initial.values.output_scale**2 * 512 == pytest.approx(0.02)
    assert sizes(settings.Train(gain=0.02)).gain == 0.02


def test_appendix_a():
    benign, harmful = build("appendix-benign"), build("appendix-harmful")
    assert (benign.task.samples, benign.task.signal) == (16, 25.0)
    assert (harmful.task.samples, harmful.task.signal) == (10, 15.0)
    for experiment in (benign, harmful):
        assert (experiment.task.length, experiment.task.embed) == (4, 2048)
        assert (experiment.initial.width, experiment.initial.values.width) == (
            1024,
            256,
        )
        assert {"score", "pair_value", "attention"} <= set(experiment.observables)


@pytest.mark.parametrize("id", ["theory-benign", "theory-harmful"])
def test_the_theorys_own_sizes(id):
    setting = PAPER.recipe(id).setting
    size = sizes(setting)
    assert size.power == pytest.approx(1)
    assert size.strength == pytest.approx(setting.strength)
    items = condition(size)
    missed = {name for name, item in items.items() if not item.met}
    assert missed == {"(3)", "(6)", "(9)"}
    # ln d is 43: N = 16 misses item (3) by 2.7, ε = 0.05 item (9) by 2.1.
    assert items["(3)"].slack == pytest.approx(16 / 42.8, rel=1e-3)
    assert items["(9)"].slack == pytest.approx(1 / (0.05 * 42.8), rel=1e-3)
    slow = sizes(
        settings.Theory(strength=setting.strength, rate=1e-6, samples=45, target=0.02)
    )
    assert all(condition(slow)[name].met for name in ("(3)", "(6)", "(9)"))
    experiment = build(id)
    assert experiment.initial.values == Vector(size.sigma_v)
    assert experiment.initial.draw == "bartlett" and experiment.task.draw == "sampled"
    assert experiment.task.projected


def test_conditions_can_fail():
    size = sizes(PAPER.recipe("figure1").setting)
    unmet = {name for name, item in condition(size).items() if not item.met}
    assert unmet >= {"(1)", "(2)", "(4)", "(5)", "(6)"}
    assert condition(size)["(10)"].met
    for spread in (1.4, 2.1):
        item = condition(sizes(settings.Theory(spread=spread)))["(8)"]
        assert not item.met
    assert not condition(sizes(settings.Theory(values=1.1)))["(7)"].met


def test_recorded_steps():
    steps = experiments.recorded_steps(settings.Train(steps=1000, dense=10, records=5))
    np.testing.assert_array_equal(steps[:11], np.arange(11))
    assert steps[-1] == 1000 and len(steps) == 15
    assert experiments.recorded_steps(settings.Train(steps=3)) == (0, 1, 2, 3)


def test_nothing_of_tests_is_recorded_without_tests():
    assert build("figure1", test_samples=0).observables == ("loss",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 0}, "an integer from 1"),
        ({"target": 0.0}, "a number above 0"),
        ({"delta": 1.0}, "delta is 1.0: it is a probability"),
        ({"draw": "sampled"}, "only normal weights have the same law in every basis"),
        ({"readout": "unit"}, "readout"),
        ({"samples": 0}, "an integer from 1"),
        ({"gain": 0.0}, "gain is 0.0: .* must be positive"),
        ({"length": 1}, "length is 1"),
    ],
)
def test_bad_settings(changes, said):
    with pytest.raises(ValueError, match=said):
        build("figure1", **changes)


def test_bad_theory():
    with pytest.raises(ValueError, match="strength is -1"):
        settings.Theory(strength=-1.0)
