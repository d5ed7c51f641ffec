"""Every form gives the tables of the plain weights along a whole trajectory."""

import jax
import numpy as np
import pytest
from tests.core import (
    allowed,
    experiment,
    given_weights,
    largest_difference,
    mostly_slow,
    mutated,
)

from attnflow.data import MixtureTask
from attnflow.experiments import run
from attnflow.models.forms import Initial
from attnflow.models.forms.scores import Gram, Transport, generator
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum, SignGD

pytestmark = pytest.mark.cpus

GD = GradientDescent(0.1)
SEPARATE = {"scores": GradientDescent(0.3), "values": GradientDescent(0.05)}
FOLLOWS = [
    ("transport", GD),
    ("gram", GD),
    ("transport", SEPARATE),
    ("gram", SEPARATE),
    ("transport", Momentum(0.05, 0.9)),
    ("transport", Momentum(0.05, 0.8, weight_decay=0.01, nesterov=True)),
]
STAGED = (
    Stage(GD, 60, ("values",), name="1"),
    Stage(GD, 120, ("scores",), "conflicting", name="2"),
    Stage(GD, 200, ("values",), name="3"),
)


def check(form, **changes):
    weights = given_weights()
    plain, tolerance = allowed(weights, **changes)
    ours = run(experiment(form=form, **changes), weights=weights)
    difference = largest_difference(plain, ours)
    assert (difference <= tolerance).all(), (difference / tolerance).max()


@pytest.mark.parametrize(("form", "rule"), FOLLOWS)
def test_equals_plain_weights(form, rule):
    check(form, rule=rule, until=400)


@pytest.mark.parametrize("form", ["transport", "gram"])
def test_equals_plain_weights_in_staged_training(form):
    check(form, stages=STAGED)


@pytest.mark.parametrize("form", ["transport", "gram"])
def test_equals_plain_weights_with_more_groups(form):
    task = MixtureTask(3, 4)
    weights = given_weights(embed=6)
    changes = {"task": task, "until": 100}
    plain, tolerance = allowed(weights, **changes)
    ours = run(experiment(form=form, **changes), weights=weights)
    assert (largest_difference(plain, ours) <= tolerance).all()


@pytest.mark.parametrize("form", ["transport", "gram"])
def test_equals_plain_weights_below_full_rank(form):
    """Width 3 is below the rank of the tokens: the Gram matrix is singular."""
    weights = given_weights(width=3)
    plain, tolerance = allowed(weights)
    ours = run(experiment(form=form), weights=weights)
    assert (largest_difference(plain, ours) <= tolerance).all()


# Long tokens at this rate: forms are exact far from the gradient flow as well.
@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
@pytest.mark.parametrize("form", ["transport", "gram"])
def test_duplicate_and_dependent_tokens(form):
    """Tokens that repeat or depend on others are no special case."""
    draw = np.random.default_rng(3)
    tokens = draw.standard_normal((5, 6))
    tokens[3] = tokens[0]
    tokens[4] = tokens[1] - 2 * tokens[2]
    data = {
        "tokens": tokens,
        "key": draw.integers(0, 5, (7, 4)),
        "label": draw.choice([-1.0, 1.0], 7),
    }
    weights = given_weights(embed=6)
    plain, tolerance = allowed(weights, data, until=60)
    ours = run(experiment(form=form, until=60), weights=weights, data=data)
    assert (largest_difference(plain, ours) <= tolerance).all()


@pytest.mark.parametrize("form", mostly_slow(["transport", "gram"], "gram"))
def test_flow_equals_plain_weights(form):
    """Two adaptive solutions agree to what their own tolerances leave."""
    weights = given_weights()
    runs = {}
    for rtol in (1e-9, 1e-11):
        rule = Flow(rtol=rtol)
        for name in ("weights", form):
            plan = experiment(form=name, rule=rule, until=40.0)
            runs[name, rtol] = run(plan, weights=weights)
    # The error of the plain solution, measured by solving it more sharply.
    error = largest_difference(runs["weights", 1e-9], runs["weights", 1e-11])
    difference = largest_difference(runs["weights", 1e-11], runs[form, 1e-11])
    assert difference.max() <= 10 * error.max()
    assert difference.max() < 1e-9


def _linear_gram(self, state, update):
    return state + state @ update + update @ state


def _short_transport(self, state, force):
    return (state @ generator(force)).at[..., -1, :].set(0.0)


@pytest.mark.parametrize(
    ("form", "owner", "method", "mutant"),
    [
        ("gram", Gram, "move", _linear_gram),
        ("transport", Transport, "direction", _short_transport),
    ],
)
def test_mutated_forms_are_caught(form, owner, method, mutant):
    """One squared-step term dropped, one row too few: the tolerance sees it."""
    with mutated(owner, method, mutant), pytest.raises(AssertionError):
        check(form, until=150)


def test_infinite_width_forms_agree():
    """Transport and Gram share P₀ = ω² I; the quotient has ten variables."""
    infinite = Initial(width="infinite", omega=0.1)
    runs = [
        run(experiment(form=form, initial=infinite, until=2000))
        for form in ("transport", "gram")
    ]
    orbits = experiment(
        initial=infinite, until=2000, task=MixtureTask(population="orbits")
    )
    runs.append(run(orbits))
    assert runs[2].attrs["form"] == "quotient"
    for other in runs[1:]:
        assert largest_difference(runs[0], other).max() < 5e-14


@pytest.mark.parametrize(
    ("K", "L"), [(2, 3), (3, 4), pytest.param(4, 4, marks=pytest.mark.slow)]
)
def test_quotient_equals_enumeration(K, L):
    infinite = Initial(width="infinite", omega=0.3)
    full, orbits = (
        run(experiment(initial=infinite, task=MixtureTask(K, L, p), until=500))
        for p in ("exact", "orbits")
    )
    assert largest_difference(full, orbits).max() < 2e-14


