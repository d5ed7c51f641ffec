"""Experiments of `vit` on noisy MNIST digits, built from their settings."""

from attnflow.data.deep_samples import NoisyDigits, at_ratio
from attnflow.experiments import Computation, SystemExperiment
from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import ClassLoss, VisionTransformer
from attnflow.papers.vit.deep_settings import DigitImage, Digits
from attnflow.papers.vit.experiments import BUILD
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import trained_by

ALL = tuple(range(10))


def digits(setting: Digits) -> SystemExperiment:
    """Experiment that trains a small vision transformer on noisy digits."""
    task = NoisyDigits(
        samples=setting.samples,
        digits=ALL,
        factors=at_ratio(setting.snr),
        border=setting.border,
        patch=setting.patch,
        test_samples=setting.test_samples,
    )
    network = VisionTransformer(
        task.embed,
        task.length,
        width=setting.width,
        heads=setting.heads,
        layers=setting.layers,
        hidden=setting.hidden,
    )
    model = DeepModel(
        network,
        task,
        ClassLoss(),
        batch=setting.batch,
        steps=setting.steps,
        precision=setting.precision,
    )
    return BUILD.system(
        setting,
        model=model,
        stages=(Stage(until=_end(setting), **trained_by(setting)),),
        grid=Grid(stop=float(setting.steps), count=setting.records + 1),
        observables=setting.record,
    )


def _end(setting: Digits) -> float | Reach:
    steps = float(setting.steps)
    if not setting.target:
        return steps
    return Reach("loss", setting.target, steps, "down", every=setting.look)


def digit_image(setting: DigitImage) -> Computation:
    """Computation of one training image, its digit and its noise."""
    return BUILD.computation(setting, "attnflow.papers.vit.computations:digit_image")
