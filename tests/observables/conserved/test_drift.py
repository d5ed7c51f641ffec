"""Drifts vanish on what conserves, and see what does not."""

import jax
import numpy as np
import pytest
from scipy.linalg import expm

from attnflow.experiments import run
from attnflow.models.forms import Chain, Initial, Neurons
from attnflow.models.problem import Linear, Problem
from attnflow.observables.conserved import (
    balance_drift,
    gram_drift,
    part_drift,
    transport_drift,
)
from attnflow.training.rules import Flow
from tests.core import experiment, mostly_slow

SIGNS = np.repeat([1.0, -1.0], 3)
FLOWING = Chain(6, 0.3, 0.5), Neurons(6, 5, 0.3, 0.3)


def example(seed=0):
    draw = np.random.default_rng(seed)
    force = draw.standard_normal((3, 3))
    omega = np.block([[np.zeros((3, 3)), force], [force.T, np.zeros((3, 3))]])
    return draw.standard_normal((9, 6)), omega


def drifts(factor, moved):
    before = factor.T @ factor
    ends = [half for both in (factor, factor @ moved) for half in np.hsplit(both, 2)]
    return (
        transport_drift(np.eye(6), moved, SIGNS),
        gram_drift(before, moved.T @ before @ moved, SIGNS),
        balance_drift(*ends),
    )


def test_a_pseudo_orthogonal_path_conserves_all_three():
    """`exp(Ω)` is where a constant force leads: exactly pseudo-orthogonal."""
    factor, omega = example()
    assert max(drifts(factor, expm(0.7 * omega))) < 1e-13


def test_a_step_of_descent_is_seen():
    factor, omega = example()
    assert min(drifts(factor, np.eye(6) + 0.1 * omega)) > 1e-4


@pytest.mark.parametrize("gain", [0.3, 1.0, 40.0])
def test_a_chain_conserves_its_twin(gain):
    draw = np.random.default_rng(1)
    force = draw.standard_normal(3)
    omega = np.zeros((4, 4))
    omega[:3, 3], omega[3, :3] = gain * force, force
    moved = expm(0.3 * omega)
    diagonal = np.array([1.0, 1.0, 1.0, -1 / gain])
    eye = np.eye(4)
    assert transport_drift(eye, moved, diagonal) < 1e-14
    assert transport_drift(eye, eye + 0.3 * omega, diagonal) > 1e-3


@pytest.mark.parametrize("form", ["weights", "transport", "gram"])
@pytest.mark.parametrize("values", mostly_slow(FLOWING, FLOWING[0]))
def test_flows_of_chains_conserve_and_report_it(form, values):
    """Drift follows the tolerance of the solver: it is measured, not assumed."""
    initial = Initial(width=9, omega=0.4, values=values)
    actual = []
    for rtol in (1e-5, 1e-10):
        # Without kinks: an adaptive solver has to feel its way along them.
        plan = experiment(
            form=form,
            problem=Problem(Linear(2)),
            initial=initial,
            rule=Flow(rtol=rtol, atol=rtol),
            until=30.0,
        )
        actual.append(float(run(plan)["drift"][0]))
    assert actual[1] < 1e-8
    assert actual[1] < actual[0] / 10


def test_rows_of_neurons_conserve_too():
    values = Neurons(6, 5, 0.3, 0.3, follow=True)
    initial = Initial(width=9, omega=0.4, values=values)
    problem = Problem(Linear(2))
    plan = experiment(
        problem=problem, initial=initial, rule=Flow(rtol=1e-10), until=30.0
    )
    dataset = run(plan)
    assert dataset.attrs["form"] == "transport"
    assert float(dataset["drift"][0]) < 1e-8


@pytest.mark.usefixtures("precise")
def test_a_wrong_row_of_neurons_is_seen():
    values = Neurons(6, 5, 0.3, 0.3, follow=True)
    key = jax.random.key(0)
    part, state = values.sampled(1, 3, gram=False, key=key)
    assert part_drift(part, state, state) == 0
    wrong = {**state, "neurons": state["neurons"].at[0, 0, 0].add(1e-3)}
    assert part_drift(part, state, wrong) > 1e-5
