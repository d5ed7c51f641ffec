"""What deep networks refuse, with the reason, before anything runs; their batches."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import ClassLoss, PlainWords, VisionTransformer, WordEncoder
from attnflow.observables.deep import DEEP
from attnflow.papers.signgd import PAPER
from attnflow.training import Stage
from attnflow.training.rules import Flow, GradientDescent
from tests.oracle.deep_runs import Drawn

IMAGES = VisionTransformer(8, 4, width=6, heads=2, hidden=5, classes=3)


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(IMAGES, heads=0), "heads is 0: use at least 1"),
        (lambda: replace(IMAGES, heads=4), "width is 6 and heads 4.*width=8"),
        (lambda: replace(IMAGES, layers=0), "layers is 0: use at least 1"),
        (lambda: WordEncoder(11, embed=6, heads=4), "embed is 6 and heads 4.*embed=8"),
        (lambda: WordEncoder(11, embed=7), "must be even, as in embed=8"),
        (lambda: WordEncoder(11, dropout=1.0), "dropout is 1.0"),
        (lambda: WordEncoder(11, hidden=0), "hidden is 0"),
        (lambda: PlainWords(11, embed=0), "embed is 0"),
        (lambda: DeepModel(IMAGES, Drawn(), ClassLoss(), clip=0.0), "clip is 0.0"),
    ],
)
def test_sizes_that_make_no_network(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_there_is_a_batch_after_the_last_step():
    """Its loss may be recorded then; an index beyond the end would be the last one."""
    task = Drawn(samples=8, classes=3)
    model = DeepModel(IMAGES, task, ClassLoss(), batch=2, in_turn=True, steps=3)
    ((system, state),) = model.members([0], None)
    batch = system.batch({**state, "step": 3})
    assert np.allclose(batch.tokens, task.training(0).tokens[6:8])


def test_tokens_that_are_no_words_have_no_attention_by_word(stack, precise):
    view = DEEP.view(*stack.model.members([0], None)[0])
    with pytest.raises(ValueError, match="record attention_entropy"):
        DEEP.find("attention_by_word").compute(view)


def test_seeds_that_do_not_share_memory_give_the_same_run(monkeypatch):
    """One after the other where a state is huge; what is told names no tolerance."""
    module = importlib.import_module("attnflow.experiments.run")
    recipe = PAPER.recipe("stack")
    small = {"embed": 200, "steps": 4, "test_samples": 5}
    experiment = recipe.experiment(recipe.with_overrides(small))
    together = module.run(experiment, seeds=(3, 5))
    told = []
    monkeypatch.setattr(module, "HUGE", 10)
    apart = module.run(
        experiment, seeds=(3, 5), progress=lambda *part: told.append(part)
    )
    assert set(apart.variables) == set(together.variables)
    for name, values in together.variables.items():
        assert apart[name].dims == values.dims
        if values.dtype.kind != "f":
            np.testing.assert_array_equal(apart[name], values)
            continue
        # Seeds are walked one by one or side by side: sums of 200 in another order.
        np.testing.assert_allclose(apart[name], values, rtol=0, atol=1e-13)
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert not any("tolerance" in text for _, text in told)
