"""Benchmarks of `signgd`: SignGD on the paper's settings, and Adam on the first.

PyTorch takes the first tenth of the steps, in which autograd still has every sign right
(it loses some after about 350 steps of setting (a), see the exhibit `signs`); every
step costs the same. That the rest of our course is right is shown by tests against
signs in interval arithmetic, not here.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from attnflow.cli.benchmarks import signgd_digits
from attnflow.cli.benchmarks.case import Case, Rows

STEPS, SHARE, EVERY = 2000, 0.1, 10
RIVAL = "full-batch autograd in PyTorch, float64, with {} (the first 10% of the steps)"


def _case(id: str, row: str, *, rule: str = "signgd", tests: int = 0) -> Case:
    plan = _experiment(row, rule, tests)
    name = {"signgd": "signs of the gradients", "adam": "its own Adam"}[rule]
    tested = f", test loss on {tests} points every {EVERY} steps" if tests else ""
    return Case(
        paper="signgd",
        id=id,
        size=f"setting ({row}), d=2000, {STEPS} steps of {rule}{tested}",
        ours=partial(_ours, plan),
        weights=None,
        torch=partial(_torch, plan, _arrays(plan)) if find_spec("torch") else None,
        rival=RIVAL.format(name),
        # 200 steps, each rounded once, of sums over 2000 coordinates.
        tolerance=1e-10,
        share=SHARE,
        repeats=5,
    )


CASES: dict[str, Callable[[], Case]] = {
    "a": partial(_case, "a", "a"),
    "a-test": partial(_case, "a-test", "a", tests=500),
    "c": partial(_case, "c", "c"),
    "d": partial(_case, "d", "d"),
    "a-adam": partial(_case, "a-adam", "a", rule="adam"),
    **signgd_digits.CASES,
}


def _experiment(row: str, rule: str, tests: int) -> Any:
    from attnflow.papers.signgd.experiments import train
    from attnflow.papers.signgd.settings import Train

    recorded = ("loss", "value", *(("test_loss",) if tests else ()))
    return train(
        Train(
            row=row,  # pyright: ignore[reportArgumentType]
            rule=rule,  # pyright: ignore[reportArgumentType]
            steps=STEPS,
            test_samples=tests,
            dense=0,
            every=EVERY,
            fine=STEPS,
            record=recorded,
        )
    )


def _ours(plan: Any) -> Rows:
    import warnings

    from attnflow.experiments import EpsilonWarning, run

    with warnings.catch_warnings():
        # Told once by the paper's own runs, and not what is timed here.
        warnings.simplefilter("ignore", EpsilonWarning)
        made = run(plan)
    return {name: made[name].values[0] for name in plan.observables}


def _arrays(plan: Any) -> dict[str, np.ndarray]:
    """The samples and the initial weights of seed 0, and the tokens that are shown."""
    from attnflow.experiments.members import samples_of, test_samples_of, weights_key
    from attnflow.models.forms.initial import draw_weights
    from attnflow.training import precise

    with precise():
        data, test = samples_of(plan, 0, None), test_samples_of(plan, 0, None)
        weights = draw_weights(
            plan.initial, 1, data.tokens.shape[1], key=weights_key(plan, 0)
        )
        found = {
            "x": data.tokens[data.key],
            "y": data.label,
            "shown": data.tokens[np.array(data.shown)],
            **{name: array[0] for name, array in weights.items()},
        }
        if test is not None:
            found |= {"test_x": test.tokens[test.key], "test_y": test.label}
        return {name: np.asarray(array) for name, array in found.items()}


def _torch(plan: Any, given: dict[str, np.ndarray]) -> Rows:
    """The loop that the authors would write."""
    import torch

    from attnflow.training.rules import Adam

    torch.set_num_threads(1)
    arrays = {name: torch.tensor(a) for name, a in given.items()}
    state = [arrays[name].requires_grad_() for name in ("W_K", "W_Q", "W_V")]
    rule = plan.stages[0].rule

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        keys, queries, values = (x @ w.transpose(-1, -2) for w in (*state[:2], flat()))
        attention = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
        read = (attention @ values).sum(dim=1)
        half = read.shape[1] // 2
        output = read[:, :half].mean(dim=1) - read[:, half:].mean(dim=1)
        return torch.nn.functional.softplus(-y * output).mean()

    def flat() -> torch.Tensor:
        return state[2].reshape(-1, state[2].shape[-1])

    own = None
    if isinstance(rule, Adam):
        betas = (rule.beta1, rule.beta2)
        own = torch.optim.Adam(
            state, lr=rule.learning_rate, betas=betas, eps=rule.epsilon
        )
    rows: dict[str, list[np.ndarray]] = {name: [] for name in plan.observables}
    for step in range(round(SHARE * STEPS) + 1):
        loss = loss_of(arrays["x"], arrays["y"])
        if step % EVERY == 0:
            with torch.no_grad():
                means = state[2].mean(dim=1)
                rows["value"].append(
                    ((means[0] - means[1]) @ arrays["shown"].T).numpy()[None]
                )
                rows["loss"].append(loss.detach().numpy().copy())
                if "test_x" in arrays:
                    tested = loss_of(arrays["test_x"], arrays["test_y"])
                    rows["test_loss"].append(tested.numpy().copy())
        for weight in state:
            weight.grad = None
        loss.backward()
        if own is not None:
            own.step()
            continue
        with torch.no_grad():
            for weight in state:
                assert weight.grad is not None
                weight -= rule.learning_rate * torch.sign(weight.grad)
    return {name: np.array(values) for name, values in rows.items()}
