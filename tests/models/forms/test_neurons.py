"""Single neurons that ride along, against the plain weights that hold them."""

import dataclasses
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import ks_2samp
from tests.core import (
    TABLES,
    allowed,
    experiment,
    largest_difference,
    mostly_slow,
    mutated,
    some_slow,
)
from tests.models.forms.test_chains import weights_of

from attnflow.experiments import run
from attnflow.models.forms import Chain, Initial, Neurons, Vector
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum

NEURONS = (
    "neuron_value",
    "neuron_value_rate",
    "neuron_gram_change",
    "largest_neuron_gram_change",
)
NAMES = (*TABLES, *NEURONS)
RULES = {
    "descent": GradientDescent(0.1),
    "rates": {"scores": GradientDescent(0.3), "values": GradientDescent(0.05)},
    "momentum": Momentum(0.03, 0.9),
    "decay": Momentum(0.03, 0.7, weight_decay=0.02, nesterov=True),
}
LAYERS = {
    "signs": Neurons(7, 9, 0.3, 0.3, follow=True),
    "by law": Neurons(7, 9, 0.3, 0.3, 0.4, "law", follow=True),
    "narrow": Neurons(2, 9, 0.3, 0.3, follow=True),
    "one neuron": Neurons(7, 1, 0.3, 0.5, follow=True),
}


def check(layer, rule, **changes):
    initial = Initial(width=11, omega=0.4, values=LAYERS[layer])
    weights = weights_of(initial, changes.pop("heads", 2))
    changes = {"initial": initial, "rule": rule, "observables": NAMES, **changes}
    plain, tolerance = allowed(weights, names=NAMES, **changes)
    # A change of `W Wᵀ` is rounded as that is, from which the plain run takes it.
    gram = np.abs(weights["W"] @ weights["W"].swapaxes(-1, -2)).max()
    least = 10 * np.finfo(float).eps * gram
    tolerance[-2:] = np.maximum(tolerance[-2:], least)
    ours = run(experiment(form="auto", **changes), weights=weights)
    assert ours.attrs["form"] == "transport"
    difference = largest_difference(plain, ours, NAMES)
    assert float(np.abs(plain["neuron_gram_change"][0, -1]).max()) > 1e-3
    assert (difference <= tolerance).all(), (difference / tolerance).max(axis=1)


# Every layer, and every rule, in the ordinary run.
FAST = {"descent": ("signs", "narrow"), "rates": ("one neuron",)}
FAST |= {"momentum": ("by law",), "decay": ("signs",)}


@pytest.mark.parametrize(
    ("rule", "layer"),
    some_slow(product(RULES, LAYERS), lambda rule, layer: layer in FAST[rule]),
)
def test_equals_plain_weights(layer, rule):
    check(layer, RULES[rule])


def test_one_linear_head():
    problem = Problem(Linear(1), Logistic(), score_scale=0.3)
    check("signs", RULES["descent"], problem=problem, heads=1)


@pytest.mark.slow
def test_staged_training():
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, 60, ("values",), name="1"),
        Stage(rule, 130, ("scores",), "conflicting", name="2"),
        Stage(rule, 200, name="3"),
    )
    check("signs", rule, stages=stages)


@pytest.mark.slow
def test_flow_equals_plain_weights():
    """Two adaptive solutions agree to what their own tolerances leave."""
    initial = Initial(width=11, omega=0.4, values=LAYERS["signs"])
    weights = weights_of(initial)
    runs = {}
    for rtol in (1e-9, 1e-11):
        changes = {"rule": Flow(rtol=rtol), "until": 20.0, "observables": NAMES}
        for form in ("weights", "transport"):
            plan = experiment(form=form, initial=initial, **changes)
            runs[form, rtol] = run(plan, weights=weights)
    error = largest_difference(runs["weights", 1e-9], runs["weights", 1e-11], NAMES)
    sharp = runs["weights", 1e-11], runs["transport", 1e-11]
    difference = largest_difference(*sharp, NAMES)
    assert difference.max() <= 10 * error.max()
    assert difference.max() < 1e-9
    assert float(runs["transport", 1e-11]["drift"][0]) < 1e-9


def _frozen(self, state, force):
    rates = NeuronTransport.velocity(self, state, force)
    return {**rates, "neurons": rates["neurons"].at[:, -1].set(0.0)}


def _without_square(self, state, start):
    half = state["neurons"][..., -1] / self.gain[:, None]
    half = half[:, :, None] * self.output[:, None, :]
    return half + half.swapaxes(-1, -2)


@pytest.mark.parametrize(
    ("method", "mutant"),
    [("direction", _frozen), ("neuron_gram_change", _without_square)],
)
def test_mutants_are_caught(method, mutant):
    """One row that stays behind, one squared term dropped: the tolerance sees it."""
    with (
        mutated(NeuronTransport, method, mutant),
        pytest.raises(AssertionError, match=r"array|\["),
    ):
        check("signs", RULES["descent"])


def test_following_changes_nothing_else():
    """Values and scores of a seed are the same with neurons and without."""
    datasets = []
    for follow in (True, False):
        values = Neurons(40, 9, 0.3, 0.3, 0.4, "law", follow=follow)
        initial = Initial(width=40, omega=0.4, values=values, draw="bartlett")
        datasets.append(run(experiment(form="transport", initial=initial)))
    assert largest_difference(*datasets).max() < 1e-14


def drawn(layer, how, heads=3000, seed=0):
    """The part in law for many heads, which are independent copies."""
    key = jax.random.key(seed)
    if how != "weights":
        return layer.sampled(heads, 3, gram=False, key=key, draw=how)
    weights = layer.draw(heads, 3, key=key)
    return layer.reduced(weights, jnp.eye(3), gram=False)


