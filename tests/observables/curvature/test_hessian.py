"""The Hessian from reduced states against autodiff over all weights."""

import sys
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attnflow
from attnflow.data import MixtureTask
from attnflow.models.forms import Initial, Vector, build
from attnflow.models.forms.initial import draw_weights
from attnflow.models.problem import (
    Exponential,
    Linear,
    Logistic,
    Problem,
    ReluPair,
    Squared,
)
from attnflow.models.systems import Training
from attnflow.observables.curvature import (
    Widths,
    hessian,
    hessian_spectrum,
    sharpness,
    widths_of,
)
from tests.core import mostly_slow
from tests.observables.curvature.full import (
    BOTH,
    VALUES,
    expanded,
    few_steps,
    full_spectrum,
    sampled_data,
    systems,
)

pytestmark = pytest.mark.usefixtures("precise")


def check(initial, by_form, tolerance=1e-10):
    """Every form's spectrum and sharpness against those of the plain weights."""
    full = full_spectrum(*by_form["weights"])
    size = np.abs(full).max()
    for name, (system, state) in by_form.items():
        widths = Widths() if name == "weights" else widths_of(initial)
        actual = expanded(hessian_spectrum(system, state, widths), len(full))
        assert np.abs(actual - full).max() <= tolerance * size, name
        top = float(sharpness(system, state, widths))
        assert abs(top - full[-1]) <= tolerance * size, name


@pytest.mark.parametrize("width", [11, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "values",
    mostly_slow(VALUES, "fixed output", "neurons"),
)
def test_the_whole_spectrum_with_multiplicities(values, width):
    """Widths above and below twice the rank of the tokens, where P is singular."""
    initial, by_form = systems(VALUES[values], width=width)
    check(initial, by_form)


@pytest.mark.parametrize("values", ["vector", "neurons"])
def test_one_merged_matrix(values):
    initial, by_form = systems(VALUES[values], merged=True)
    assert widths_of(initial).scores is None
    check(initial, by_form)


@pytest.mark.parametrize("trained", ["scores", "values"])
def test_only_trained_parts_count(trained):
    initial, by_form = systems(VALUES["neurons"], trained=(trained,))
    check(initial, by_form)


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    values=st.sampled_from(sorted(VALUES)),
    width=st.sampled_from([1, 5, 8]),
    readout=st.sampled_from([Linear(2), ReluPair(0.3)]),
    loss=st.sampled_from([Logistic(), Squared(), Exponential()]),
)
def test_random_problems_of_the_family(seed, values, width, readout, loss):
    """Dependent tokens, absent keys and uneven probabilities too."""
    with attnflow.precise():
        initial, by_form = systems(
            VALUES[values],
            width=width,
            rate=0.02,
            problem=Problem(readout, loss),
            data=sampled_data(seed),
            seed=seed,
        )
        check(initial, by_form)


def test_followed_neurons_are_part_of_no_curvature():
    """The rows that ride along are weights of nothing."""
    initial, by_form = systems(VALUES["neurons"])
    followed = replace(initial, values=replace(initial.values, follow=True))
    data = MixtureTask().sequences()
    weights = draw_weights(initial, 2, data.tokens.shape[1], key=jax.random.key(0))
    form, state = build(
        "transport", data, followed, heads=2, key=jax.random.key(0), weights=weights
    )
    system = replace(by_form["transport"][0], form=form)
    state = few_steps(system, state, 3, 0.5)
    check(initial, {"weights": by_form["weights"], "transport": (system, state)})


def on_mixture(form, initial, weights=None):
    data = MixtureTask().sequences()
    problem = Problem(ReluPair(0.5), Logistic())
    key = jax.random.key(0)
    part, state = build(form, data, initial, heads=2, key=key, weights=weights)
    return Training(part, problem, data, data.probability, BOTH), state


def moved(system, state, time=0.3):
    """A state away from the initial one, on the flow to second order."""
    half = jax.tree.map(
        lambda x, v: x + time / 2 * v, state, system.velocity(0.0, state)
    )
    return jax.tree.map(lambda x, v: x + time * v, state, system.velocity(0.0, half))


def equal_keys_and_queries(rank=4, width=11):
    draw = np.random.default_rng(3)
    same = jnp.asarray(0.4 * draw.standard_normal((2, width, rank)))
    values = jnp.asarray(0.3 * draw.standard_normal((2, rank)))
    return {"W_K": same, "W_Q": same, "w": values}


def test_a_singular_gram_matrix_of_a_wide_model():
    """Equal keys and queries: rank r where the width would allow 2r."""
    initial = Initial(width=11, omega=0.4, values=Vector(0.3))
    weights = equal_keys_and_queries()
    names = ("weights", "gram", "transport")
    by_form = {name: on_mixture(name, initial, weights) for name in names}
    check(initial, by_form)


