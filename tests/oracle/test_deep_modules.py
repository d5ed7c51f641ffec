"""Encoder, plain words and vision transformer against PyTorch, batch by batch."""

from dataclasses import dataclass

import numpy as np
import pytest

from attnflow.data.deep_samples import LabelledTokens
from attnflow.experiments.deep import DeepModel, epochs
from attnflow.models.deep import ClassLoss, PlainWords, VisionTransformer, WordEncoder
from attnflow.training.rules import GradientDescent
from tests.oracle.deep_runs import (
    ROUNDING,
    STEPS,
    Drawn,
    course,
    largest_difference,
)

deep_torch = pytest.importorskip("tests.oracle.deep_torch")
words_torch = pytest.importorskip("tests.oracle.words_torch")

pytestmark = pytest.mark.cpus
RATE, CLIP, BATCH = 0.5, 0.05, 3


@dataclass(frozen=True)
class Sentences:
    """Words at random, each with the next one as its label."""

    samples: int = 8
    length: int = 5
    vocabulary: int = 11

    def training(self, seed):
        draw = np.random.default_rng(seed)
        text = draw.integers(self.vocabulary, size=(self.samples, self.length + 1))
        return LabelledTokens(text[:, :-1], text[:, 1:])

    def test(self, seed):
        return self.training(seed + 1000)


TEXT = Sentences()
IMAGES = Drawn(samples=8, classes=3)
CASES = {
    "encoder": (
        WordEncoder(11, TEXT.length, 6, 7, layers=2, heads=2, dropout=0.0),
        words_torch.encoder_output,
        TEXT,
    ),
    "plain": (PlainWords(11, TEXT.length, 4, layers=2), words_torch.plain_output, TEXT),
    "vision": (
        VisionTransformer(8, 4, width=6, heads=2, hidden=5, classes=3),
        words_torch.vision_output,
        IMAGES,
    ),
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name != "plain" else [])
        for name in CASES
    ],
)
def test_a_network_trains_as_pytorch_does(case):
    made, output, task = CASES[case]
    model = DeepModel(
        made,
        task,
        ClassLoss(),
        batch=BATCH,
        in_turn=True,
        steps=STEPS,
        clip=CLIP,
    )
    rule = GradientDescent(RATE)
    before, after, losses = course(model, rule, observed="batch_loss")
    samples = task.training(0)
    chosen = epochs(len(samples.label), BATCH, STEPS, None)
    batches = [(samples.tokens[each], samples.label[each]) for each in chosen]
    theirs, their_losses = deep_torch.train(
        lambda weights, tokens: output(made, weights, tokens),
        words_torch.cross_entropy,
        before,
        batches,
        deep_torch.descent(RATE, CLIP),
    )
    assert np.allclose(losses[:STEPS], their_losses, rtol=ROUNDING, atol=0)
    assert largest_difference(after, theirs) < ROUNDING
    assert largest_difference(after, before) > 1e-3
