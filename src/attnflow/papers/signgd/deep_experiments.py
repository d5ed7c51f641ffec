"""Experiments on noisy MNIST digits (Figure 2d) and deeper models (Appendix B.6)."""

from attnflow.data import SignalNoiseTask
from attnflow.data.deep_samples import NoisyDigits, SequenceTokens, mixed
from attnflow.experiments import SystemExperiment
from attnflow.experiments.deep import DeepModel
from attnflow.models.deep import BinaryLoss, Stack
from attnflow.papers.signgd import deep_settings
from attnflow.papers.signgd.experiments import BUILD
from attnflow.papers.signgd.settings import Train
from attnflow.papers.signgd.sizes import sizes
from attnflow.training import Grid, Stage
from attnflow.training.rules import trained_by


def noisy_digits(setting: deep_settings.NoisyDigits) -> SystemExperiment:
    """The two-layer transformer on patches of noisy digits (Appendix B.1)."""
    task = NoisyDigits(
        samples=setting.samples,
        digits=setting.digits,
        factors=mixed(setting.scaled_snr),
        border=setting.border,
        patch=setting.patch,
        test_samples=setting.test_samples,
        test_noise=setting.test_noise,
        pixels=setting.pixels,
    )
    deviation = 0.1 / task.embed**0.5 if setting.sigma_0 is None else setting.sigma_0
    network = Stack(
        task.embed, setting.neurons, setting.neurons, deviation, heads=setting.heads
    )
    model = DeepModel(
        network,
        task,
        BinaryLoss(),
        scaled=setting.rule == "signgd",
        precision=setting.precision,
    )
    return _experiment(setting, model, setting.rate, setting.last_step, setting.records)


def stacked(setting: deep_settings.Stacked) -> SystemExperiment:
    """Attention blocks below the two-layer transformer, on the data of Table 3."""
    size = sizes(
        Train(row=setting.row, embed=setting.embed, learning_rate=setting.learning_rate)
    )
    task = SignalNoiseTask(
        samples=size.samples,
        embed=setting.embed,
        support=size.support,
        noise=size.sigma_p,
        orthogonal=size.orthogonal,
        test_samples=setting.test_samples,
    )
    reading = setting.reading
    averaged = {"damped": size.value_neurons, "mean": setting.embed}
    network = Stack(
        setting.embed,
        size.key_neurons,
        size.value_neurons,
        size.sigma_0,
        blocks=setting.layers - 1,
        residual=setting.residual,
        hidden=(setting.hidden or setting.embed) if setting.mlp else None,
        block_deviation=setting.embed**-0.5 if reading == "large" else None,
        value_rank=size.value_neurons if reading == "factored" else None,
        factor=1 / averaged.get(reading, 1),
    )
    model = DeepModel(
        network,
        SequenceTokens(task),
        BinaryLoss(),
        scaled=setting.scaled and setting.rule == "signgd",
        precision=setting.precision,
    )
    records = setting.steps // setting.every
    return _experiment(setting, model, size.learning_rate, setting.steps, records)


def _experiment(
    setting: deep_settings.NoisyDigits | deep_settings.Stacked,
    model: DeepModel,
    rate: float,
    steps: int,
    records: int,
) -> SystemExperiment:
    rule = trained_by(setting, learning_rate=rate, steps=steps)
    return BUILD.system(
        setting,
        model=model,
        stages=(Stage(until=float(steps), **rule),),
        grid=Grid(stop=float(steps), count=records + 1),
        observables=setting.record,
    )
