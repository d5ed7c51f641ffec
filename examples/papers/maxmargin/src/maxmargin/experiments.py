"""From settings to experiments."""

from dataclasses import dataclass

import numpy as np

import attnflow as af
from attnflow.data import random
from maxmargin.settings import Prompt

BUILD = af.Builder("maxmargin", citation="tarzanagh2023max")
LOSSES = {"logistic": af.Logistic(), "unhinged": af.Unhinged()}
PLACES = np.array([[1.0, 0.0], [-1.0, 1.0], [-0.5, -0.5]])


def sequences(keys: np.ndarray, values: np.ndarray, y: np.ndarray) -> af.Sequences:
    """What the prompt sees of tokens, with their fixed values as payloads."""
    samples, length, axes = keys.shape
    rows = np.arange(samples * length).reshape(samples, length)
    return af.sequences(keys.reshape(-1, axes), rows, y, payload=values, shown=())


@dataclass(frozen=True)
class PlaneTask(af.Task):
    setting: Prompt

    @property
    def random(self) -> bool:
        """The noise depends on the seed."""
        return True

    def sequences(self, *, key: object = None) -> af.Sequences:
        s = self.setting
        draw = np.random.default_rng(random.as_key(key).tolist())
        kind = np.r_[0, 1 + np.arange(s.length - 1) * 2 // (s.length - 1)]
        noise = draw.standard_normal((s.samples, s.length, 2))
        best = np.tile(np.where(kind == 0, 1.0, 0.5), (s.samples, 1))
        return sequences(PLACES[kind] + s.noise * noise, best, np.ones(s.samples))


def train(setting: Prompt, task: af.Task | None = None) -> af.Experiment:
    rate, epsilon = setting.learning_rate, setting.epsilon
    rules = {
        "gd": af.GradientDescent(rate),
        "normalised-gd": af.NormalisedDescent(rate, epsilon=epsilon),
    }
    return BUILD.experiment(
        setting,
        task=af.PromptQuery(task or PlaneTask(setting)),
        problem=af.Problem(af.Linear(), LOSSES[setting.loss]),
        initial=af.Initial(1, abs(setting.start) or 1.0, merged=True),
        stages=(af.Stage(rules[setting.rule], setting.steps, ("scores",)),),
        grid=af.Grid(setting.steps, setting.records),
        observables=("loss", "attention", "pair_score"),
    )