def test_scores_alone_close_at_infinite_width():
    """The S-only flow (16 variables a head) against the Gram flow (36)."""
    infinite = Initial(width="infinite", omega=0.1)
    changes = {"initial": infinite, "rule": Flow(rtol=1e-12), "until": 200.0}
    gram, scores = (run(experiment(form=f, **changes)) for f in ("gram", "infinite"))
    assert float(np.abs(gram["score"]).max()) > 2.5
    assert largest_difference(gram, scores).max() < 1e-10


@pytest.mark.parametrize("rule", [Adam(0.01), SignGD(0.001)])
@pytest.mark.parametrize("form", ["transport", "gram"])
def test_rules_that_do_not_commute_with_rotations_are_refused(form, rule):
    with pytest.raises(ValueError, match="commute with rotations"):
        run(experiment(form=form, rule=rule))


def test_gram_refuses_memory_and_scores_alone_refuse_steps():
    with pytest.raises(ValueError, match="memory"):
        run(experiment(form="gram", rule=Momentum(0.1)))
    infinite = Initial(width="infinite")
    with pytest.raises(ValueError, match="manifold"):
        run(experiment(form="infinite", initial=infinite))


@pytest.mark.parametrize(
    ("rule", "form"),
    [
        (GD, "gram"),
        (Momentum(0.1), "transport"),
        (Adam(0.1), "coordinates"),
        (SignGD(0.1), "signs"),
    ],
)
def test_the_cheapest_exact_form_is_taken(rule, form):
    dataset = run(experiment(rule=rule, until=2, grid=Grid(points=(0.0, 2.0))))
    assert dataset.attrs["form"] == form
    assert dataset.attrs["form_reason"]


def test_many_tokens_take_transport():
    grid = Grid(points=(0.0, 2.0))
    dataset = run(experiment(task=MixtureTask(3, 4), until=2, grid=grid))
    assert dataset.attrs["form"] == "transport"


def late_start(form, omega):
    """Two orthogonal groups of tokens, learned one after the other, at rank 4.

    Tokens that occur in no sample mix the groups in the basis, so that what starts late
    shares its entries with what is large by then.
    """
    draw = np.random.default_rng(0)
    groups = 1.5 * np.linalg.qr(draw.standard_normal((4, 4)))[0]
    data = {
        "tokens": np.concatenate([groups, draw.standard_normal((3, 4))]),
        "key": [[0, 1, 1], [0, 1, 0], [1, 1, 1], [2, 3, 3], [2, 3, 2], [3, 3, 3]],
        "label": [1.0, 1.0, -1.0, 1.0, 1.0, -1.0],
        "group": [0, 0, 0, 1, 1, 1],
    }
    rule = GradientDescent(0.5)
    stages = (
        Stage(rule, 4000, group="consistent", name="1"),
        Stage(rule, 8000, group="conflicting", name="2"),
    )
    plan = experiment(
        form=form,
        initial=Initial(width=16, omega=omega),
        stages=stages,
        grid=Grid(stop=8000, count=11),
        problem=Problem(Linear(1), Logistic()),
    )
    weights = {name: w[:1] * omega / 0.3 for name, w in given_weights().items()}
    return run(plan, weights={**weights, "w": given_weights()["w"][:1]}, data=data)


def test_small_scales_need_transport():
    """Gram matrices keep a late direction to eps/ω² alone, which is why ω is asked."""
    datasets = {form: late_start(form, 1e-4) for form in ("weights", "gram", "auto")}
    scores = np.abs(datasets["weights"]["score"]).isel(time=-1)
    assert float(scores[0, 0, 2:4, 2:4].max()) > 1
    lost = {
        n: largest_difference(datasets["weights"], datasets[n]).max() for n in datasets
    }
    assert datasets["auto"].attrs["form"] == "transport"
    assert "well conditioned" in datasets["auto"].attrs["form_reason"]
    assert lost["auto"] < 1e-10 < 1e-9 < lost["gram"]


def test_bartlett_draws_have_the_law_of_weights():
    """First two moments of the initial Gram matrix, 4000 draws, to 5 sigma."""
    import attnflow
    from attnflow.models.forms.scores import score_factor

    initial = Initial(width=40, omega=2.0)
    with attnflow.precise():
        factor = np.asarray(score_factor(initial, 4000, 3, key=jax.random.key(0)))
    gram = factor.swapaxes(1, 2) @ factor
    # For W ~ Wishart(m, I ω²/m): mean ω² I, variance (ω⁴/m) (1 + δ_ij).
    variance = 2.0**4 / 40 * (1 + np.eye(6))
    mean_error = np.abs(gram.mean(axis=0) - 4.0 * np.eye(6)) / np.sqrt(variance / 4000)
    assert mean_error.max() < 5
    ratio = gram.var(axis=0) / variance
    assert np.abs(ratio - 1).max() < 5 * np.sqrt(4 / 4000)


def test_one_seed_draws_differently_at_every_width():
    """Otherwise a ladder over widths would look cleaner than it is."""
    grid = Grid(points=(0.0, 1.0))
    scores = []
    for width in (10**6, 2 * 10**6):
        initial = Initial(width=width, omega=1.0, draw="bartlett")
        dataset = run(experiment(initial=initial, until=1, grid=grid))
        scores.append(dataset["score"].values[0, 0].ravel() * np.sqrt(width))
    assert abs(np.corrcoef(*scores)[0, 1]) < 0.6
