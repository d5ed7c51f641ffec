"""Benchmarks of `signgd` on noisy digits: each rule at the paper's sizes."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from attnflow.cli.benchmarks.case import Case, Rows

RECORDED = ("loss", "test_loss")
RECORDS = 20
RIVAL = "full-batch autograd in PyTorch, float64, with {}, tested every {} steps"
NAMES = {
    "signgd": "signs of the gradients",
    "adam": "its own Adam",
    "gd": "its own SGD",
}
SHARE = 0.9
"""Scaled SNR; at 0.5 descent swings, and rounding grows to 5e-3 in its 500 steps."""


def _case(rule: str) -> Case:
    plan = _experiment(rule)
    steps = int(plan.stages[0].until)
    return Case(
        paper="signgd",
        id=f"mnist-{rule}",
        size=f"noisy MNIST, 2000 images of 16 patches, {steps} steps of {rule}",
        ours=partial(_ours, plan),
        weights=None,
        torch=partial(_torch, plan) if find_spec("torch") else None,
        rival=RIVAL.format(NAMES[rule], steps // RECORDS),
        # Hundreds of steps, each of sums over 32,000 patches.
        tolerance=1e-9,
        repeats=3,
    )


CASES: dict[str, Callable[[], Case]] = {
    f"mnist-{rule}": partial(_case, rule) for rule in NAMES
}


def _experiment(rule: str) -> Any:
    from attnflow.papers.signgd.deep_experiments import noisy_digits
    from attnflow.papers.signgd.deep_settings import NoisyDigits

    return noisy_digits(
        NoisyDigits(
            rule=rule,  # pyright: ignore[reportArgumentType]
            scaled_snr=SHARE,
            records=RECORDS,
            record=RECORDED,
        )
    )


def _ours(plan: Any) -> Rows:
    from attnflow.experiments import run

    made = run(plan)
    return {name: made[name].values[0] for name in RECORDED}


def _torch(plan: Any) -> Rows:
    """The loop that the authors would write."""
    import torch

    from attnflow.training import precise

    torch.set_num_threads(1)
    with precise():
        system, start = plan.model.members([0], None)[0]
        sets = {
            name: [torch.tensor(np.asarray(a)) for a in (batch.tokens, batch.label)]
            for name, batch in (("loss", system.samples), ("test_loss", system.test))
        }
        first = [start["scores"][name][0, 0] for name in ("W_K", "W_Q")]
        readout = start["values"]["readout"][0]
        arrays = [*first, np.reshape(readout, (-1, readout.shape[-1]))]
        state = [torch.tensor(np.asarray(a), requires_grad=True) for a in arrays]

    def loss_of(tokens: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        keys, queries, values = (tokens @ weight.T for weight in state)
        attention = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
        read = (attention @ values).sum(dim=1)
        half = read.shape[1] // 2
        output = read[:, :half].mean(dim=1) - read[:, half:].mean(dim=1)
        return torch.nn.functional.softplus(-label * output).mean()

    advance = _advance(plan.stages[0].rule, state)
    rows: dict[str, list[float]] = {name: [] for name in RECORDED}
    steps = int(plan.stages[0].until)
    for step in range(steps + 1):
        if step % (steps // RECORDS) == 0:
            with torch.no_grad():
                for name, samples in sets.items():
                    rows[name].append(loss_of(*samples).item())
        for weight in state:
            weight.grad = None
        loss_of(*sets["loss"]).backward()
        advance()
    return {name: np.array(values) for name, values in rows.items()}


def _advance(rule: Any, state: list[Any]) -> Callable[[], Any]:
    """A step of the rule on weights that have their gradients."""
    import torch

    from attnflow.training.rules import Adam, SignGD

    if isinstance(rule, Adam):
        betas = (rule.beta1, rule.beta2)
        return torch.optim.Adam(
            state, lr=rule.learning_rate, betas=betas, eps=rule.epsilon
        ).step
    if not isinstance(rule, SignGD):
        return torch.optim.SGD(state, lr=rule.learning_rate).step

    @torch.no_grad()
    def signs() -> None:
        for weight in state:
            weight -= rule.learning_rate * torch.sign(weight.grad)

    return signs
