"""Experiments on WikiText-2, built from their settings."""

from attnflow.data.deep_samples import WordWindows
from attnflow.experiments import SystemExperiment
from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import ClassLoss, PlainWords, WordEncoder
from attnflow.papers.scansnap.deep_settings import Text
from attnflow.papers.scansnap.experiments import BUILD
from attnflow.training import Grid, Stage
from attnflow.training.rules import trained_by


def text(setting: Text) -> SystemExperiment:
    """Experiment that trains a causal network on windows of words."""
    model = DeepModel(
        _network(setting),
        WordWindows(
            setting.vocabulary, setting.length, setting.batch, setting.test_samples
        ),
        ClassLoss(),
        batch=setting.batch,
        in_turn=True,
        steps=setting.steps,
        clip=setting.clip,
        paces=_paces(setting),
        precision=setting.precision,
    )
    return BUILD.system(
        setting,
        model=model,
        # Gradients are shortened before some of them are paced.
        stages=(Stage(until=float(setting.steps), **trained_by(setting, clip=None)),),
        grid=Grid(stop=float(setting.steps), count=setting.records + 1),
        observables=setting.record,
    )


def _paces(setting: Text) -> tuple[tuple[str, float], ...]:
    """The rate of the first ReLU layer over that of all other weights."""
    if setting.hidden_rate is None:
        return ()
    pace = setting.hidden_rate / setting.learning_rate
    return tuple((name, pace) for name in ("W_1", "b_1", "W_2", "b_2"))


def _network(setting: Text) -> WordEncoder | PlainWords:
    if setting.parametrisation == "plain":
        return PlainWords(
            setting.vocabulary, setting.length, setting.width, setting.layers
        )
    return WordEncoder(
        setting.vocabulary,
        setting.length,
        setting.width,
        setting.hidden,
        layers=setting.layers,
        dropout=setting.dropout,
    )
