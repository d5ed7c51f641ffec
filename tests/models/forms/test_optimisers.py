"""Every rule, decay, clipping and rules of single weights, in every form that takes it.

Along whole trajectories, to ten times the spread of plain weights one ulp apart.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from tests.core import experiment, given_weights, largest_difference, some_slow
from tests.models.forms import family
from tests.models.forms.family import Case, allowed, ratio, trajectory

from attnflow.data import MixtureTask
from attnflow.experiments import run
from attnflow.models.forms import Initial, choose
from attnflow.models.forms.scores import Gram, Transport
from attnflow.models.forms.values import ChainGram
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.schema.clock import compile_time
from attnflow.training import Stage
from attnflow.training.rules import (
    Adam,
    AdamW,
    CosineDecay,
    Flow,
    GradientDescent,
    Lion,
    Momentum,
    Muon,
    Nesterov,
    NormalisedDescent,
    SignGD,
    Warmup,
    per_part,
)

pytestmark = [pytest.mark.cpus, pytest.mark.usefixtures("precise")]

GD = GradientDescent(0.05)
RULES = {
    "decay": GradientDescent(0.05, weight_decay=0.3),
    "clip": GradientDescent(0.2, clip=0.3),
    "both, on schedule": GradientDescent(
        0.1, Warmup(5.0, CosineDecay(30.0)), weight_decay=0.2, clip=0.5
    ),
    "momentum": Momentum(0.02, 0.8, weight_decay=0.1, clip=0.4),
    "nesterov": Nesterov(0.02, 0.8, weight_decay=0.1, clip=0.4),
    "normalised": NormalisedDescent(0.05, weight_decay=0.3),
    "muon": Muon(0.02, weight_decay=0.2, clip=0.1),
    "adam": Adam(0.01),
    "lion": Lion(0.005),
    "keys alone": {"keys": GD, "values": GD},
    "queries decay": {
        "keys": GradientDescent(0.1),
        "queries": GradientDescent(0.03, weight_decay=0.4),
        "values": GD,
    },
    "keys remember": {"keys": Momentum(0.02), "queries": GD, "values": GD},
    "muon for keys": {"keys": Muon(0.02), "scores": GD, "values": GD},
    "clipped apart": {
        "keys": GradientDescent(0.2, clip=0.3),
        "scores": GradientDescent(0.1, clip=0.3),
        "values": GD,
    },
    "output alone": {"scores": GD, "w_O": GradientDescent(0.2)},
    "output decays": {
        "scores": GD,
        "w_O": GradientDescent(0.1, weight_decay=0.3),
        "values": GD,
    },
    "neurons alone": {"scores": GD, "W": GradientDescent(0.1)},
    "adam for keys": {"keys": Adam(0.01), "queries": SignGD(0.003), "values": GD},
}
FOLLOWS = [
    ("gram", "decay", "trained output", False),
    ("gram", "clip", "neurons", False),
    ("gram", "both, on schedule", "vector", False),
    ("gram", "normalised", "trained output", False),
    ("gram", "keys alone", "vector", False),
    ("gram", "queries decay", "trained output", False),
    ("gram", "clipped apart", "vector", False),
    ("gram", "output alone", "trained output", False),
    ("gram", "output decays", "trained output", False),
    ("gram", "neurons alone", "neurons", False),
    ("transport", "decay", "followed", False),
    ("transport", "clip", "fixed output", True),
    ("transport", "momentum", "trained output", False),
    ("transport", "nesterov", "neurons", False),
    ("transport", "muon", "vector", True),
    ("transport", "queries decay", "vector", False),
    ("transport", "keys remember", "vector", False),
    ("transport", "muon for keys", "vector", False),
    ("transport", "clipped apart", "class means", False),
    ("transport", "output decays", "trained output", False),
    ("tokens", "decay", "trained output", False),
    ("tokens", "keys alone", "vector", False),
    ("tokens", "keys remember", "vector", False),
    ("tokens", "output decays", "trained output", False),
    ("coordinates", "lion", "vector", False),
    ("coordinates", "adam for keys", "trained output", False),
]


def case_of(values, *, merged=False, seed=3):
    return Case(seed, values, Problem(Linear(2), Logistic()), merged=merged)


@pytest.mark.parametrize(("form", "rule", "values", "merged"), FOLLOWS)
def test_equals_plain_weights(form, rule, values, merged):
    case = case_of(values, merged=merged)
    plain, limits = allowed(case, RULES[rule])
    assert max(np.abs(row[-1] - row[0]).max() for row in plain[:2]) > 0.05
    ours = trajectory(case, form, RULES[rule], case.weights())
    assert ratio(ours, plain, limits) <= 1


def _symmetric(self, state, update):
    half = state + state @ update
    return half + update @ half


def _swapped(self, update):
    keys, queries = jnp.split(update, 2, axis=-1)
    return {"W_K": queries, "W_Q": keys}


MUTANTS = [
    ("gram", "queries decay", "vector", Gram, {"move_apart": _symmetric}),
    ("gram", "decay", "vector", Gram, {"unit": lambda self, x: 0 * x}),
    ("gram", "decay", "trained output", ChainGram, {"unit": lambda self, x: x}),
    ("gram", "clip", "vector", Gram, {"square": lambda *_: jnp.ones(())}),
    ("transport", "keys remember", "vector", Transport, {"pieces": _swapped}),
    ("transport", "decay", "vector", Transport, {"unit": lambda self, x: -x}),
]


@pytest.mark.parametrize(("form", "rule", "values", "owner", "changes"), MUTANTS)
def test_mutated_forms_are_caught(form, rule, values, owner, changes, monkeypatch):
    case = case_of(values)
    plain, limits = allowed(case, RULES[rule])
    for method, mutant in changes.items():
        monkeypatch.setattr(owner, method, mutant)
    # A new function, since jit would give back what it compiled for the unharmed part.
    anew = eqx.filter_jit(lambda *arguments: family.steps(*arguments))
    monkeypatch.setattr(family, "walk", anew)
    ours = trajectory(case, form, RULES[rule], case.weights())
    assert ratio(ours, plain, limits) > 100


PARTS = {"all": ("scores", "values"), "keys": ("keys", "values")}


@pytest.mark.parametrize(
    ("form", "parts"),
    some_slow(
        [("gram", "all"), ("gram", "keys"), ("transport", "keys")],
        lambda form, parts: form == "transport",
    ),
)
def test_a_flow_with_decay_equals_plain_weights(form, parts):
    """Two adaptive solutions agree to what their own tolerances leave."""
    weights = given_weights()
    runs = {}
    for name, rtol in (("weights", 1e-9), ("weights", 1e-11), (form, 1e-11)):
        rule = Flow(rtol=rtol, weight_decay=0.05)
        stages = (Stage(rule, 40.0, PARTS[parts]),)
        plan = experiment(form=name, stages=stages, until=40.0)
        runs[name, rtol] = run(plan, weights=weights)
    error = largest_difference(runs["weights", 1e-9], runs["weights", 1e-11])
    difference = largest_difference(runs["weights", 1e-11], runs[form, 1e-11])
    assert difference.max() <= 10 * error.max()
    assert difference.max() < 1e-9
    free = experiment(form=form, rule=Flow(), until=40.0)
    assert largest_difference(run(free, weights=weights), runs[form, 1e-11]).max() > 0.1


def test_a_quotient_decays_as_all_samples_do():
    infinite = Initial(width="infinite", omega=0.3)
    rule = GradientDescent(0.1, weight_decay=0.02)
    full, orbits = (
        run(experiment(initial=infinite, task=MixtureTask(2, 3, p), rule=rule))
        for p in ("exact", "orbits")
    )
    assert orbits.attrs["form"] == "quotient"
    assert largest_difference(full, orbits).max() < 2e-14


INITIAL = Initial(16, 0.3)


@pytest.mark.parametrize(
    ("rule", "form", "why"),
    [
        (GradientDescent(0.1, weight_decay=0.1), "gram", "cheapest"),
        (GradientDescent(0.1, clip=1.0), "gram", "cheapest"),
        (Nesterov(0.1), "transport", "memory"),
        (AdamW(0.1), "weights", "no token covers decay"),
        (AdamW(0.1, weight_decay=0.0), "coordinates", "rotations"),
        (Adam(0.1, clip=1.0), "weights", "clipped, sees the length"),
        (Lion(0.1), "coordinates", "rotations"),
        (SignGD(0.1), "signs", "rotations"),
        ({"keys": SignGD(0.1), "queries": SignGD(0.2)}, "coordinates", "rotations"),
        ({"keys": GD, "values": GD}, "gram", "cheapest"),
        ({"keys": Momentum(0.1), "values": GD}, "transport", "memory"),
    ],
)
def test_the_cheapest_exact_form_is_taken(rule, form, why):
    rules = [rule if isinstance(rule, dict) else per_part(rule, PARTS["all"])]
    name, reason = choose("auto", rules, initial=INITIAL, rank=4, symmetric=False)
    assert name == form
    assert why in reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": AdamW(0.1), "form": "coordinates"}, "no token covers"),
        ({"rule": AdamW(0.1), "form": "gram"}, "commute with rotations"),
        ({"rule": Adam(0.1, clip=1.0), "form": "coordinates"}, "sees the length"),
        (
            {"rule": AdamW(0.1), "initial": Initial("infinite")},
            "at infinite width there are none",
        ),
        (
            {"rule": AdamW(0.1), "initial": Initial(10**9)},
            "are too many",
        ),
        (
            {
                "rule": Flow(weight_decay=0.1),
                "form": "infinite",
                "initial": Initial("infinite"),
            },
            "Weights that decay leave the manifold",
        ),
        (
            {"stages": (Stage(SignGD(0.1), 2, ("keys", "values")),), "form": "signs"},
            "does not tell its weights apart",
        ),
        (
            {"stages": (Stage(GD, 2, ("scores", "w_O")),), "form": "weights"},
            "no weight 'w_O' to train",
        ),
    ],
)
def test_what_forms_refuse(changes, message):
    with pytest.raises(ValueError, match=message):
        run(experiment(**changes, until=2))


def test_what_is_not_trained_stays():
    weights = given_weights()
    stages = (Stage(GradientDescent(0.1, weight_decay=0.1), 30, ("queries", "w")),)
    last = run(experiment(stages=stages, until=30), weights=weights, lift=True)
    assert last.attrs["form"] == "weights"
    assert (last["W_K_final"].values[0] == weights["W_K"]).all()
    assert np.abs(last["W_Q_final"].values[0] - weights["W_Q"]).max() > 1e-3


def test_one_program_serves_all_numbers():
    seconds = []
    for decay, clip in ((0.1, 1.0), (0.3, 0.01)):
        with compile_time() as watch:
            run(experiment(rule=AdamW(0.01, weight_decay=decay, clip=clip), until=20))
        seconds.append(watch.seconds)
    assert seconds[1] == 0 < seconds[0]
