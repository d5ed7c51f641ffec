"""Benchmarks of `signgd`: the paper's settings, and noisy digits, by each rule.

On the paper's settings PyTorch takes the first tenth of the steps, in which autograd
still has every sign right (it loses some after about 350 steps of setting (a), see the
exhibit `signs`); every step costs the same. That the rest of our course is right is
shown by tests against signs in interval arithmetic, not here.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow.cli.benchmarks.harness import (
    Arrays,
    Case,
    Rows,
    run_rows,
    seed_arrays,
    torch_losses,
)

if TYPE_CHECKING:
    from torch import Tensor

    from attnflow.experiments import Experiment, SystemExperiment
    from attnflow.training.rules import Rules

    Loss = Callable[[list[Tensor], Tensor, Tensor], Tensor]

STEPS, SHARE, EVERY = 2000, 0.1, 10
DIGIT_RECORDS = 20
DIGIT_SNR = 0.9
"""Scaled SNR; at 0.5 descent swings, and rounding grows to 5e-3 in its 500 steps."""
RIVAL = "full-batch autograd in PyTorch, float64, with {}"
LEAN = "the same with neurons averaged before their product with tokens"
NAMES = {
    "signgd": "signs of the gradients",
    "adam": "its own Adam",
    "gd": "its own SGD",
}


def _case(row: str, *, rule: str = "signgd", tests: int = 0) -> Case:
    experiment = _experiment(row, rule, tests)
    arrays = seed_arrays(experiment, tested=True, shown=True)
    tested = f", test loss on {tests} points every {EVERY} steps" if tests else ""
    return Case(
        size=f"setting ({row}), d=2000, {STEPS} steps of {rule}{tested}",
        ours=partial(run_rows, experiment),
        torch=partial(_torch, experiment, arrays),
        rival=f"{RIVAL.format(NAMES[rule])} (the first 10% of the steps)",
        lean=(partial(_torch, experiment, arrays, _lean_loss), LEAN),
        # 200 steps, each rounded once, of sums over 2000 coordinates.
        tolerance=1e-10,
        share=SHARE,
        repeats=5,
    )


def _digits(rule: str) -> Case:
    experiment = _digit_experiment(rule)
    steps = _step_count(experiment)
    every = steps // DIGIT_RECORDS
    return Case(
        size=f"noisy MNIST, 2000 images of 16 patches, {steps} steps of {rule}",
        ours=partial(run_rows, experiment),
        torch=partial(_torch_digits, experiment),
        rival=f"{RIVAL.format(NAMES[rule])}, tested every {every} steps",
        lean=(partial(_torch_digits, experiment, _lean_loss), LEAN),
        # Hundreds of steps, each of sums over 32,000 patches.
        tolerance=1e-9,
        repeats=3,
    )


CASES: dict[str, Callable[[], Case]] = {
    "a": partial(_case, "a"),
    "a-test": partial(_case, "a", tests=500),
    "c": partial(_case, "c"),
    "d": partial(_case, "d"),
    "a-adam": partial(_case, "a", rule="adam"),
    **{f"mnist-{rule}": partial(_digits, rule) for rule in NAMES},
}


def _experiment(row: str, rule: str, tests: int) -> "Experiment":
    from attnflow.papers.signgd.experiments import train
    from attnflow.papers.signgd.settings import Train
    from attnflow.schema.settings import replace

    recorded = ("loss", "value", *(("test_loss",) if tests else ()))
    records = {"dense": 0, "every": EVERY, "fine": STEPS, "record": recorded}
    setting = {"row": row, "rule": rule, "steps": STEPS, "test_samples": tests}
    return train(replace(Train(), {**setting, **records}))


def _digit_experiment(rule: str) -> "SystemExperiment":
    from attnflow.papers.signgd.deep_experiments import noisy_digits
    from attnflow.papers.signgd.deep_settings import NoisyDigits
    from attnflow.schema.settings import replace

    records = {"records": DIGIT_RECORDS, "record": ("loss", "test_loss")}
    setting = {"rule": rule, "scaled_snr": DIGIT_SNR, **records}
    return noisy_digits(replace(NoisyDigits(), setting))


def _step_count(experiment: "SystemExperiment") -> int:
    until = experiment.stages[0].until
    assert isinstance(until, float | int)
    return int(until)


def _torch(
    experiment: "Experiment", arrays: Arrays, loss: "Loss | None" = None
) -> Rows:
    import torch

    of = loss or _loss

    tensors = {name: torch.tensor(array) for name, array in arrays.items()}
    state = [tensors[name].requires_grad_() for name in ("W_K", "W_Q", "W_V")]
    advance = _advance(experiment.stages[0].rule, state)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in experiment.observables}
    loss_of = partial(of, state, tensors["x"], tensors["y"])
    for step, now in torch_losses(loss_of, state, advance, round(SHARE * STEPS)):
        if step % EVERY == 0:
            with torch.no_grad():
                means = state[2].mean(dim=1)
                value = (means[0] - means[1]) @ tensors["shown"].T
                rows["value"].append(value.numpy()[None])
                rows["loss"].append(now.detach().numpy().copy())
                if "test_x" in tensors:
                    tested = of(state, tensors["test_x"], tensors["test_y"])
                    rows["test_loss"].append(tested.numpy().copy())
    return {name: np.array(values) for name, values in rows.items()}


def _torch_digits(experiment: "SystemExperiment", loss: "Loss | None" = None) -> Rows:
    import torch

    from attnflow.training import precise

    of = loss or _loss
    with precise():
        system, start = experiment.model.members([0], None)[0]
        sets = {
            name: [torch.tensor(np.asarray(a)) for a in (batch.tokens, batch.label)]
            for name, batch in (("loss", system.samples), ("test_loss", system.test))
        }
        first = [start["scores"][name][0, 0] for name in ("W_K", "W_Q")]
        arrays = [*first, start["values"]["readout"][0]]
        state = [torch.tensor(np.asarray(a), requires_grad=True) for a in arrays]
    advance = _advance(experiment.stages[0].rule, state)
    rows: dict[str, list[float]] = {name: [] for name in sets}
    steps = _step_count(experiment)
    loss_of = partial(of, state, *sets["loss"])
    for step, now in torch_losses(loss_of, state, advance, steps):
        if step % (steps // DIGIT_RECORDS) == 0:
            with torch.no_grad():
                rows["loss"].append(now.item())
                rows["test_loss"].append(of(state, *sets["test_loss"]).item())
    return {name: np.array(values) for name, values in rows.items()}


def _loss(state: "list[Tensor]", x: "Tensor", y: "Tensor") -> "Tensor":
    import torch

    W_K, W_Q, W_V = state
    flat = W_V.reshape(-1, W_V.shape[-1])
    keys, queries, values = (x @ weight.T for weight in (W_K, W_Q, flat))
    attention = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
    read = (attention @ values).sum(dim=1)
    half = read.shape[1] // 2
    output = read[:, :half].mean(dim=1) - read[:, half:].mean(dim=1)
    return torch.nn.functional.softplus(-y * output).mean()


def _lean_loss(state: "list[Tensor]", x: "Tensor", y: "Tensor") -> "Tensor":
    import torch

    W_K, W_Q, W_V = state
    means = W_V.mean(dim=1)
    keys, queries = x @ W_K.T, x @ W_Q.T
    attention = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
    read = attention @ (x @ (means[0] - means[1]))[..., None]
    return torch.nn.functional.softplus(-y * read.sum(dim=(1, 2))).mean()


def _advance(rule: "Rules", state: "list[Tensor]") -> Callable[[], object]:
    """A step of the rule on weights that have their gradients."""
    import torch

    from attnflow.training.rules import Adam, GradientDescent, SignGD

    assert isinstance(rule, Adam | GradientDescent | SignGD)
    if isinstance(rule, Adam):
        betas = (rule.beta1, rule.beta2)
        return torch.optim.Adam(
            state, lr=rule.learning_rate, betas=betas, eps=rule.epsilon
        ).step
    if not isinstance(rule, SignGD):
        return torch.optim.SGD(state, lr=rule.learning_rate).step

    @torch.no_grad()
    def step_by_signs() -> None:
        for weight in state:
            assert weight.grad is not None
            weight -= rule.learning_rate * torch.sign(weight.grad)

    return step_by_signs
