"""A few steps of a deep network by ours, from the same start as PyTorch's."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import attnflow
from attnflow.data.deep_samples import LabelledTokens
from attnflow.experiments import SystemExperiment
from attnflow.experiments.deep import DeepModel
from attnflow.observables.registry import DirectObserve
from attnflow.training import Grid, Stage, stack, stack_arrays, train

STEPS = 5
# Sums of some dozen terms over five steps, relative to entries of order one.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Drawn:
    """Normal tokens; labels ±1, or numbers of classes."""

    samples: int = 6
    length: int = 4
    embed: int = 8
    classes: int | None = None

    def training(self, seed):
        draw = np.random.default_rng(seed)
        tokens = draw.standard_normal((self.samples, self.length, self.embed))
        if self.classes is None:
            return LabelledTokens(tokens, draw.choice([-1.0, 1.0], self.samples))
        return LabelledTokens(tokens, draw.integers(self.classes, size=self.samples))

    def test(self, seed):
        return self.training(seed + 1000)


def course(model: DeepModel, rule: Any, *, observed: str = "loss", seed: int = 0):
    """The weights before and after, and the losses before each step."""
    with attnflow.precise():
        system, state = model.members([seed], None)[0]
        before = numbers(state)
        plan = SystemExperiment(
            "none",
            "oracle",
            {},
            model=model,
            stages=(Stage(rule, float(STEPS)),),
            grid=Grid(points=tuple(float(t) for t in range(STEPS + 1))),
            observables=(observed,),
        )
        stacked, axes = stack([system])
        found = train(
            [(plan.stages[0], stacked, axes, None)],
            jax.tree.map(stack_arrays, state),
            seeds=1,
            times=plan.grid.times(whole=True),
            observe=DirectObserve(plan.observables, model.registry),
        )
        after = numbers(jax.tree.map(lambda leaf: leaf[0], found.state))
        return before, after, found.records.rows[observed][0]


def numbers(state):
    return {
        part: {name: np.asarray(w) for name, w in state[part].items()}
        for part in ("scores", "values")
    }


def largest_difference(one, other):
    gaps = [
        np.abs(one[part][name] - other[part][name]).max()
        for part in one
        for name in one[part]
    ]
    assert one.keys() == other.keys()
    return max(gaps)