def features(part, state):
    """What tells laws apart: one neuron, two, and each with the values."""
    force = jnp.broadcast_to(jnp.array([0.5, -1.0, 0.3]), (len(part.gain), 3))
    moved = part.move(state, part.direction(state, force))
    values = part.neuron_table(state)[:, :, 0]
    step = part.neuron_table(moved)[:, :, 0] - values
    change = part.neuron_gram_change(moved, state)
    sign = part.output
    return {
        "value": values[:, 0],
        "values of two": values[:, 0] * values[:, 1],
        "value with the sum": values[:, 0] * sign[:, 0] * part.table(state)[:, 0],
        "step": step[:, 0] * sign[:, 0],
        "gram": change[:, 0, 0],
        "gram of two": change[:, 0, 1] * sign[:, 0] * sign[:, 1],
        "output": sign[:, 0],
    }


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize("output", mostly_slow(["signs", "law"], "law"))
def test_drawn_neurons_have_the_law_of_weights(output):
    """Two-sample Kolmogorov–Smirnov over 3000 heads, at a small width."""
    layer = Neurons(6, 2, 0.3, 0.5, 0.7, output, follow=True)
    samples = [features(*drawn(layer, how)) for how in ("weights", "bartlett")]
    for name, values in samples[0].items():
        assert ks_2samp(values, samples[1][name]).pvalue > 1e-3, name


@pytest.mark.usefixtures("precise")
def test_a_law_without_the_projector_is_told_apart():
    """The law test can fail: rows with noise along a are not those of weights."""
    layer = Neurons(6, 2, 0.3, 0.5, 0.7, follow=True)
    part, state = drawn(layer, "bartlett")
    noise = 0.5 * jax.random.normal(jax.random.key(9), (3000, 1, 4), jnp.float64)
    along = part.output[..., None] / jnp.sqrt(part.gain)[:, None, None]
    wrong = part.initial_rows + along * (noise @ state["factor"])
    off = features(dataclasses.replace(part, initial_rows=wrong), state)
    pvalues = [ks_2samp(v, off[n]).pvalue for n, v in features(part, state).items()]
    assert min(pvalues) < 1e-6


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize("draw", ["bartlett", "limit", "expected"])
@pytest.mark.parametrize("output", ["signs", "law"])
def test_drawn_neurons_add_up_to_the_values(draw, output):
    layer = Neurons(40, 9, 0.3, 0.3, 0.4, output, follow=True)
    part, state = drawn(layer, draw, heads=5)
    rows = part.rows(state)
    total = jnp.einsum("hn,hnr->hr", part.output, rows)
    factor = state["factor"]
    values = jnp.einsum("hk,hkr->hr", factor[..., -1], factor)
    assert np.abs(total - values).max() < 1e-13
    if draw != "bartlett":
        # W(0) β is |β|² a / |a|² where Gram matrices are at their expectation.
        seen = 40 * 0.3**2 * part.output
        assert np.abs(rows[..., -1] - seen).max() < 1e-13
    noisy = np.asarray(rows[..., :-1]).any()
    assert bool(noisy) == (draw != "expected")


@pytest.mark.usefixtures("precise")
def test_neurons_in_the_limit_are_normal():
    from scipy.stats import kstest

    layer = Neurons(4000, 9, 0.3, 0.2, follow=True)
    part, state = drawn(layer, "limit", heads=1000)
    size = 0.3 * 0.2 * np.sqrt(4000)
    values = part.neuron_table(state)
    assert kstest(values[:, 0, 1] / size, "norm").pvalue > 1e-3
    product = np.mean(values[:, 0, 1] * values[:, 1, 1]) / size**2
    assert abs(product) < 5 / np.sqrt(1000)


def test_an_output_of_zero_leaves_the_neurons_alone():
    initial = Initial(width=11, omega=0.4, values=LAYERS["signs"])
    weights = weights_of(initial)
    weights["a"] = weights["a"] * np.array([[1.0], [0.0]])
    plan = {"initial": initial, "observables": NAMES, "until": 20}
    datasets = [
        run(experiment(form=form, **plan), weights=weights)
        for form in ("weights", "transport")
    ]
    assert largest_difference(*datasets, NAMES).max() < 1e-14
    assert not datasets[1]["neuron_gram_change"].isel(head=1).any()


def test_what_is_refused():
    layer = Neurons(40, 9, 0.3, 0.3, follow=True)
    initial = Initial(width=40, omega=0.4, values=layer, draw="bartlett")
    with pytest.raises(ValueError, match="forget the single rows of W"):
        run(experiment(form="gram", initial=initial))
    with pytest.raises(ValueError, match="commute with rotations"):
        run(experiment(form="transport", initial=initial, rule=Adam(0.1)))
    with pytest.raises(ValueError, match="that decays is not known"):
        run(experiment(initial=initial, rule=RULES["decay"]))


@pytest.mark.parametrize(
    "values", [Vector(0.3), Chain(7, 0.3, 0.3), Neurons(7, 9, 0.3, 0.3)]
)
def test_parts_without_neurons_say_so(values):
    initial = Initial(width=11, omega=0.4, values=values)
    plan = experiment(form="transport", initial=initial, observables=("neuron_value",))
    with pytest.raises(ValueError, match="follow=True"):
        run(plan)


def test_dims():
    initial = Initial(width=11, omega=0.4, values=LAYERS["signs"])
    grid = Grid(points=(0.0, 2.0))
    dataset = run(experiment(initial=initial, observables=NAMES, until=2, grid=grid))
    assert dataset["neuron_value"].dims == ("seed", "time", "head", "neuron", "token")
    assert dataset["neuron_gram_change"].dims[-2:] == ("neuron", "other_neuron")
    assert dataset.sizes["neuron"] == 9
