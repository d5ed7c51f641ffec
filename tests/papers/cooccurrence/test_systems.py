"""Appendices B and C and the SVM of token counts; wrong formulas are noticed."""

from dataclasses import asdict, replace

import jax
import numpy as np
import pytest

from attnflow.claims.statistics import hard_margin
from attnflow.data import CooccurrenceTask
from attnflow.experiments import Computation, run
from attnflow.papers.cooccurrence import computations
from attnflow.papers.cooccurrence.systems import flows, hand_gradients
from attnflow.papers.cooccurrence.systems.closed_system import OBJECTS, ClosedSystem
from attnflow.papers.cooccurrence.systems.counts_machine import machine
from attnflow.papers.cooccurrence.systems.hand_gradients import printed
from attnflow.papers.cooccurrence.systems.model import draw, initial_of, samples_of
from attnflow.papers.cooccurrence.systems.six_variables import (
    errors_of,
    readout_gain_error,
)
from attnflow.papers.cooccurrence.systems.token_forms import token_terms

# Sums of some 1e3 terms of one size: rounding is far below this, and a wrong term far
# above.
ROUNDING = 1e-12
SCALES = {"sigma_scores": 1.0, "sigma_values": 0.3}
SMALL = {"samples": 12, "embed": 12, "width": 10, "neurons": 7, **SCALES}


def compute(name, setting, seeds=(0,)):
    function = f"attnflow.papers.cooccurrence.systems:{name}"
    plan = Computation("cooccurrence", name, asdict(setting), function)
    return run(plan, seeds=seeds)


def start(seed=0):
    """Weights and samples of a small model; with 12 tokens fillers do repeat."""
    task = CooccurrenceTask(12, 5, 12)
    data, weights = draw(task, initial_of(10, 7, **SCALES), seed)
    return weights, samples_of(data)


def test_printed_gradients():
    dataset = compute("gradients", computations.Gradients(**SMALL), seeds=(0, 3))
    assert dataset.sizes == {"seed": 2, "fillers": 2, "formula": 6}
    assert dataset["relative_error"].max() < ROUNDING


@pytest.mark.parametrize("factor", [0.0, 0.99])
def test_a_wrong_softmax_derivative_is_seen(precise, monkeypatch, factor):
    """With `p_h (1[h = k] − factor · p_k)`."""

    def wrong(p):
        eye = np.eye(p.shape[-1])
        return p[..., :, None] * (eye - factor * p[..., None, :])

    monkeypatch.setattr(hand_gradients, "softmax_jacobian", wrong)
    # A function of its own: `printed` may be compiled already.
    errors = hand_gradients.errors_of(lambda w, s: printed(w, s), *start())
    wrong_formulas = {name for name, error in errors.items() if error > 1e-4}
    assert wrong_formulas == {"W_K, Jacobian", "W_Q, Jacobian"}


@pytest.mark.slow
def test_appendix_c():
    small = computations.AppendixC(**SMALL, flow_width=12, flow_neurons=6, records=11)
    dataset = compute("appendix_c", small, seeds=(0, 1))
    assert dataset["right_side_error"].max() < ROUNDING
    assert dataset["readout_gain_error"].max() < ROUNDING
    distinct = dataset["token_form_error"].sel(fillers="distinct")
    assert np.isnan(distinct.sel(object="O")).all()
    assert distinct.drop_sel(object="O").max() < ROUNDING
    # Both integrations keep to 1e-12 a step; a run has some hundred steps.
    last = dataset.isel(record=-1)
    assert (last["move"] > 0.01).all()
    assert (dataset["difference"].max("record") < 1e-9 * last["move"]).all()
    assert (last["loss"] < 0.3 * dataset["loss"].isel(record=0)).all()


def test_forms_by_token_need_every_token_once(precise):
    weights, samples = start()
    counts = np.asarray(samples.tokens.sum(axis=1))
    assert counts.max() > 1
    errors = errors_of(token_terms, weights, samples)
    assert min(errors.values()) > 1e-3


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("name", OBJECTS)
def test_a_dropped_term_is_seen(precise, name, index):
    def dropped(system, state):
        terms = ClosedSystem.terms(system, state)
        return {**terms, name: (terms[name][1 - index],)}

    errors = errors_of(dropped, *start())
    assert errors.pop(name) > 0.01
    assert max(errors.values()) < ROUNDING


def test_equation_five_is_for_signs(precise):
    """For other a, |a|² takes the place of m1."""
    weights, samples = start()
    assert readout_gain_error(weights, samples) < ROUNDING
    doubled = {**weights, "a": 2 * weights["a"]}
    assert readout_gain_error(doubled, samples) == pytest.approx(0.75)


def test_token_machine():
    setting = computations.TokenSvm(samples=(60.0, 1e7), lengths=(5, 20))
    svm = compute("token_svm", setting, seeds=(0, 1)).isel(seed=1)
    cell = svm.sel(samples=60, length=5)
    assert cell["norm_squared"] == pytest.approx(8.223, abs=5e-4)
    shares = 17 * cell["dual"].values
    assert shares == pytest.approx([7.119, 4.941, 4.941, 0], abs=5e-4)
    assert cell["balance_ratio"] == pytest.approx(1.2687, abs=5e-5)
    assert svm["balance_ratio"].sel(samples=60, length=20) < 1
    assert svm["limit_norm_squared"] == pytest.approx(17)
    assert 17 * svm["limit_dual"].values == pytest.approx([7, 5, 5, 0], abs=1e-12)
    assert svm["limit_readout"].values == pytest.approx([2, 2, -3])
    assert svm["limit_balance_ratio"] == pytest.approx(1.5)
    nearly = svm.sel(samples=1e7)
    assert nearly["norm_squared"].values == pytest.approx(17, rel=1e-4)


def test_token_machine_of_a_drawn_training_set(precise):
    """Symmetry against the counts of every token in every sample."""
    task = CooccurrenceTask(12, 5, 35, fillers="distinct")
    data = task.sequences(key=jax.random.key(2))
    counts = np.asarray(data.tokens[data.key].sum(axis=1))
    each = hard_margin(counts @ counts.T, np.asarray(data.label))
    symmetric = machine(12, 5)
    assert each.norm_squared == pytest.approx(symmetric.norm_squared, rel=1e-12)
    summed = np.bincount(np.asarray(data.group), each.dual)
    assert summed == pytest.approx(symmetric.dual, abs=1e-11)


def test_a_run_that_ends_early_is_not_compared(precise, monkeypatch):
    def ends_early(plan, starts):
        return [{name: np.full((3, 1), np.nan) for name in flows.QUANTITIES}]

    monkeypatch.setattr(flows, "_by_tables", ends_early)
    monkeypatch.setattr(
        flows,
        "_by_forms",
        lambda *_: {name: np.zeros((3, 1)) for name in flows.QUANTITIES},
    )
    with pytest.raises(ValueError, match="ended before clock=50"):
        flows.flow_differences(computations.AppendixC(), [0])


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="at least 3 tokens"):
        machine(60, 2)
    with pytest.raises(ValueError, match="at least 3 tokens"):
        compute("gradients", replace(computations.Gradients(), length=2))
