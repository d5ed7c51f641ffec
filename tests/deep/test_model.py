"""What deep networks refuse, with the reason, before anything runs."""

from dataclasses import replace

import pytest

from attnflow.deep.observables import DEEP
from attnflow.dynamics import Stage
from attnflow.papers.signgd import PAPER
from attnflow.rules import Flow, GradientDescent


@pytest.fixture(scope="module")
def stack():
    recipe = PAPER.recipe("stack")
    return recipe.experiment(recipe.setting)


def test_flows_are_refused(stack):
    with pytest.raises(ValueError, match="use a rule of descent, not a Flow"):
        replace(stack, stages=(Stage(Flow(), 1.0),))


def test_rescaled_pulls_are_for_signs_alone(stack):
    model = replace(stack.model, scaled=True)
    with pytest.raises(ValueError, match="use scaled=False"):
        replace(stack, model=model, stages=(Stage(GradientDescent(0.1), 1.0),))


def test_given_weights_are_refused(stack):
    with pytest.raises(ValueError, match="leave out weights"):
        stack.model.members([0], {"W_K": 0.0})


def test_tokens_that_are_no_words_have_no_attention_by_word(stack, precise):
    view = DEEP.view(*stack.model.members([0], None)[0])
    with pytest.raises(ValueError, match="record attention_entropy"):
        DEEP.find("attention_by_word").compute(view)
