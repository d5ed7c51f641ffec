"""The tangent kernel from reduced states against autodiff over all weights."""

import numpy as np
import pytest

from attnflow.data import sequences
from attnflow.models.forms.frames import DenseFrame, GatherFrame
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.observables.curvature import tangent_kernel
from attnflow.observables.curvature.kernel import output_derivatives
from tests.observables.curvature.full import VALUES, full_kernel, sampled_data, systems

pytestmark = pytest.mark.usefixtures("precise")


def check(made):
    wanted = full_kernel(*made["weights"])
    for name, (system, state) in made.items():
        found = np.asarray(tangent_kernel(system, state))
        assert np.abs(found - wanted).max() < 1e-13 * np.abs(wanted).max(), name


@pytest.mark.parametrize("values", VALUES)
def test_equals_autodiff_over_all_weights(values):
    for width in (11, 3):
        _, made = systems(VALUES[values], width=width)
        check(made)


def test_one_merged_matrix():
    _, made = systems(VALUES["class means"], merged=True)
    check(made)


@pytest.mark.parametrize("trained", ["scores", "values"])
def test_only_trained_parts_count(trained):
    _, made = systems(VALUES["neurons"], trained=(trained,))
    check(made)


@pytest.mark.parametrize("seed", range(3))
def test_random_data(seed):
    problem = Problem(Linear(2), Squared())
    # Larger steps diverge, and scores of 10⁷ know their shares to a few digits alone.
    changes = {"problem": problem, "data": sampled_data(seed), "rate": 0.05}
    _, made = systems(VALUES["neurons"], **changes)
    assert isinstance(made["gram"][0].form.frame, DenseFrame)
    check(made)


@pytest.mark.slow
def test_large_data_take_the_other_frame():
    draw = np.random.default_rng(0)
    tokens = draw.standard_normal((9, 8)) / 2
    label = draw.choice([-1.0, 1.0], 12)
    data = sequences(tokens, draw.integers(0, 9, (12, 4)), label)
    _, made = systems(VALUES["neurons"], data=data)
    assert isinstance(made["gram"][0].form.frame, GatherFrame)
    check(made)


def test_is_the_written_formula():
    """`tr(D A_Q D'ᵀ) + tr(Dᵀ A_K D') + b z·z' + g zᵀ A_V z'`, from the state alone."""
    _, made = systems(VALUES["neurons"])
    system, state = made["gram"]
    own = system.form.scores.self_scores(state["scores"])
    chain, gain = state["values"], system.form.values.gain
    made_by = output_derivatives(system, state)
    D, z = made_by.scores, made_by.values
    wanted = (
        np.einsum("nhkq,hqp,mhkp->nm", D, own.query, D)
        + np.einsum("nhkq,hkp,mhpq->nm", D, own.key, D)
        + np.einsum("nhr,h,mhr->nm", z, chain[:, -1, -1], z)
        + np.einsum("nhr,h,hrs,mhs->nm", z, gain, chain[:, :-1, :-1], z)
    )
    found = np.asarray(tangent_kernel(system, state))
    assert np.abs(found - wanted).max() < 1e-13 * np.abs(wanted).max()
    assert np.linalg.eigvalsh(found)[0] > -1e-13 * np.abs(found).max()
