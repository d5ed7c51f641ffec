"""Muon and normalised descent beside loops in PyTorch, and beside optax's Muon."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

torch = pytest.importorskip("torch")

from attnflow.experiments import run  # noqa: E402
from attnflow.training import Grid  # noqa: E402
from attnflow.training.rules import Muon, NormalisedDescent  # noqa: E402
from tests.core import experiment, given_weights, mostly_slow  # noqa: E402
from tests.oracle.test_mixture import model_loss, samples  # noqa: E402

pytestmark = pytest.mark.cpus

STEPS = 60
EXACT = Muon(0.02, 0.9, orthogonal="exact")
PRACTICE = Muon(0.02, weight_decay=0.05)


def orthogonal(matrix, rule):
    """The polar factor by singular values, or the polynomial, of one matrix."""
    if rule.orthogonal == "exact":
        left, sizes, right = torch.linalg.svd(matrix, full_matrices=False)
        kept = (sizes > rule.cutoff * sizes[0]).to(matrix.dtype)
        return (left * kept) @ right
    a, b, c = rule.coefficients
    x = matrix / matrix.norm()
    for _ in range(rule.iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x


def muon_step(weight, grad, memory, rule):
    """As in practice: the memory is a running mean, and matrices come head by head."""
    memory.lerp_(grad, 1 - rule.momentum)
    ahead = grad.lerp(memory, rule.momentum)
    for h in range(len(weight)):
        made = orthogonal(torch.atleast_2d(ahead[h]), rule).reshape(weight[h].shape)
        weight[h] -= rule.learning_rate * (made + rule.weight_decay * weight[h])


def train(rule):
    """Scores and values of the PyTorch loop at each step."""
    torch.set_num_threads(1)
    given = given_weights(width=32)
    weights = {n: torch.tensor(a, requires_grad=True) for n, a in given.items()}
    memory = {n: torch.zeros_like(w) for n, w in weights.items()}
    rows = []
    for _ in range(STEPS + 1):
        score = torch.einsum("hmk,hmq->hkq", weights["W_K"], weights["W_Q"])
        rows.append([x.detach().numpy().copy() for x in (score, weights["w"])])
        grads = torch.autograd.grad(
            model_loss(weights, *samples()), list(weights.values())
        )
        length = torch.sqrt(sum((g**2).sum() for g in grads))
        with torch.no_grad():
            for (name, weight), grad in zip(weights.items(), grads, strict=True):
                if isinstance(rule, Muon):
                    muon_step(weight, grad, memory[name], rule)
                else:
                    weight -= rule.learning_rate * grad / length
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("form", mostly_slow(["weights", "auto"], "auto"))
@pytest.mark.parametrize("rule", [EXACT, PRACTICE, NormalisedDescent(0.05)])
def test_equals_a_loop_in_pytorch(rule, form):
    grid = Grid(stop=STEPS, count=STEPS + 1)
    plan = experiment(rule=rule, form=form, until=STEPS, grid=grid)
    made = run(plan, weights=given_weights(width=32))
    score, value = train(rule)
    # The sum over 60 steps of a rounding each, times the largest slope of Newton–Schulz
    # at zero, 3.4445^5, by which it multiplies what is rounded off a gradient.
    tolerance = STEPS * 485 * np.finfo(float).eps * np.abs(score).max()
    assert np.abs(score[-1] - score[0]).max() > 0.1
    assert np.abs(made["score"].values[0] - score).max() < tolerance
    assert np.abs(made["value"].values[0] - value).max() < tolerance


@pytest.mark.parametrize("shape", mostly_slow([(7, 4), (4, 7)], (4, 7)))
@pytest.mark.usefixtures("precise")
def test_matrices_are_those_of_optax(shape):
    """Without Nesterov's step, which optax corrects for a bias in its own way."""
    ours = Muon(1.0, 0.9, nesterov=False)
    theirs = optax.contrib.scale_by_muon(beta=0.9, nesterov=False, eps=0.0)
    start = jnp.zeros(shape)
    memory, others = ours.transformation().init(start), theirs.init(start)
    for key in jax.random.split(jax.random.key(0), 4):
        gradient = jax.random.normal(key, shape)
        update, memory = ours.transformation().update(gradient, memory, start)
        wanted, others = theirs.update(gradient, others, start)
        difference = np.abs(ours.orthogonalised(update) - np.asarray(wanted)).max()
        assert difference < 485 * 4 * np.finfo(float).eps


@pytest.mark.usefixtures("precise")
def test_polar_factors():
    draw = np.random.default_rng(0)
    left, right = (np.linalg.qr(draw.standard_normal((6, 3)))[0] for _ in range(2))
    matrix = jnp.asarray((left * [2.0, 1e-3, 1e-14]) @ right.T)
    found = Muon(1.0, orthogonal="exact").orthogonalised(matrix)
    # The smallest is far below the cutoff: its direction is not a direction.
    wanted = left[:, :2] @ right[:, :2].T
    assert np.abs(found - wanted).max() < 10 * np.finfo(float).eps * 2e3
    assert not np.asarray(Muon(1.0).orthogonalised(0 * matrix)).any()
    exact = Muon(1.0, orthogonal="exact").orthogonalised(0 * matrix)
    assert not np.asarray(exact).any()
