"""Parts of the neighbouring literature: every form equals the plain weights.

And plain weights equal models that are written down directly.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.core import (
    allowed,
    assert_same_to_rounding,
    experiment,
    largest_difference,
    mostly_slow,
    mutated,
)

from attnflow.data import (
    InContextTask,
    MixtureTask,
    NoisyLabels,
    Positions,
    PromptQuery,
)
from attnflow.experiments import run
from attnflow.models.forms import Chain, Initial, Vector
from attnflow.models.forms.initial import draw_weights
from attnflow.models.forms.scores import MergedTable, Transport
from attnflow.models.problem import (
    Exponential,
    Linear,
    Logistic,
    Problem,
    Squared,
    forces,
)
from attnflow.models.tables import Pairs
from attnflow.training import Grid, Stage
from attnflow.training.rules import GradientDescent, Momentum, SignGD

ONE = Problem(Linear(1), Logistic())
MOMENTUM = Momentum(0.05, 0.8)
APART, MERGED = Initial(9, 0.4, Vector(0.3)), Initial(1, 0.4, Vector(0.3), merged=True)
CASES = {
    "prompt": {"task": PromptQuery(MixtureTask(), 1.5), "initial": APART},
    "prompt, merged": {"task": PromptQuery(MixtureTask()), "initial": MERGED},
    "payload": {
        "task": InContextTask(3, 3, (0.5, 0.3, 0.2)),
        "problem": Problem(Linear(1), Squared()),
        "initial": Initial(9, 0.4, Chain(5, 0.3, 0.3)),
    },
    "payload, merged": {
        "task": InContextTask(3, 3, (0.5, 0.3, 0.2)),
        "problem": Problem(Linear(1), Squared()),
        "initial": MERGED,
    },
    "positions": {"task": Positions(MixtureTask(), length=0.7), "initial": APART},
    "exponential": {
        "task": NoisyLabels(MixtureTask(), 0.2),
        "problem": Problem(Linear(1), Exponential()),
        "initial": APART,
    },
}
FAST = ("prompt", "payload, merged")


def weights_of(initial, task):
    """Initial weights for a task."""
    embed = task.sequences().vectors.shape[1]
    weights = draw_weights(initial, 1, embed, key=jax.random.key(0))
    return {name: np.asarray(array) for name, array in weights.items()}


def compared(name, form="transport"):
    """The largest difference from plain weights in units of what is allowed."""
    changes = {"problem": ONE, "rule": MOMENTUM, "until": 100, **CASES[name]}
    weights = weights_of(changes["initial"], changes["task"])
    plain, tolerance = allowed(weights, **changes)
    moved = plain["score"].isel(time=-1) - plain["score"].isel(time=0)
    assert float(np.abs(moved).max()) > 1e-2
    ours = run(experiment(form=form, **changes), weights=weights)
    return (largest_difference(plain, ours) / tolerance).max()


@pytest.mark.parametrize("name", mostly_slow(CASES, *FAST))
@pytest.mark.usefixtures("precise")
def test_transport_equals_plain_weights(name):
    assert compared(name) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "owner"), [("prompt", Transport), ("payload, merged", MergedTable)]
)
@pytest.mark.usefixtures("precise")
def test_mutated_forms_are_caught(name, owner):
    def short(self, state, force):
        return owner.velocity(self, state, force).at[..., -1, :].set(0.0)

    with mutated(owner, "direction", short):
        assert compared(name) > 100


def prompted_loss(weights, data):
    """A trained query `q` over keys, as the literature writes it."""
    x = data.tokens[data.key][..., :-1]
    keys = x if "W_K" not in weights else x @ weights["W_K"].T
    attention = jax.nn.softmax(keys @ weights["q"], axis=1)
    output = jnp.einsum("nk,nkd,d->n", attention, x, weights["w"])
    return jnp.mean(jnp.log1p(jnp.exp(-data.label * output)))


@pytest.mark.parametrize("merged", mostly_slow([False, True], False))
@pytest.mark.usefixtures("precise")
def test_a_prompt_is_a_query_that_is_trained(merged):
    """Descent on `(W_K, q, w)`, or on `(q, w)`, and the same with a prompt token."""
    task, steps = PromptQuery(MixtureTask()), 60
    initial = MERGED if merged else APART
    weights, data = weights_of(initial, task), task.sequences()
    # The prompt's own column of what makes queries, and keys without it.
    if merged:
        theirs = {"q": weights["W_KQ"][0, :-1, -1]}
    else:
        theirs = {"W_K": weights["W_K"][0, :, :-1], "q": weights["W_Q"][0, :, -1]}
    theirs = {**theirs, "w": weights["w"][0, :-1]}
    slope = jax.jit(jax.grad(prompted_loss))
    for _ in range(steps):
        slopes = slope(theirs, data)
        theirs = {name: w - 0.2 * slopes[name] for name, w in theirs.items()}
    keys = theirs["q"] if merged else theirs["W_K"].T @ theirs["q"]
    plan = experiment(
        task=task,
        problem=ONE,
        initial=initial,
        rule=GradientDescent(0.2),
        until=steps,
        grid=Grid(points=(0.0, steps)),
        form="transport",
    )
    final = run(plan, weights=weights).isel(seed=0, time=-1, head=0)
    scores = final["score"].sel(query="prompt").values[:-1]
    # Sixty steps of a few roundings each.
    assert np.abs(scores - keys).max() < 60 * 10 * np.finfo(float).eps
    assert np.abs(final["value"].values[:-1] - theirs["w"]).max() < 1e-13


@pytest.mark.usefixtures("precise")
def test_forces_see_payloads():
    """Minus the gradient of the loss by pair scores and values, by autodiff."""
    problem = Problem(Linear(1), Squared())
    data = InContextTask(3, 3).sequences()
    draw = np.random.default_rng(0)
    samples = len(data.label)
    pairs = Pairs(
        jnp.asarray(draw.standard_normal((samples, 1, 1, 3))),
        jnp.asarray(draw.standard_normal((samples, 1, 3))),
    )
    gradient = jax.grad(lambda p: -problem.mean_loss(p, data))(pairs)
    force = forces(problem, pairs, data)
    for mine, theirs in zip(force, gradient, strict=True):
        # A softmax of 3 exponentials to an ulp each, its mean of 3, and products.
        assert_same_to_rounding(mine, theirs, roundings=3 * 2 + 3 + 3 + 10)


@pytest.mark.slow
def test_signs_see_payloads():
    """Forms that keep signs and scales of forces read the same values."""
    changes = {**CASES["payload, merged"], "initial": APART, "until": 40}
    runs = [
        run(experiment(form=form, rule=SignGD(1e-3), **changes))
        for form in ("signs", "weights")
    ]
    assert largest_difference(*runs).max() < 1e-13
    assert float(np.abs(np.diff(runs[0]["score"], axis=1)).max()) > 1e-4


def test_given_payloads_are_checked():
    data = {
        "tokens": np.eye(2),
        "key": [[0, 1], [1, 0]],
        "label": [1.0, -1.0],
        "payload": [1.0, 2.0],
    }
    with pytest.raises(ValueError, match=r"payload has shape \(2,\); it must have"):
        run(experiment(problem=ONE), data=data)


@pytest.mark.usefixtures("precise")
def test_stages_on_noisy_groups():
    """Groups of the other task go on being groups."""
    stage = Stage(GradientDescent(0.1), 5, group="conflicting")
    task = NoisyLabels(MixtureTask(), 0.25)
    dataset = run(experiment(task=task, stages=(stage,), until=5))
    assert dataset["outcome"].values[0] == "finished"
