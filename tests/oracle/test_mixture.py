"""Agreement with an independent PyTorch implementation of paper B, step by step."""

import functools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from attnflow.data import MixtureTask  # noqa: E402
from attnflow.experiments import run  # noqa: E402
from attnflow.training import Grid  # noqa: E402
from attnflow.training.rules import Adam, GradientDescent, Momentum, SignGD  # noqa: E402
from tests.core import experiment, given_weights  # noqa: E402

pytestmark = pytest.mark.cpus

STEPS = 2000
EVERY = 50


def samples():
    """All eight samples of K = 2, L = 3, written out from the definition."""
    c, v = np.eye(4)[:2], np.eye(4)[2:]
    rows, labels = [], []
    for k in (0, 1):
        for y in (1, -1):
            for other in (1, -1):
                rows.append([c[k], y * v[k], other * v[1 - k]])
                labels.append(y)
    return torch.tensor(np.array(rows)), torch.tensor(labels, dtype=torch.float64)


def model_loss(weights, x, y, bias=0.5):
    """The mean logistic loss of the two-headed transformer, as the paper writes it."""
    heads = []
    for h in range(2):
        keys, queries = x @ weights["W_K"][h].T, x @ weights["W_Q"][h].T
        scores = queries @ keys.transpose(1, 2)
        attention = torch.softmax(scores, dim=-1)
        heads.append(((attention @ x) @ weights["w"][h]).sum(dim=1))
    output = torch.relu(heads[0] + bias) - torch.relu(heads[1] + bias)
    return torch.nn.functional.softplus(-y * output).mean()


def optimiser(rule, parameters):
    if isinstance(rule, GradientDescent):
        return torch.optim.SGD(parameters, lr=rule.learning_rate)
    if isinstance(rule, Momentum):
        return torch.optim.SGD(
            parameters, lr=rule.learning_rate, momentum=rule.momentum
        )
    assert isinstance(rule, Adam)
    return torch.optim.Adam(parameters, lr=rule.learning_rate)


@functools.cache
def train(rule, steps):
    """Tables and losses of the PyTorch loop, every EVERY steps."""
    torch.set_num_threads(1)
    initial = given_weights(width=32)
    weights = {n: torch.tensor(a, requires_grad=True) for n, a in initial.items()}
    x, y = samples()
    signed = isinstance(rule, SignGD)
    update = None if signed else optimiser(rule, list(weights.values()))
    rows = []
    for step in range(steps + 1):
        loss = model_loss(weights, x, y)
        if step % EVERY == 0:
            score = torch.einsum("hmk,hmq->hkq", weights["W_K"], weights["W_Q"])
            rows.append((loss.item(), _copy(score), _copy(weights["w"])))
        grads = torch.autograd.grad(loss, list(weights.values()))
        if signed:
            with torch.no_grad():
                for weight, grad in zip(weights.values(), grads, strict=True):
                    weight -= rule.learning_rate * torch.sign(grad)
            continue
        assert update is not None
        for weight, grad in zip(weights.values(), grads, strict=True):
            weight.grad = grad
        update.step()
    return [np.array(column) for column in zip(*rows, strict=True)]


def _copy(tensor):
    return tensor.detach().numpy().copy()


def compare(rule, form, steps, tolerance, observed=("loss", "score", "value")):
    initial = given_weights(width=32)
    theirs = train(rule, steps)
    grid = Grid(points=tuple(float(t) for t in range(0, steps + 1, EVERY)))
    ours = run(
        experiment(rule=rule, form=form, until=steps, grid=grid), weights=initial
    )
    for name, expected in zip(observed, theirs, strict=True):
        error = np.abs(ours[name].values[0] - expected).max()
        assert error <= tolerance * np.abs(expected).max(), name


@pytest.mark.parametrize("form", ["gram", "transport", "weights"])
def test_gradient_descent_over_2000_steps(form):
    """They agree to 3e-15 relative; ten times that is room for summation order."""
    compare(GradientDescent(0.1), form, STEPS, 3e-14)


def test_momentum_under_transport():
    compare(Momentum(0.05, 0.9), "transport", 600, 1e-12)


def test_adam_and_sign_descent_on_weights():
    compare(Adam(0.003), "weights", 300, 1e-11)
    # Fewer steps: a sign that flips on the last digit would part the two for good.
    compare(SignGD(0.001), "weights", 100, 1e-12)


def test_the_population_is_the_definition():
    x, y = samples()
    import attnflow

    with attnflow.precise():
        data = MixtureTask().sequences()
        ours = np.asarray(data.tokens)[np.asarray(data.key)]
        labels = np.asarray(data.label)
    theirs = {(_bag(row), float(label)) for row, label in zip(x, y, strict=True)}
    enumerated = {(_bag(row), label) for row, label in zip(ours, labels, strict=True)}
    assert enumerated == theirs


def _bag(row):
    return tuple(sorted(tuple(float(e) for e in token) for token in row))
