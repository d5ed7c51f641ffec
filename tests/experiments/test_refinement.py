"""Flows repeated at a tenth of their tolerance."""

import numpy as np
import pytest

from attnflow import schema
from attnflow.experiments import Computation, run
from attnflow.schema.settings import address
from attnflow.training import Grid, Reach, Stage
from attnflow.training.rules import Flow, GradientDescent, Momentum
from tests.core import experiment, given_weights

NAMES = ("loss", "score", "value", "accuracy")


def plan(rtol, **changes):
    rule = Flow(rtol=rtol, atol=1e-3 * rtol, solver="tsit5", **changes)
    return experiment(
        rule=rule, until=40.0, grid=Grid(stop=40.0, count=3), observables=NAMES
    )


@pytest.fixture(scope="module")
def checked():
    weights = given_weights()
    return {rtol: run(plan(rtol), weights=weights, check=True) for rtol in (1e-3, 1e-6)}


def test_it_rises_with_the_tolerance(checked):
    """A loose solution shows it, though nothing conserved has moved much."""
    changes = {rtol: float(result["refinement"][0]) for rtol, result in checked.items()}
    assert changes[1e-3] > 1e-4
    assert changes[1e-3] > 100 * changes[1e-6] > 0


def test_it_is_of_the_size_of_the_error(checked):
    """Against a sharp solution: a tenth of the tolerance leaves a part of the error."""
    result, exact = checked[1e-3], checked[1e-6]
    each = result["refinement_by_observable"].sel(seed=0)
    for name in ("loss", "score", "value"):
        error = np.abs(result[name].values - exact[name].values).max()
        error /= np.abs(exact[name].values).max()
        assert 0.3 * error < float(each.sel(observable=name)) < 3 * error, name


def test_it_is_the_largest_over_observables_for_every_seed():
    result = run(plan(1e-3), seeds=(3, 5), check=True)
    schema.check(result)
    each = result["refinement_by_observable"]
    assert each.dims == ("seed", "observable") and each.shape == (2, 4)
    assert tuple(each["observable"].values) == NAMES
    assert (result["refinement"] == each.max("observable")).all()
    assert (each.sel(observable="loss") > 0).all()
    assert not {"refinement", "refinement_by_observable"} & set(
        schema.observables_of(result)
    )


def test_the_run_itself_is_the_same(checked):
    plain = run(plan(1e-6), weights=given_weights())
    assert "refinement" not in plain
    for name in NAMES:
        assert (plain[name] == checked[1e-6][name]).all()
    assert plain.attrs["id"] != checked[1e-6].attrs["id"]
    assert address(plan(1e-6).canonical(), seeds=(0,)) != address(
        plan(1e-6).canonical(), seeds=(0,), check=True
    )


def test_flows_have_no_learning_rate(checked):
    assert "rate_threshold" not in checked[1e-3]
    assert "rate_threshold_note" not in checked[1e-3].attrs


def test_stages_that_end_by_an_event_are_compared_as_well():
    rule = Flow(rtol=1e-4, solver="tsit5")
    stages = (Stage(rule, Reach("value[+,c1]", 0.2, 50.0), ("values",)),)
    changes = {"stages": stages, "grid": Grid(stop=20.0, count=41)}
    result = run(experiment(**changes), weights=given_weights(), check=True)
    assert result["outcome"].values[0] == "event"
    assert 0 < float(result["refinement"][0]) < 1e-2


def test_a_second_run_that_ends_otherwise_says_nothing():
    """Few steps are allowed: enough for the run, not for a tenth of its tolerance."""
    result = run(plan(1e-3, max_steps=25), weights=given_weights(), check=True)
    assert result["outcome"].values[0] == "finished"
    assert np.isnan(result["refinement"].values).all()
    assert np.isnan(result["refinement_by_observable"].values).all()


def test_progress_tells_both_runs():
    reports = []
    run(
        plan(1e-3),
        weights=given_weights(),
        check=True,
        progress=lambda fraction, text: reports.append((fraction, text)),
    )
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert [text for fraction, text in reports if fraction < 0.5] == ["training"]
    assert reports[-1][1] == "training (a tenth of the tolerance)"


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (GradientDescent(0.1), "gradient descent"),
        ({"scores": Momentum(0.1), "values": Momentum(0.2)}, "momentum"),
    ],
)
def test_steps_are_exact(rule, name):
    with pytest.raises(ValueError, match=f"{name}, whose steps are exact"):
        run(experiment(rule=rule), check=True)


def test_what_trains_nothing_has_no_tolerance():
    computation = Computation(
        "mixture", "toy", {"n": 3}, "tests.experiments.toys:square"
    )
    with pytest.raises(ValueError, match="toy trains nothing"):
        run(computation, check=True)
