"""Gauss–Newton sharpness against autodiff over all weights, and what descent bears."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from attnflow.data import CooccurrenceTask
from attnflow.models.forms import Initial, Neurons, build
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
    gauss_newton_sharpness,
    output_curvature,
    stability,
)
from attnflow.observables.curvature import kernel as module
from tests.core import mostly_slow
from tests.observables.curvature.full import BOTH, VALUES, full_jacobian, systems

pytestmark = pytest.mark.usefixtures("precise")

SECOND = {
    Logistic: lambda f, y: np.exp(-f) / (1 + np.exp(-f)) ** 2,
    Exponential: lambda f, y: np.exp(-y * f),
    Squared: lambda f, y: np.ones_like(f),
}


def expected(system, state, rates=None, zero=False):
    """The top eigenvalue of `(D J)ᵀ H (D J)` over all trained weights, D² the rates."""
    jacobian, outputs = map(np.asarray, full_jacobian(system, state))
    at = np.zeros(len(system.data.label)) if zero else outputs
    second = SECOND[type(system.problem.loss)](at, np.asarray(system.data.label))
    sizes = [
        np.full(sum(leaf.size for leaf in jax.tree.leaves(state[name])), rate)
        for name, rate in sorted((rates or dict.fromkeys(system.trained, 1.0)).items())
    ]
    moved = jacobian * np.sqrt(np.concatenate(sizes))
    weight = np.asarray(system.probability) * second
    return np.linalg.eigvalsh(moved.T @ (weight[:, None] * moved))[-1]


@pytest.mark.parametrize(
    ("values", "loss", "dense"),
    [
        ("vector", Logistic, True),
        pytest.param("vector", Squared, False, marks=pytest.mark.slow),
        ("trained output", Exponential, True),
        pytest.param("neurons", Logistic, True, marks=pytest.mark.slow),
        ("neurons", Logistic, False),
    ],
)
def test_equals_autodiff_over_all_weights(values, loss, dense, monkeypatch):
    monkeypatch.setattr(module, "DENSE_ENTRIES", 10**9 if dense else 0)
    problem = Problem(ReluPair(0.5), loss(), score_scale=1.3)
    # A small rate: the exponential loss of a chain runs away from larger ones.
    _, by_form = systems(VALUES[values], problem=problem, rate=0.05)
    reference = expected(*by_form["weights"])
    for name, (system, state) in by_form.items():
        actual = float(gauss_newton_sharpness(system, state))
        assert actual == pytest.approx(reference, rel=1e-11), name


@pytest.mark.parametrize("dense", mostly_slow([True, False], True))
def test_rates_of_parts_and_outputs_elsewhere(dense, monkeypatch):
    monkeypatch.setattr(module, "DENSE_ENTRIES", 10**9 if dense else 0)
    rates = {"scores": 3.0, "values": 0.2}
    _, by_form = systems(VALUES["neurons"])
    system, state = by_form["weights"]
    zero = jnp.zeros_like(system.data.label)
    for own, kwargs in (({}, {}), ({"zero": True}, {"outputs": zero})):
        reference = expected(system, state, rates, **own)
        assert reference != pytest.approx(expected(system, state, **own), rel=0.1)
        for name, (reduced, at) in by_form.items():
            actual = float(gauss_newton_sharpness(reduced, at, rates=rates, **kwargs))
            assert actual == pytest.approx(reference, rel=1e-11), name


def test_only_trained_parts_count(monkeypatch):
    _, by_form = systems(VALUES["neurons"], trained=("scores",))
    reference = expected(*by_form["weights"])
    for limit in (10**9, 0):
        monkeypatch.setattr(module, "DENSE_ENTRIES", limit)
        assert float(gauss_newton_sharpness(*by_form["gram"])) == pytest.approx(
            reference
        )


def test_curvature_of_the_logistic_loss_where_samples_pass():
    _, by_form = systems(VALUES["vector"])
    system, state = by_form["gram"]
    actual = output_curvature(system, state, jnp.zeros_like(system.data.label))
    np.testing.assert_allclose(actual, system.probability / 4, rtol=1e-15)


def test_inside_jit():
    _, by_form = systems(VALUES["vector"])
    system, state = by_form["gram"]
    actual = jax.jit(lambda state: gauss_newton_sharpness(system, state))(state)
    assert float(actual) == pytest.approx(float(gauss_newton_sharpness(system, state)))


def test_a_state_that_has_diverged_gives_no_number(monkeypatch):
    _, by_form = systems(VALUES["vector"])
    system, state = by_form["gram"]
    broken = jax.tree.map(lambda x: x * jnp.nan, state)
    assert np.isnan(float(gauss_newton_sharpness(system, broken)))
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    assert np.isnan(float(gauss_newton_sharpness(system, broken)))


WIDTH, NEURONS, EMBED = 128, 256, 64
VARIANCE = {"normal": 2.0, "uniform": 1 / 3}


def word_model(law, output, seed):
    """The word co-occurrence model with fan-in initial weights, and these.

    Kaiming normal has entries of variance 2 / fan_in; the default of PyTorch's linear
    layers is uniform on ±1 / sqrt(fan_in), of variance 1 / (3 fan_in).
    """
    variance = VARIANCE[law]
    scale, inner = np.sqrt(variance / EMBED), np.sqrt(variance / WIDTH)
    last = (1.0, "signs") if output == "signs" else (np.sqrt(variance / NEURONS), "law")
    values = Neurons(WIDTH, NEURONS, scale, inner, *last, law=law)
    initial = Initial(WIDTH, scale * np.sqrt(WIDTH), values, "weights", law)
    problem = Problem(Linear(1), Logistic(), score_scale=WIDTH**-0.5)
    data_key, key = jax.random.split(jax.random.key(seed))
    data = CooccurrenceTask(embed=EMBED).sequences(key=data_key)
    weights = draw_weights(initial, 1, EMBED, key=key)
    form, state = build("transport", data, initial, heads=1, key=key, weights=weights)
    system = Training(form, problem, data, data.probability, BOTH)
    return system, state, {name: np.asarray(w[0]) for name, w in weights.items()}


def written_out(system, weights):
    """`(1/n) [b X Xᵀ + |a|² (W_V X)ᵀ (W_V X)] / 4`, X what each sample reads."""
    score = weights["W_K"].T @ weights["W_Q"] / np.sqrt(WIDTH)
    read = np.zeros((len(system.data.key), EMBED))
    for number, tokens in enumerate(np.asarray(system.data.key)):
        for query in tokens:
            share = np.exp(score[tokens, query])
            np.add.at(read[number], tokens, share / share.sum())
    seen = weights["a"] @ weights["W"]
    moved = read @ weights["W_V"].T
    kernel = (seen @ seen) * read @ read.T + (weights["a"] ** 2).sum() * moved @ moved.T
    return np.linalg.eigvalsh(kernel)[-1] / len(read) / 4


@pytest.mark.parametrize(
    ("law", "output", "low", "high"),
    [
        ("normal", "signs", 7.3, 8.1),
        ("uniform", "signs", 1.3, 1.6),
        ("normal", "law", 0.06, 0.08),
        ("uniform", "law", 0.0, 0.01),
    ],
)
def test_of_the_word_model_at_its_learning_rate(law, output, low, high):
    """`η λ` at η = 0.01 with samples at outputs 0, where g (1 − g) = 1/4.

    The ranges are those of a prototype with other seeds; |β|² and A_V fluctuate by
    sqrt(2 / 128) = 12%, of which twice is allowed to either side.
    """
    for seed in range(3):
        system, state, weights = word_model(law, output, seed)
        zero = jnp.zeros_like(system.data.label)
        values = dataclasses.replace(system, trained=("values",))
        alone = float(gauss_newton_sharpness(values, state, outputs=zero))
        assert alone == pytest.approx(written_out(system, weights), rel=1e-11)
        assert 0.75 * low <= 0.01 * alone <= 1.25 * high
        # Scores add next to nothing: they are divided by the root of the width.
        both = float(gauss_newton_sharpness(system, state, outputs=zero))
        assert alone <= both <= 1.001 * alone


@pytest.mark.parametrize("power", [0.5, 2.5])
@pytest.mark.parametrize("size", [5, 200])
def test_the_top_of_a_flat_spectrum(power, size):
    """Where 12 vectors are too few, more of them find it; one clear of the rest too."""
    spectrum = 1.0 - np.linspace(0.0, 1.0, size) ** power
    operator = aslinearoperator(np.diag(spectrum))
    start = np.random.default_rng(0).standard_normal(size)
    found = stability._largest_eigenvalue(operator, start)
    assert found == pytest.approx(1.0, abs=1e-13)