def test_infinite_width_is_a_finite_block_with_infinite_multiplicities():
    """Weights `ω [I 0]ᵀ` have the Gram matrix of infinite width at width 2r + 3."""
    omega, rank = 0.7, 4
    weights = np.zeros((2, 2 * rank + 3, 2 * rank))
    weights[:, : 2 * rank] = omega * np.eye(2 * rank)
    given = {"W_K": weights[..., :rank], "W_Q": weights[..., rank:]}
    given = {**given, "w": np.zeros((2, rank))}
    finite = Initial(width=2 * rank + 3, omega=omega)
    system, state = on_mixture("weights", finite, jax.tree.map(jnp.asarray, given))
    plain = hessian_spectrum(system, state)
    infinite = Initial(width="infinite", omega=omega)
    for form in ("gram", "transport", "infinite"):
        actual = hessian_spectrum(*on_mixture(form, infinite), widths_of(infinite))
        scale = np.abs(plain.values).max()
        assert np.abs(actual.values - plain.values).max() < 1e-12 * scale
        assert (np.isinf(actual.multiplicity) == (plain.multiplicity == 3)).all()


def test_scores_alone_know_the_curvature_at_infinite_width():
    initial = Initial(width="infinite", omega=0.7)
    gram, state = on_mixture("gram", initial)
    state = moved(gram, state)
    scores, _ = on_mixture("infinite", initial)
    alone = {"scores": gram.form.tables(state).scores, "values": state["values"]}
    own = scores.form.scores.self_scores(alone["scores"])
    table = alone["scores"]
    full = jnp.block([[own.key, table], [table.swapaxes(-1, -2), own.query]])
    same = {"scores": full, "values": state["values"]}
    one = hessian_spectrum(gram, same, widths_of(initial))
    other = hessian_spectrum(scores, alone, widths_of(initial))
    assert np.abs(one.values - other.values).max() < 1e-12


def test_products_find_the_same_sharpness(monkeypatch):
    initial, by_form = systems(VALUES["trained output"])
    arguments = (*by_form["gram"], widths_of(initial))
    whole = float(sharpness(*arguments))
    module = sys.modules["attnflow.observables.curvature.hessian"]
    monkeypatch.setattr(module, "DENSE_SIZE", 0)
    assert abs(float(sharpness(*arguments)) / whole - 1) < 1e-12
    compiled = eqx.filter_jit(sharpness)(*arguments)
    assert abs(float(compiled) / whole - 1) < 1e-12


def test_a_free_direction_can_be_the_sharpest():
    """Where no sample curves the loss, the force itself is all the curvature."""
    initial = Initial(width=9, omega=1e-9, values=Vector(0.3))
    system, state = on_mixture("gram", initial)
    system = Training(
        system.form, system.problem, system.data, system.probability, ("scores",)
    )
    force = np.asarray(system.forces(state).scores)
    wide = float(sharpness(system, state, Widths(9)))
    assert wide == pytest.approx(np.linalg.norm(force, 2, axis=(1, 2)).max(), rel=1e-8)


def test_a_state_that_has_diverged(monkeypatch):
    initial, by_form = systems(VALUES["vector"])
    system, state = by_form["transport"]
    state = {**state, "values": jnp.nan * state["values"]}
    with pytest.raises(ValueError, match="Take an earlier state"):
        hessian_spectrum(system, state, widths_of(initial))
    module = sys.modules["attnflow.observables.curvature.hessian"]
    for limit in (1000, 0):
        monkeypatch.setattr(module, "DENSE_SIZE", limit)
        assert np.isnan(sharpness(system, state, widths_of(initial)))


@pytest.mark.parametrize("change", ["width", "gain"])
def test_a_wrong_width_or_gain_is_seen(change):
    initial, by_form = systems(VALUES["neurons"])
    full = full_spectrum(*by_form["weights"])
    system, state = by_form["gram"]
    widths = widths_of(initial)
    if change == "width":
        widths = Widths(widths.scores, widths.values + 1)
    else:
        system = eqx.tree_at(lambda s: s.form.values.gain, system, replace_fn=jnp.sqrt)
    actual = expanded(hessian_spectrum(system, state, widths), len(full))
    assert np.abs(actual - full).max() > 1e-3 * np.abs(full).max()


def test_the_cost_does_not_know_the_width():
    sizes = set()
    for width in (64, 10**12):
        initial = Initial(width=width, omega=0.7, draw="bartlett")
        system, state = on_mixture("gram", initial)
        matrix = hessian(system, state, widths_of(initial))
        sizes.add(matrix.block.shape)
        assert float(matrix.multiplicity[0]) == width - 8
    assert len(sizes) == 1
