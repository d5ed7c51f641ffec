"""Linear attention on drawn prompts."""

from dataclasses import dataclass

import numpy as np

import attnflow as af
from attnflow.data import random
from linear_icl.population import BUILD, spectrum
from linear_icl.settings import Linear


def sequences(prompts: np.ndarray, target: np.ndarray) -> af.Sequences:
    """Prompts of tokens (x, y), asked by the last."""
    count, length, axes = prompts.shape
    rows = np.arange(count * length).reshape(count, length)
    return af.sequences(
        prompts.reshape(-1, axes), rows, target, query=rows[:, -1:], shown=()
    )


@dataclass(frozen=True)
class PromptTask(af.Task):
    setting: Linear

    @property
    def random(self) -> bool:
        return True

    def sequences(self, *, key: object = None) -> af.Sequences:
        s, draw = self.setting, np.random.default_rng(random.as_key(key).tolist())
        x = draw.standard_normal((s.prompts, s.length + 1, s.dimension))
        x *= np.sqrt(spectrum(s.dimension))
        y = np.einsum("pnd,pd->pn", x, draw.standard_normal((s.prompts, s.dimension)))
        tokens = np.concatenate([x, y[..., None]], axis=-1)
        tokens[:, -1, -1] = 0
        return sequences(tokens, y[:, -1])


def train(setting: Linear, task: af.Task | None = None) -> af.Experiment:
    embed, merged = setting.dimension + 1, not setting.rank
    omega = setting.init if merged else setting.init / np.sqrt(setting.heads * embed)
    values = af.Vector(omega if merged else omega / embed**0.5)
    return BUILD.experiment(
        setting,
        task=task or PromptTask(setting),
        problem=af.Problem(af.Linear(setting.heads), af.Squared(1.0), law="linear"),
        initial=af.Initial(setting.rank or 1, omega, values, merged=merged),
        stages=(af.Stage(af.GradientDescent(setting.learning_rate), setting.steps),),
        grid=af.Grid(setting.steps, setting.records),
        observables=("loss",),
    )
