"""Learning rates beyond linear stability: a warning, and the run goes on."""

import warnings

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnflow import schema
from attnflow.data import MixtureTask
from attnflow.experiments import LearningRateWarning, run
from attnflow.experiments.limits import stable_step
from attnflow.models.forms import Initial
from attnflow.models.problem import Linear, Problem, Squared
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, GradientDescent, Momentum
from tests.core import assert_same_to_rounding, experiment, given_weights

pytestmark = pytest.mark.cpus

LIMITS = {"sharpness_at_start", "sharpness_at_zero", "rate_threshold"}


def quadratic(rule, steps):
    """The squared loss of a linear readout is a quadratic in a vector of values."""
    return experiment(
        problem=Problem(Linear(2), Squared()),
        stages=(Stage(rule, steps, ("values",)),),
        grid=Grid(stop=steps, count=3),
        observables=("loss",),
    )


def threshold(rule):
    result = run(quadratic(rule, 2), weights=given_weights())
    return float(result["rate_threshold"][0])


RULES = {
    "descent": lambda rate: GradientDescent(rate),
    "momentum": lambda rate: Momentum(rate, 0.8),
    "nesterov": lambda rate: Momentum(rate, 0.8, nesterov=True),
    "decay": lambda rate: Momentum(rate, 0.5, weight_decay=0.3),
}


@pytest.mark.parametrize("kind", RULES)
def test_a_quadratic_grows_just_beyond_the_threshold(kind):
    """On a quadratic the threshold is exact: 2% to either side of it."""
    limit = threshold(RULES[kind](1e-3))
    below = run(quadratic(RULES[kind](0.98 * limit), 3000), weights=given_weights())
    assert below["loss"].values[0, -1] < below["loss"].values[0, 0]
    with pytest.warns(LearningRateWarning, match="need not follow"):
        beyond = run(
            quadratic(RULES[kind](1.02 * limit), 3000), weights=given_weights()
        )
    assert beyond["loss"].values[0, 1] > 1e6 * beyond["loss"].values[0, 0]


def test_the_warning_names_rate_threshold_and_seeds_and_the_run_ends():
    with pytest.warns(LearningRateWarning) as caught:
        result = run(experiment(rule=GradientDescent(30.0), until=5), seeds=(0, 1, 2))
    (message,) = [str(entry.message) for entry in caught]
    lowest = float(result["rate_threshold"].min())
    assert "learning rate 30 " in message and f"{lowest:.4g}" in message
    assert "smallest threshold over seeds; exceeded in 3 of 3" in message
    assert result["recorded"].all()
    assert result["rate_threshold"].attrs["learning_rate"] == 30.0
    assert not LIMITS & set(schema.observables_of(result))


def test_thresholds_are_two_over_the_larger_curvature():
    result = run(experiment(rule=GradientDescent(0.1), until=2), seeds=(0, 1))
    top = np.maximum(result["sharpness_at_start"], result["sharpness_at_zero"])
    np.testing.assert_allclose(result["rate_threshold"], 2 / top, rtol=1e-15)
    names = ("tangent_sharpness",)
    seen = run(experiment(rule=GradientDescent(0.1), until=2, observables=names))
    np.testing.assert_allclose(
        result["sharpness_at_start"][0], seen["tangent_sharpness"][0, 0], rtol=1e-13
    )


def test_large_data_are_taken_product_by_product(monkeypatch):
    from attnflow.observables.curvature import kernel

    plan = experiment(rule=GradientDescent(0.1), until=2)
    dense = run(plan, seeds=(0, 1))
    monkeypatch.setattr(kernel, "DENSE_ENTRIES", 0)
    products = run(plan, seeds=(0, 1))
    for name in LIMITS:
        np.testing.assert_allclose(products[name], dense[name], rtol=1e-12)


def test_rates_of_parts_are_weighed_together():
    """Equal rates are one rate; a part of nearly no rate hardly counts."""
    weights = given_weights()
    weights["w"] = 3 * weights["w"] / np.abs(weights["w"]).max()

    def limit(scores, values):
        rule = {"scores": GradientDescent(scores), "values": GradientDescent(values)}
        result = run(experiment(rule=rule, until=2), weights=weights)
        return float(result["rate_threshold"][0])

    def alone(part):
        stage = Stage(GradientDescent(0.01), 2, (part,))
        result = run(experiment(stages=(stage,), until=2), weights=weights)
        return float(result["rate_threshold"][0])

    equal = run(experiment(rule=GradientDescent(0.01), until=2), weights=weights)
    both = float(equal["rate_threshold"][0])
    # A kernel weighed by parts and one that is not: sums over 8 entries of weights and
    # forces of 9 pairs, and an eigenvalue of a matrix of 8 samples.
    assert_same_to_rounding(limit(0.01, 0.01), both, roundings=8 + 9 + 8**2)
    assert limit(0.01, 1e-9) == pytest.approx(alone("scores"), rel=1e-5)
    assert limit(1e-9, 0.01) == pytest.approx(alone("values"), rel=1e-5)
    # The threshold is that of the larger rate, with the other in proportion.
    between = limit(0.01, 0.005)
    assert both < between < alone("scores")
    assert limit(0.02, 0.01) == pytest.approx(between, rel=1e-12)


def test_nothing_that_moves_has_no_threshold():
    """Neurons that are zero give scores no force: every rate is stable there."""
    stage = Stage(GradientDescent(0.1), 2, ("scores",))
    result = run(experiment(stages=(stage,), grid=Grid(points=(0.0, 2.0))))
    assert float(result["sharpness_at_start"][0]) == 0
    assert float(result["rate_threshold"][0]) == np.inf


def test_quotients_and_other_rules_say_why_there_is_none():
    infinite = Initial(width="infinite", omega=0.3)
    task = MixtureTask(population="orbits")
    result = run(experiment(initial=infinite, task=task, until=2))
    assert not LIMITS & set(result.data_vars)
    assert "QuotientFrame" in result.attrs["rate_threshold_note"]
    result = run(experiment(rule=Adam(0.01), until=2))
    assert not LIMITS & set(result.data_vars)
    assert "Adam" in result.attrs["rate_threshold_note"]


def test_a_rate_within_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(experiment(rule=GradientDescent(0.1), until=2))


@pytest.mark.usefixtures("precise")
@pytest.mark.parametrize(
    "rule",
    [
        GradientDescent(1.0),
        Momentum(1.0, 0.9),
        Momentum(1.0, 0.5),
        Momentum(1.0, 0.9, nesterov=True),
        Momentum(1.0, 0.5, nesterov=True),
    ],
)
def test_stable_steps_are_where_a_quadratic_begins_to_grow(rule):
    """The rule itself on `λ θ² / 2` with λ = 1, 2% to either side of its limit."""
    sizes = []
    for factor in (0.98, 1.02):
        rate = factor * stable_step(rule)
        change = optax.chain(rule.transformation(), optax.scale(-rate))
        theta = jnp.ones(())
        memory = change.init(theta)
        for _ in range(1500):
            update, memory = change.update(theta, memory, theta)
            theta = theta + update
        sizes.append(abs(float(theta)))
    assert sizes[0] < 1e-3 and sizes[1] > 1e3
