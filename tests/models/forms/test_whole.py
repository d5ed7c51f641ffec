"""Rules that see weights whole: normalised descent and Muon on every part."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core import experiment, given_weights
from tests.models.forms import family
from tests.models.forms.family import (
    VALUES,
    Case,
    allowed,
    ratio,
    trajectory,
    worst_ratio,
)

import attnflow
from attnflow.data import MixtureTask, NoisyPatchesTask
from attnflow.experiments import run
from attnflow.models.forms import PARTS, Initial, Neurons, Vector, choose, is_sparse
from attnflow.models.forms.scores import Gram, Transport
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training.rules import (
    Adam,
    GradientDescent,
    Muon,
    NormalisedDescent,
    per_part,
)

RULES = {
    "normalised": NormalisedDescent(0.05),
    "muon": Muon(0.02),
    "exact": Muon(0.02, orthogonal="exact"),
    "no momentum": Muon(0.03, 0.0, nesterov=False, orthogonal="exact"),
    "decay": Muon(0.02, 0.8, weight_decay=0.1),
}
# Parts and rules that have code of their own; `make verify` tries all of them together.
FOLLOWS = [
    ("gram", "normalised", "neurons", False),
    ("transport", "muon", "trained output", False),
    ("transport", "exact", "class means", True),
]


def case_of(values, *, merged=False, seed=3):
    return Case(seed, values, Problem(Linear(2), Logistic()), merged=merged)


@pytest.mark.parametrize(("form", "rule", "values", "merged"), FOLLOWS)
@pytest.mark.usefixtures("precise")
def test_equals_plain_weights(form, rule, values, merged):
    case = case_of(values, merged=merged)
    plain, limits = allowed(case, RULES[rule])
    moved = [np.abs(row[-1] - row[0]).max() for row in plain[:2]]
    assert min(moved) > 0.1
    ours = trajectory(case, form, RULES[rule], case.weights())
    assert ratio(ours, plain, limits) <= 1


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    values=st.sampled_from(sorted(VALUES)),
    rule=st.sampled_from(sorted(RULES)),
    merged=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_every_part_under_every_rule(values, rule, merged, seed):
    if values == "followed" and rule != "normalised":
        values = "neurons"
    case = case_of(values, merged=merged, seed=seed)
    with attnflow.precise():
        assert worst_ratio(case, "transport", RULES[rule]) <= 1


def _all_as_one(self, update):
    return {"both": update}


def _back_from_one(self, matrices):
    return matrices["both"]


def _gain_as_unit(self, update):
    row = {"table": update / self.gain[:, None]}
    return {"table": row["table"][:, None, None, :]}


def _seen_as_it_is(self, update):
    return {"W_V": update[..., :-1], "beta": update[..., None, :, -1]}


def _no_gain(self, state, direction):
    return (direction * (state @ direction)).sum()


MUTANTS = [
    (
        "transport",
        "muon",
        "vector",
        Transport,
        {"matrices": _all_as_one, "from_matrices": _back_from_one},
    ),
    (
        "transport",
        "normalised",
        "fixed output",
        ValueTable,
        {"matrices": _gain_as_unit},
    ),
    (
        "transport",
        "normalised",
        "neurons",
        ChainTransport,
        {"matrices": _seen_as_it_is},
    ),
    ("gram", "normalised", "neurons", ChainGram, {"square": _no_gain}),
    ("gram", "normalised", "vector", Gram, {"square": lambda *_: jnp.ones(())}),
]


# The first two are of the ordinary run.
SOME = [
    m if i < 2 else pytest.param(*m, marks=pytest.mark.slow)
    for i, m in enumerate(MUTANTS)
]


@pytest.mark.parametrize(("form", "rule", "values", "owner", "changes"), SOME)
@pytest.mark.usefixtures("precise")
def test_mutated_parts_are_caught(form, rule, values, owner, changes, monkeypatch):
    """Two matrices taken for one, lengths in the wrong units."""
    case, rule = case_of(values), RULES[rule]
    plain, limits = allowed(case, rule)
    for method, mutant in changes.items():
        monkeypatch.setattr(owner, method, mutant)
    # A new function, since jit would give back what it compiled for the unharmed part.
    anew = eqx.filter_jit(lambda *arguments: family.steps(*arguments))
    monkeypatch.setattr(family, "walk", anew)
    assert ratio(trajectory(case, form, rule, case.weights()), plain, limits) > 100


FOLLOWED = Initial(8, 0.3, Neurons(8, 3, 0.3, 0.3, follow=True))


@pytest.mark.parametrize(
    ("rule", "initial", "form"),
    [
        (NormalisedDescent(0.1), Initial(), "gram"),
        (Muon(0.1), Initial(), "transport"),
        ({"scores": Muon(0.1), "values": Adam(0.1)}, Initial(), "weights"),
        (NormalisedDescent(0.1), FOLLOWED, "transport"),
        (Muon(0.1), FOLLOWED, "weights"),
    ],
)
def test_the_cheapest_exact_form_is_taken(rule, initial, form):
    rules = [per_part(rule, PARTS)]
    name = choose("auto", rules, initial=initial, rank=4, symmetric=False)
    assert name[0] == form


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": Muon(0.1), "form": "gram"}, "memory"),
        ({"rule": Muon(0.1), "form": "tokens"}, "sees the matrices"),
        ({"rule": NormalisedDescent(0.1), "form": "tokens"}, "sees the length"),
        ({"rule": Muon(0.1), "form": "coordinates"}, "sees the matrices"),
        (
            {
                "rule": NormalisedDescent(0.1),
                "task": MixtureTask(population="orbits"),
                "initial": Initial("infinite"),
            },
            "however often it counts",
        ),
        (
            {
                "rule": Muon(0.1),
                "form": "transport",
                "initial": FOLLOWED,
            },
            "follow=False",
        ),
    ],
)
def test_forms_that_do_not_know_weights_whole(changes, message):
    with pytest.raises(ValueError, match=message):
        run(experiment(**changes, until=2))


@pytest.mark.usefixtures("precise")
def test_rules_that_see_weights_whole_leave_forms_over_tokens():
    data = NoisyPatchesTask(samples=4, test_samples=0).sequences(key=jax.random.key(0))
    for rule, sparse in ((GradientDescent(0.1), True), (Muon(0.1), False)):
        assert is_sparse(data, [per_part(rule, PARTS)], Initial()) is sparse


def test_steps_of_normalised_descent_do_not_shrink_with_the_loss():
    """Far beyond where the logistic loss and its gradient underflow."""
    data = {"tokens": np.eye(2), "key": [[0], [1]], "label": [1.0, -1.0]}
    rule = NormalisedDescent(10.0)
    plan = experiment(
        problem=Problem(Linear(1), Logistic()), rule=rule, observables=("margin",)
    )
    dataset = run(plan, data=data)
    # Both samples pull alike, each on the value of its own token.
    expected = 10.0 * dataset["time"].values / np.sqrt(2)
    margins = dataset["margin"].values[0]
    assert margins[-1].min() > 1000
    assert np.abs(margins - expected[:, None]).max() < 200 * 1e-15 * expected.max()


@pytest.mark.slow
def test_muon_at_any_width():
    """Width is a number under Muon too, and runs tend to the infinitely wide one."""
    scores = []
    for width in ("infinite", 10**8, 10**12):
        initial = Initial(width, 0.3, Vector(0.3), draw="bartlett")
        plan = experiment(rule=Muon(0.02), initial=initial, until=20)
        scores.append(run(plan, seeds=range(4))["score"].values)
    near, nearer = (np.abs(finite - scores[0]).max() for finite in scores[1:])
    assert np.abs(scores[0]).max() > 0.25
    # Wishart matrices deviate from their mean by one over the root of their rows.
    assert 10 < near / nearer < 1000
    assert nearer < 1e-3


def test_weights_come_back_after_muon():
    """Lifted from transport, also those outside the tokens' span, which do not move."""
    weights = given_weights(embed=6)
    changes = {"task": MixtureTask(embed=6), "rule": Muon(0.02), "until": 50}
    plain, ours = (
        run(experiment(form=form, **changes), weights=weights, lift=True)
        for form in ("weights", "transport")
    )
    for name in ("W_K_final", "W_Q_final", "w_final"):
        difference = np.abs(plain[name] - ours[name]).max()
        # Fifty steps of roundings, multiplied by the slope of Newton–Schulz at zero.
        assert float(difference) < 50 * 485 * np.finfo(float).eps
    moved = ours["W_K_final"].values[0] - weights["W_K"]
    assert np.abs(moved[..., :4]).max() > 0.1
    assert np.abs(moved[..., 4:]).max() < 1e-14
