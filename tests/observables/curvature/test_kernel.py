"""The tangent kernel from reduced states against autodiff over all weights."""

import numpy as np
import pytest

from attnflow.data import sequences
from attnflow.models.forms.frames import DenseFrame, GatherFrame
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.observables.curvature import tangent_kernel
from attnflow.observables.curvature.kernel import output_derivatives
from tests.core import mostly_slow
from tests.observables.curvature.full import VALUES, full_kernel, sampled_data, systems

pytestmark = pytest.mark.usefixtures("precise")


def check(by_form):
    expected = full_kernel(*by_form["weights"])
    for name, (system, state) in by_form.items():
        actual = np.asarray(tangent_kernel(system, state))
        assert np.abs(actual - expected).max() < 1e-13 * np.abs(expected).max(), name


@pytest.mark.parametrize("values", mostly_slow(VALUES, "trained output", "neurons"))
def test_equals_autodiff_over_all_weights(values):
    for width in (11, 3):
        _, by_form = systems(VALUES[values], width=width)
        check(by_form)


def test_one_merged_matrix():
    _, by_form = systems(VALUES["class means"], merged=True)
    check(by_form)


@pytest.mark.parametrize("trained", ["scores", "values"])
def test_only_trained_parts_count(trained):
    _, by_form = systems(VALUES["neurons"], trained=(trained,))
    check(by_form)


@pytest.mark.parametrize("seed", mostly_slow(range(3), 0))
def test_random_data(seed):
    problem = Problem(Linear(2), Squared())
    # Larger steps diverge, and scores of 10⁷ know their shares to a few digits alone.
    changes = {"problem": problem, "data": sampled_data(seed), "rate": 0.05}
    _, by_form = systems(VALUES["neurons"], **changes)
    assert isinstance(by_form["gram"][0].form.frame, DenseFrame)
    check(by_form)


@pytest.mark.slow
def test_large_data_take_the_other_frame():
    draw = np.random.default_rng(0)
    tokens = draw.standard_normal((9, 8)) / 2
    label = draw.choice([-1.0, 1.0], 12)
    data = sequences(tokens, draw.integers(0, 9, (12, 4)), label)
    _, by_form = systems(VALUES["neurons"], data=data)
    assert isinstance(by_form["gram"][0].form.frame, GatherFrame)
    check(by_form)


def test_is_the_written_formula():
    """`tr(D A_Q D'ᵀ) + tr(Dᵀ A_K D') + b z·z' + g zᵀ A_V z'`, from the state alone."""
    _, by_form = systems(VALUES["neurons"])
    system, state = by_form["gram"]
    own = system.form.scores.self_scores(state["scores"])
    chain, gain = state["values"], system.form.values.gain
    made_by = output_derivatives(system, state)
    D, z = made_by.scores, made_by.values
    expected = (
        np.einsum("nhkq,hqp,mhkp->nm", D, own.query, D)
        + np.einsum("nhkq,hkp,mhpq->nm", D, own.key, D)
        + np.einsum("nhr,h,mhr->nm", z, chain[:, -1, -1], z)
        + np.einsum("nhr,h,hrs,mhs->nm", z, gain, chain[:, :-1, :-1], z)
    )
    actual = np.asarray(tangent_kernel(system, state))
    assert np.abs(actual - expected).max() < 1e-13 * np.abs(expected).max()
    assert np.linalg.eigvalsh(actual)[0] > -1e-13 * np.abs(actual).max()
