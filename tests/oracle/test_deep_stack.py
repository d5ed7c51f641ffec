"""Stacks of attention blocks against PyTorch: outputs and a few steps of each rule."""

import numpy as np
import pytest

from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import BinaryLoss, Stack
from attnflow.training.rules import Adam, GradientDescent, SignGD
from tests.oracle.deep_runs import (
    ROUNDING,
    STEPS,
    Drawn,
    course,
    largest_difference,
)

deep_torch = pytest.importorskip("tests.oracle.deep_torch")

pytestmark = pytest.mark.cpus
TASK = Drawn()
RATE = 0.05


def network(**changes):
    return Stack(TASK.embed, 5, 3, 0.3, **changes)


CASES = {
    "two-layer": (network(), GradientDescent(RATE), deep_torch.descent(RATE)),
    "residual": (
        network(blocks=2, hidden=7, heads=2),
        Adam(RATE),
        deep_torch.adam(RATE),
    ),
    "no residual": (
        network(blocks=1, residual=False, value_rank=3, factor=0.5),
        SignGD(RATE),
        deep_torch.signs(RATE),
    ),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "residual" else [])
        for name in CASES
    ],
)
def test_a_stack_trains_as_pytorch_does(case):
    made, rule, step = CASES[case]
    model = DeepModel(made, TASK, BinaryLoss())
    before, after, losses = course(model, rule)
    samples = TASK.training(0)

    def output(weights, tokens):
        return deep_torch.stack_output(made, weights, tokens)

    batches = [(samples.tokens, samples.label)] * (STEPS + 1)
    theirs, their_losses = deep_torch.train(
        output, deep_torch.logistic, before, batches[:STEPS], step
    )
    assert np.allclose(losses[:STEPS], their_losses, rtol=ROUNDING, atol=0)
    assert losses[-1] < losses[0]
    assert largest_difference(after, theirs) < ROUNDING
    assert largest_difference(after, before) > RATE / 10


@pytest.mark.slow
def test_rescaled_pulls_have_the_same_signs():
    made = network(blocks=1, hidden=4)
    plain, scaled = (
        course(DeepModel(made, TASK, BinaryLoss(), scaled=s), SignGD(RATE))[1]
        for s in (False, True)
    )
    assert largest_difference(plain, scaled) == 0.0
