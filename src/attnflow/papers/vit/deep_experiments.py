"""From the settings of `vit` on real images to experiments."""

from attnflow.data.noisy_digits import NoisyDigits, at_ratio
from attnflow.deep import ClassLoss, DeepModel, VisionTransformer
from attnflow.dynamics import Grid, Stage
from attnflow.experiment import SystemExperiment
from attnflow.papers.vit.deep_settings import Digits
from attnflow.papers.vit.experiments import BUILD
from attnflow.rules import Adam


def digits(setting: Digits) -> SystemExperiment:
    """A small vision transformer on noisy digits."""
    task = NoisyDigits(
        samples=setting.samples,
        digits=tuple(range(10)),
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
        stages=(Stage(Adam(setting.learning_rate), float(setting.steps)),),
        grid=Grid(stop=float(setting.steps), count=setting.records + 1),
        observables=setting.record,
    )
