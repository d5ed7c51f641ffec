"""From settings to experiments."""

from dataclasses import dataclass

import numpy as np

import attnflow as af
from attnflow.data import random
from selection.settings import Selection

BUILD = af.Builder("selection", citation="sakamoto2025benign")
RECORD = ("loss", "accuracy", "attention", "test_loss", "test_accuracy")


def sequences(
    x: np.ndarray, y: np.ndarray, nu: np.ndarray, wrong: np.ndarray
) -> af.Sequences:
    samples, length, embed = x.shape
    rows = np.arange(samples * length).reshape(samples, length)
    return af.sequences(
        x.reshape(-1, embed),
        rows,
        y,
        payload=x @ nu,
        group=wrong.astype(int),
        group_names=("clean", "noisy"),
        shown=(),
    )


@dataclass(frozen=True)
class SelectionTask(af.Task):
    """Token 0 is relevant, 1 weakly so, 2 weakly of the other class, others noise."""

    setting: Selection

    @property
    def random(self) -> bool:
        return self.setting.data_seed is None

    def sequences(self, *, key: object = None) -> af.Sequences:
        count = self.setting.samples
        wrong = np.zeros(count, bool)
        share = int(count * self.setting.noise_ratio) // 2
        for first in (0, count // 2):
            wrong[first : first + share] = True
        return self._draw(count, wrong, key)

    def test_sequences(self, *, key: object = None) -> af.Sequences:
        """Test samples, with right labels."""
        count = self.setting.test_samples
        return self._draw(count, np.zeros(count, bool), key)

    def _draw(self, count: int, wrong: np.ndarray, key: object) -> af.Sequences:
        s = self.setting
        seed = random.as_key(key).tolist() if s.data_seed is None else s.data_seed
        x = np.random.default_rng(seed).standard_normal((count, s.length, s.embed))
        label = np.where(np.arange(count) < count // 2, 1, -1)
        own, other = np.where(label > 0, 0, 1), np.where(label > 0, 1, 0)
        for token, (axis, size) in enumerate([(own, 1), (own, s.rho), (other, s.rho)]):
            x[np.arange(count), token, axis] += size * s.signal
        nu = np.eye(1, s.embed)[0] - np.eye(1, s.embed, 1)[0]
        nu /= np.sqrt(2) * s.signal
        return sequences(x, np.where(wrong, -label, label), nu, wrong)


PROMPT = af.Scores(queries=0.0)


def train(setting: Selection, task: af.Task | None = None) -> af.Experiment:
    return BUILD.experiment(
        setting,
        task=af.PromptQuery(task or SelectionTask(setting)),
        problem=af.Problem(af.Linear(), af.Logistic()),
        initial=af.Initial(
            setting.embed, 3**-0.5, law="uniform", draw="weights", scores=PROMPT
        ),
        stages=(
            af.Stage(
                af.GradientDescent(setting.learning_rate), setting.steps, ("scores",)
            ),
        ),
        grid=af.Grid(setting.steps, setting.records),
        observables=RECORD,
    )
