"""An independent PyTorch model of paper A in its K, Q, V form beside ours."""

import jax
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import attnflow  # noqa: E402
from attnflow.data import CooccurrenceTask  # noqa: E402
from attnflow.dynamics import Grid, Stage  # noqa: E402
from attnflow.experiment import Experiment, run  # noqa: E402
from attnflow.forms import Initial, Neurons  # noqa: E402
from attnflow.forms.initialise import draw_weights  # noqa: E402
from attnflow.problem import Linear, Problem  # noqa: E402
from attnflow.rules import GradientDescent  # noqa: E402

STEPS, EVERY = 1500, 100
TASK = CooccurrenceTask(samples=24, length=5, embed=20)
M, M1 = 24, 16


def train(x, y, weights):
    torch.set_num_threads(1)
    state = {n: torch.tensor(w[0], requires_grad=n != "a") for n, w in weights.items()}
    moving = [w for n, w in state.items() if n != "a"]
    optimiser = torch.optim.SGD(moving, lr=0.05)
    rows = []
    for step in range(STEPS + 1):
        keys, queries = x @ state["W_K"].T, x @ state["W_Q"].T
        attention = torch.softmax(queries @ keys.transpose(1, 2) / M**0.5, dim=-1)
        read = attention @ (x @ state["W_V"].T)
        output = ((read @ state["W"].T) @ state["a"]).sum(dim=1)
        loss = torch.nn.functional.softplus(-y * output).mean()
        if step % EVERY == 0:
            score = (state["W_K"].T @ state["W_Q"]).detach().numpy()
            value = (state["a"] @ state["W"] @ state["W_V"]).detach().numpy()
            rows.append((loss.item(), score, value))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.fixture(scope="module")
def runs():
    values = Neurons(M, M1, 0.2, 0.2)
    initial = Initial(width=M, omega=0.2 * M**0.5, values=values)
    plan = Experiment(
        "cooccurrence",
        "oracle",
        {},
        task=TASK,
        problem=Problem(Linear(1), score_scale=M**-0.5),
        initial=initial,
        stages=(Stage(GradientDescent(0.05), STEPS),),
        grid=Grid(points=tuple(float(t) for t in range(0, STEPS + 1, EVERY))),
        observables=("loss", "score", "value"),
    )
    with attnflow.precise():
        drawn = draw_weights(initial, 1, 20, key=jax.random.key(3))
        weights = {n: np.asarray(w) for n, w in drawn.items()}
        data = TASK.sequences(key=jax.random.key(4))
        arrays = {n: np.asarray(getattr(data, n)) for n in ("tokens", "key", "label")}
    x = torch.tensor(arrays["tokens"][arrays["key"]])
    theirs = train(x, torch.tensor(arrays["label"]), weights)
    return plan, weights, arrays, theirs


@pytest.mark.parametrize("form", ["gram", "transport", "weights"])
def test_gradient_descent_step_by_step(runs, form):
    from dataclasses import replace

    plan, weights, arrays, theirs = runs
    ours = run(replace(plan, form=form), weights=weights, data=arrays)
    assert theirs[0][-1] < 0.2 * theirs[0][0]
    for name, expected in zip(("loss", "score", "value"), theirs, strict=True):
        error = np.abs(np.squeeze(ours[name].values[0]) - expected).max()
        assert error <= 1e-11 * np.abs(expected).max(), name
