"""Losses on test samples, against a forward pass in numpy."""

import numpy as np
import pytest

from attnflow.data import CooccurrenceTask
from attnflow.experiments import run
from attnflow.experiments.members import test_samples_of as drawn_test_samples
from attnflow.models.forms import Initial, Vector
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid
from tests.core import assert_same_to_rounding, experiment, given_weights
from tests.observables.plans import TEST

pytestmark = pytest.mark.cpus

TASK = CooccurrenceTask(samples=12, length=4, embed=8, test_samples=40)
NAMES = (*sorted(TEST), "score", "value")


def plan(task=TASK, **changes):
    return experiment(
        task=task,
        problem=Problem(Linear(1), Logistic(), score_scale=0.5),
        initial=Initial(width=16, omega=0.5, values=Vector(0.3)),
        **{"observables": NAMES, "until": 50, **changes},
    )


@pytest.fixture(scope="module")
def dataset():
    return run(plan(), seeds=(0, 1))


def forward(tokens, score, value):
    """Output of one sample: all positions are keys and queries."""
    total = 0.0
    for query in tokens:
        weight = np.exp(0.5 * score[tokens, query])
        total += (weight / weight.sum()) @ value[tokens]
    return total


def test_losses_and_accuracies_are_those_of_the_test_samples(dataset):
    import attnflow

    for seed in (0, 1):
        with attnflow.precise():
            test = drawn_test_samples(plan(), seed, None)
        label, group = np.asarray(test.label), np.asarray(test.group)
        for record in (0, -1):
            at = dataset.isel(seed=seed, time=record, head=0)
            score, value = at["score"].values, at["value"].values
            margin = label * [forward(k, score, value) for k in np.asarray(test.key)]
            loss, right = np.log1p(np.exp(-margin)), margin > 0
            assert float(at["test_loss"]) == pytest.approx(loss.mean(), rel=1e-13)
            assert float(at["test_accuracy"]) == pytest.approx(right.mean(), rel=1e-13)
            for number in range(4):
                own = group == number
                by_group = at.isel(group=number)
                actual = float(by_group["test_loss_by_group"])
                assert actual == pytest.approx(loss[own].mean(), rel=1e-13)
                actual = float(by_group["test_accuracy_by_group"])
                assert actual == pytest.approx(right[own].mean(), rel=1e-13)


def test_training_does_not_see_them(dataset):
    """Another number of test samples leaves the trajectory as it is."""
    other = run(
        plan(CooccurrenceTask(samples=12, length=4, embed=8, test_samples=60)),
        seeds=(0, 1),
    )
    # Sums over 8 coordinates and 16 directions, 4 tokens, and 12 samples of 16 pairs.
    assert_same_to_rounding(
        dataset["value"], other["value"], roundings=2 * (8 + 16 + 4) + 12 * 16, steps=50
    )
    assert (dataset["test_loss"] != other["test_loss"]).any()


@pytest.mark.parametrize("name", sorted(TEST))
def test_without_test_samples_they_are_refused(name):
    with pytest.raises(ValueError, match="There are no test samples"):
        run(experiment(observables=(name,)))


def test_groups_without_samples_are_refused():
    few = CooccurrenceTask(samples=12, length=4, embed=8, test_samples=2)
    with pytest.raises(ValueError, match="test samples of every group"):
        run(plan(few, observables=("test_loss_by_group",)))
    lone = {"tokens": np.eye(4), "key": [[0, 1, 2]], "label": [1.0], "group": [0]}
    with pytest.raises(ValueError, match="none of \\['conflicting'\\]"):
        run(
            experiment(observables=("loss_by_group",)),
            data=lone,
            weights=given_weights(),
        )
    # Sums over an empty group are fine, and so are means that are not taken by group.
    grid = Grid(points=(0.0, 5.0))
    dataset = run(
        experiment(observables=("loss", "pull_by_group"), until=5, grid=grid),
        data=lone,
        weights=given_weights(),
    )
    assert dataset["recorded"].all()
