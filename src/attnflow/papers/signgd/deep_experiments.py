"""From the settings of `signgd` to experiments on deep networks and on real data."""

from typing import Any

from attnflow.data.noisy_digits import NoisyDigits, mixed
from attnflow.deep import BinaryLoss, DeepModel, Stack
from attnflow.dynamics import Grid, Stage
from attnflow.experiment import SystemExperiment
from attnflow.papers.signgd import deep_settings
from attnflow.papers.signgd.experiments import BUILD
from attnflow.rules import Adam, GradientDescent, Rule, SignGD


def noisy_digits(setting: deep_settings.NoisyDigits) -> SystemExperiment:
    """The paper's own model on patches of digits."""
    task = NoisyDigits(
        samples=setting.samples,
        digits=setting.digits,
        factors=mixed(setting.scaled_snr),
        border=setting.border,
        patch=setting.patch,
        test_samples=setting.test_samples,
        test_noise=setting.test_noise,
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
    return _experiment(setting, model, setting.last_step, setting.records)


def _experiment(
    setting: Any, model: DeepModel, steps: int, records: int
) -> SystemExperiment:
    return BUILD.system(
        setting,
        model=model,
        stages=(Stage(_rule(setting), float(steps)),),
        grid=Grid(stop=float(steps), count=records + 1),
        observables=setting.record,
    )


def _rule(setting: Any) -> Rule:
    if setting.rule == "adam":
        return Adam(setting.rate, setting.beta1, setting.beta2, setting.epsilon)
    return (
        SignGD(setting.rate)
        if setting.rule == "signgd"
        else GradientDescent(setting.rate)
    )
