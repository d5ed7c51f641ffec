"""Score laws, masks and losses: against autodiff, plain weights and PyTorch."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.core import (
    allowed,
    assert_same_to_rounding,
    experiment,
    given_weights,
    largest_difference,
    mutated,
)
from tests.models.problem.test_forces import example, gradient_of

import attnflow
from attnflow.data import Causal, MixtureTask, PromptQuery, Sequences, Task, sequences
from attnflow.experiments import run
from attnflow.models import problem as problems
from attnflow.models.forms import Initial, Vector
from attnflow.models.forms.moments import MomentForm
from attnflow.models.problem import Linear, Logistic, Problem, Squared, Unhinged
from attnflow.models.tables import Pairs, Tables
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Batches, GradientDescent, Momentum, SignGD

forces = eqx.filter_jit(problems.forces)
LOSSES = {"logistic": Logistic(), "unhinged": Unhinged(), "squared": Squared(1.0)}
HEADS, EMBED = 2, 3
INITIAL = Initial(2, 0.4, Vector(0.3))
LINEAR = Problem(Linear(HEADS), Squared(1.0), 0.4, "linear")


def masked(data: Sequences) -> Sequences:
    mask = np.array([[1.0, 0, 0, 0], [1, 1, 0, 1], [1, 0, 1, 1]])
    return eqx.tree_at(
        lambda d: d.mask, data, jnp.asarray(mask), is_leaf=lambda x: x is None
    )


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize("law", ["softmax", "linear"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mask", [False, True], ids=["all keys", "mask"])
def test_forces_are_minus_the_gradient(law, loss, mask):
    problem = Problem(Linear(3), LOSSES[loss], 0.7, law)
    pairs, data = example(0, 3)
    data = masked(data) if mask else data
    wanted = gradient_of(problem, pairs, data)
    for careful in (False, True):
        ours = forces(problem, pairs, data, careful=careful)
        for one, other in zip(ours, wanted, strict=True):
            assert_same_to_rounding(-one, other, roundings=400)


@pytest.mark.usefixtures("precise")
def test_careful_forces_keep_their_direction_as_attention_settles():
    """Scores 60 apart: plainly, what the settled key gets is rounding."""
    data = sequences(np.eye(3), [[0, 1, 2]], [1.0], query=[[0]])
    scores = jnp.array([60.0, 0.0, -1.0]).reshape(1, 1, 1, 3)
    pairs = Pairs(scores, jnp.array([1.0, 0.1, 0.3]).reshape(1, 1, 3))
    problem = Problem()
    plain, careful = (
        forces(problem, pairs, data, careful=way).scores[0, 0, 0]
        for way in (False, True)
    )
    # The forces on the scores of one query sum to zero.
    assert abs(careful.sum()) < 1e-15 * abs(careful).max()
    assert abs(plain.sum()) > 1e-3 * abs(plain[1:]).max()
    np.testing.assert_allclose(careful[1:], plain[1:], rtol=1e-14)


@dataclass(frozen=True)
class Regression(Task):
    """Prompts of pairs (x, y) of rank three, asked by the last."""

    samples: int = 30

    def sequences(self, *, key: object = None) -> Sequences:
        draw = np.random.default_rng(0)
        x = draw.standard_normal((self.samples, 5, EMBED - 1))
        w = draw.standard_normal((self.samples, EMBED - 1))
        y = np.einsum("nkd,nd->nk", x, w)
        tokens = np.concatenate([x, y[..., None]], axis=-1)
        tokens[:, -1, -1] = 0
        rows = np.arange(self.samples * 5).reshape(self.samples, 5)
        flat = tokens.reshape(-1, EMBED)
        return sequences(flat, rows, y[:, -1], query=rows[:, -1:], shown=(0, 1, 2))


def given(merged=False, seed=0):
    from attnflow.models.forms.initial import draw_weights

    initial = Initial(2, 0.4, Vector(0.3), merged=merged)
    with attnflow.precise():
        drawn = draw_weights(initial, HEADS, EMBED, key=jax.random.key(seed))
        return {name: np.asarray(array) for name, array in drawn.items()}


def check(form, rule, merged=False):
    initial = Initial(2, 0.4, Vector(0.3), merged=merged)
    changes = {"task": Regression(), "problem": LINEAR, "initial": initial}
    changes |= {"rule": rule, "until": 300}
    plain, tolerance = allowed(given(merged), **changes)
    ours = run(experiment(form=form, **changes), weights=given(merged))
    assert float(plain["loss"][0, -1] / plain["loss"][0, 0]) < 0.6
    difference = largest_difference(plain, ours)
    assert (difference <= tolerance).all(), (difference / tolerance).max()


@pytest.mark.parametrize("form", ["moments", "transport", "gram"])
def test_linear_attention_in_every_form(form):
    check(form, GradientDescent(0.01))


@pytest.mark.parametrize("rule", [Momentum(0.003, 0.8, weight_decay=0.01)])
def test_moments_follow_memory_and_one_merged_matrix(rule):
    check("moments", rule)
    check("moments", rule, merged=True)


def _half_values(self, problem, state, data, *, normalised=False):
    moved = ORIGINAL(self, problem, state, data)
    return Tables(moved.scores, 0.5 * moved.values)


ORIGINAL = MomentForm.forces


def test_mutated_moments_are_caught():
    with mutated(MomentForm, "forces", _half_values), pytest.raises(AssertionError):
        check("moments", GradientDescent(0.01))


def test_moments_are_chosen_where_they_are_few():
    changes = {"task": Regression(200), "problem": LINEAR, "initial": INITIAL}
    end = {"until": 2, "grid": Grid(points=(0.0, 2.0)), "observables": ("loss",)}
    chosen = {
        str(rule): run(experiment(rule=rule, **changes, **end)).attrs["form"]
        for rule in (GradientDescent(0.01), Adam(0.01), SignGD(0.01))
    }
    assert list(chosen.values()) == ["moments", "weights", "weights"]
    batch = (Stage(GradientDescent(0.01), 2, batches=Batches(3)),)
    data = experiment(stages=batch, **changes, **end)
    assert run(data).attrs["form"] != "moments"
    with pytest.raises(ValueError, match="trains on some of them"):
        run(experiment(stages=batch, form="moments", **changes, **end))
    with pytest.raises(ValueError, match="no logarithms"):
        run(experiment(form="signs", rule=SignGD(0.1), **changes, **end))
    with pytest.raises(ValueError, match="for linear attention alone"):
        run(experiment(form="moments", **end))


CAUSAL = Causal(MixtureTask())


@pytest.mark.parametrize("form", ["gram", "transport"])
def test_masks_in_reduced_forms(form):
    changes = {"task": CAUSAL, "rule": GradientDescent(0.1)}
    plain, tolerance = allowed(given_weights(), **changes)
    ours = run(experiment(form=form, **changes), weights=given_weights())
    assert (largest_difference(plain, ours) <= tolerance).all()


def test_signs_under_a_mask_equal_plain_weights():
    changes = {"task": CAUSAL, "rule": SignGD(1e-3), "until": 60}
    plain, ours = (
        run(experiment(form=form, **changes), weights=given_weights())
        for form in ("weights", "signs")
    )
    assert largest_difference(plain, ours).max() < 1e-12


def test_masks_are_checked():
    with pytest.raises(ValueError, match="without any key"):
        sequences(np.eye(2), [[0, 1]], [1.0], mask=[[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="mask has shape"):
        sequences(np.eye(2), [[0, 1]], [1.0], mask=[[0, 1]])
    with pytest.raises(ValueError, match="one sample per orbit"):
        Causal(MixtureTask(population="orbits"))
    with pytest.raises(ValueError, match="the keys themselves"):
        Causal(PromptQuery(MixtureTask())).sequences()
    with pytest.raises(ValueError, match="what-fits"):
        Problem(law="relu")


@pytest.mark.usefixtures("precise")
def test_pytorch_agrees_step_by_step():
    """Linear attention on prompts, and causal softmax under l = −y f."""
    torch = pytest.importorskip("torch")
    data = Regression().sequences()
    x = torch.tensor(np.asarray(data.tokens)[np.asarray(data.key)])
    y = torch.tensor(np.asarray(data.label))
    ours = run(
        experiment(
            task=Regression(),
            problem=LINEAR,
            initial=INITIAL,
            rule=GradientDescent(0.01),
            until=100,
            form="moments",
        ),
        weights=given(),
    )

    def linear(w):
        keys = torch.einsum("hmd,nkd->nhkm", w["W_K"], x)
        query = torch.einsum("hmd,nd->nhm", w["W_Q"], x[:, -1])
        scores = 0.4 * torch.einsum("nhkm,nhm->nhk", keys, query)
        output = (scores * torch.einsum("hd,nkd->nhk", w["w"], x)).sum((1, 2))
        return ((output - y) ** 2).mean()

    _compare(torch, linear, given(), 0.01, ours)
    samples = CAUSAL.sequences()
    u = torch.tensor(np.asarray(samples.tokens)[np.asarray(samples.key)])
    v = torch.tensor(np.asarray(samples.label))
    problem = Problem(Linear(2), Unhinged())
    theirs = run(
        experiment(task=CAUSAL, problem=problem, until=100), weights=given_weights()
    )

    def causal(w):
        total = 0
        for h in range(2):
            scores = (u @ w["W_Q"][h].T) @ (u @ w["W_K"][h].T).transpose(1, 2)
            hidden = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
            map_ = torch.softmax(scores.masked_fill(hidden, -torch.inf), -1)
            total = total + ((map_ @ u) @ w["w"][h]).sum(1)
        return -(v * total).mean()

    _compare(torch, causal, given_weights(), 0.1, theirs)


def _compare(torch, loss, weights, rate, ours):
    w = {n: torch.tensor(a, requires_grad=True) for n, a in weights.items()}
    optimiser = torch.optim.SGD(w.values(), lr=rate)
    recorded = dict(zip(ours["time"].values, ours["loss"].values[0], strict=True))
    for step in range(101):
        now = loss(w)
        if step in recorded:
            assert abs(recorded[step] - now.item()) <= 1e-11 * max(1, abs(now.item()))
        optimiser.zero_grad()
        now.backward()
        optimiser.step()
