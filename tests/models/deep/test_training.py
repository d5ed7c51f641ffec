"""Training until a loss that is looked at rarely, over more samples than one piece."""

from dataclasses import dataclass

import jax
import numpy as np
import pytest

from attnflow.data.deep_samples import LabelledTokens
from attnflow.experiments import SystemExperiment, run
from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import ClassLoss, VisionTransformer
from attnflow.models.deep.training import PIECE
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Adam

STEPS = 60
EVENT = {True: "event", False: "event-not-reached"}


@dataclass(frozen=True)
class Signs:
    """Two patches of two pixels; the class is the sign of the first pixel."""

    def training(self, seed):
        tokens = np.random.default_rng(seed).standard_normal((PIECE + 40, 2, 2))
        return LabelledTokens(tokens, (tokens[:, 0, 0] > 0).astype(int))

    def test(self, seed):
        return self.training(seed + 100)


def experiment(until):
    network = VisionTransformer(2, 2, width=4, heads=2, layers=1, hidden=4, classes=2)
    model = DeepModel(network, Signs(), ClassLoss(), batch=20, steps=STEPS)
    return SystemExperiment(
        paper="none",
        id="signs",
        setting={},
        model=model,
        stages=(Stage(Adam(0.02), until),),
        grid=Grid(stop=float(STEPS), count=STEPS + 1),
        observables=("loss", "test_loss"),
    )


def test_training_stops_at_the_first_look_at_its_loss():
    every, seeds = 8, (0, 1)
    whole = run(experiment(float(STEPS)), seeds=seeds)
    losses = whole["loss"].values[:, every::every]
    # One of the seeds gets there, the other does not.
    level = float(losses.min(axis=1).mean())
    until = Reach("loss", level, float(STEPS), "down", every=every)
    dataset = run(experiment(until), seeds=seeds)
    assert sorted(dataset["outcome"].values) == ["event", "event-not-reached"]
    for seed, checks in enumerate(losses):
        reached = bool((checks <= level).any())
        end = every * (1 + int(np.argmax(checks <= level))) if reached else STEPS
        assert dataset["end_time"].values[seed] == end
        assert dataset["outcome"].values[seed] == EVENT[reached]
        assert dataset["recorded"].values[seed].sum() == end + 1
        for name in ("loss", "test_loss"):
            expected = whole[name].values[seed, : end + 1]
            assert np.allclose(dataset[name].values[seed, : end + 1], expected)
            assert np.isclose(dataset[f"{name}_at_end"].values[seed, 0], expected[-1])


def test_outputs_piece_by_piece_are_those_of_all_at_once(precise):
    (system, state), *_ = experiment(1.0).model.members([0], None)
    samples = system.samples
    pieces = jax.jit(lambda state: system.outputs(state, samples))(state)
    at_once = jax.jit(lambda state: system.forward(state, samples).output)(state)
    assert len(pieces) > PIECE
    assert np.allclose(pieces, at_once, rtol=0, atol=1e-14)


def test_an_event_needs_an_observable_of_the_network():
    with pytest.raises(ValueError, match="lost"):
        run(experiment(Reach("lost", 0.1, 10.0, "down")))
