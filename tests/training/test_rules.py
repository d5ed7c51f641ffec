"""Rules by name, and schedules of their learning rates."""

from dataclasses import dataclass
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.schema.clock import compile_time
from attnflow.schema.fields import Optimised, RuleName
from attnflow.training import Stage
from attnflow.training.rules import (
    RULES,
    SCHEDULES,
    Adam,
    AdamW,
    Batches,
    CosineDecay,
    Flow,
    GradientDescent,
    LinearDecay,
    Momentum,
    Muon,
    PowerDecay,
    SignGD,
    StepDecay,
    Warmup,
    fitting_rule,
    joined,
    rule_named,
    rule_of,
    schedule_named,
    split,
    trained_by,
)
from tests.core import allowed, experiment, given_weights, largest_difference


@dataclass(frozen=True)
class Setting:
    rule: str
    schedule: str = "constant"
    steps: float = 10.0
    learning_rate: float = 0.1
    momentum: float = 0.9
    width: int = 7


FACTORS = [
    (LinearDecay(10), {0: 1.0, 5: 0.5, 10: 0.0, 12: 0.0}),
    (LinearDecay(10, 0.2), {5: 0.6, 20: 0.2}),
    (CosineDecay(10), {0: 1.0, 5: 0.5, 10: 0.0, 11: 0.0}),
    (CosineDecay(10, 0.5), {10: 0.5}),
    (PowerDecay(3.0), {0: 1.0, 9: 0.5}),
    (PowerDecay(1.0, 1.0), {3: 0.25}),
    (StepDecay(4, 0.1), {3: 1.0, 4: 0.1, 8: 0.01}),
    (Warmup(4), {0: 0.25, 3: 1.0, 9: 1.0}),
    (Warmup(4, LinearDecay(10)), {1: 0.5, 4: 1.0, 9: 0.5, 14: 0.0}),
]


@pytest.mark.parametrize(("schedule", "expected"), FACTORS)
@pytest.mark.usefixtures("precise")
def test_factors(schedule, expected):
    for step, factor in expected.items():
        assert float(schedule(step)) == pytest.approx(factor, abs=1e-15)


def test_steps_of_a_schedule_are_descents_at_those_rates():
    """Stages of fixed rates are a step-wise schedule, which counts through stages."""
    weights = given_weights()
    fixed = (
        Stage(GradientDescent(0.2), 50, name="1"),
        Stage(GradientDescent(0.1), 100, name="2"),
    )
    scheduled = GradientDescent(0.2, StepDecay(50, 0.5))
    halves = (Stage(scheduled, 30, name="1"), Stage(scheduled, 100, name="2"))
    runs = [
        run(experiment(stages=stages, until=100), weights=weights)
        for stages in (fixed, halves)
    ]
    assert largest_difference(*runs).max() < 1e-14


def test_transport_follows_a_schedule():
    weights = given_weights()
    rule = Momentum(0.1, schedule=Warmup(20, CosineDecay(100)))
    plain, tolerance = allowed(weights, rule=rule)
    ours = run(experiment(form="transport", rule=rule), weights=weights)
    assert (largest_difference(plain, ours) <= tolerance).all()
    # Nothing moves once the rate is zero.
    still = np.diff(plain["score"].sel(time=slice(120, None)).values, axis=1)
    assert not still.any()


def test_growth_and_a_schedule_multiply():
    rule = SignGD(0.1, growth=0.5, schedule=StepDecay(3, 0.5))
    assert float(rule.pace(4)) == pytest.approx(0.5 * 1.5**2)
    assert rule.pace(4) != SignGD(0.1, growth=0.5).pace(4)


@pytest.mark.parametrize("name", sorted(RULES))
def test_rules_by_name(name):
    options = {} if name == "flow" else {"learning_rate": 0.1}
    assert type(rule_named(name, **options)) is RULES[name]


def test_options_of_named_rules():
    rule = rule_named("muon", learning_rate=0.1, orthogonal="exact", momentum=0.5)
    assert rule == Muon(0.1, 0.5, orthogonal="exact")
    with pytest.raises(ValueError, match="Did you mean 'muon'"):
        rule_named("mun", learning_rate=0.1)
    with pytest.raises(ValueError, match=r"needs learning_rate"):
        rule_named("gd")
    with pytest.raises(ValueError, match=r"option of the rule 'gd': 'momentum'"):
        rule_named("gd", learning_rate=0.1, momentum=0.9)


def test_a_rule_takes_what_fits_it():
    offered = {"learning_rate": 0.1, "momentum": 0.5, "rtol": 1e-8}
    assert fitting_rule("gd", **offered) == GradientDescent(0.1)
    assert fitting_rule("momentum", **offered) == Momentum(0.1, 0.5)
    assert fitting_rule("flow", schedule=None, **offered).rtol == 1e-8
    with pytest.raises(ValueError, match="nothing to schedule"):
        fitting_rule("flow", schedule=LinearDecay(5))


def test_the_rule_of_a_setting():
    setting = Setting("momentum", "cosine", 100, momentum=0.5)
    assert rule_of(setting) == Momentum(0.1, 0.5, schedule=CosineDecay(100))
    flow = rule_of(Setting("flow"), clock="log", atol=1e-9)
    assert (flow.clock, flow.atol) == ("log", 1e-9)


def test_names_are_those_of_the_rules():
    assert set(RULES) == set(get_args(RuleName))


@pytest.mark.usefixtures("precise")
def test_schedules_by_name():
    assert schedule_named("constant", 100) is None
    ends = {n: schedule_named(n, 100) for n in SCHEDULES if n != "constant"}
    actual = {name: float(end(100)) for name, end in ends.items() if end}
    ends = {"linear": 0.0, "cosine": 0.0, "inverse-root": 0.5, "step": 0.001}
    assert actual == pytest.approx(ends)
    warm = schedule_named("linear", 100, warmup=20)
    assert warm == Warmup(20, LinearDecay(80))
    with pytest.raises(ValueError, match="Did you mean 'cosine'"):
        schedule_named("cosin", 100)


@dataclass(frozen=True)
class Parts(Optimised):
    learning_rate: float = 0.1
    trains: str = "both"
    steps: float = 10.0
    scale: float = 7.0


def test_what_a_setting_trains():
    gd = GradientDescent
    assert trained_by(Parts()) == {"rule": gd(0.1), "trains": ("scores", "values")}
    fields = {"rule": "adamw", "beta2": 0.95, "weight_decay": 0.1}
    assert trained_by(Parts(**fields))["rule"] == AdamW(
        0.1, beta2=0.95, weight_decay=0.1
    )
    apart = trained_by(Parts(key_rate=0.3, query_rate=0.0))["rule"]
    assert apart == {"values": gd(0.1), "keys": gd(0.3)}
    rest = trained_by(Parts(rules=("W_V:adam",), trains="values"))["rule"]
    assert rest == {"values": gd(0.1), "W_V": Adam(0.1)}
    only = trained_by(Parts(score_rate=0.5), only=("values",))
    assert only == {"rule": gd(0.1), "trains": ("values",)}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"beta2": 0.9}, "beta2=0.9 is not used by rule=gd"),
        ({"rules": ("values",)}, "a part and its rule"),
        ({"rules": ("valu:gd",)}, "Did you mean 'values'"),
        ({"key_rate": 0.1, "trains": "values"}, "train it too"),
        ({"rule": "flow", "value_rate": 0.1}, "one clock"),
        ({"rule": "flow", "clip": 0.1}, "nothing to clip"),
        ({"score_rate": 0.0, "value_rate": 0.0}, "nothing is trained"),
    ],
)
def test_what_no_setting_trains(fields, message):
    with pytest.raises(ValueError, match=message):
        trained_by(Parts(**fields))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearDecay(0), "steps is 0"),
        (lambda: CosineDecay(10, 2.0), "final is 2.0"),
        (lambda: PowerDecay(-1.0), "scale is -1.0"),
        (lambda: StepDecay(5, 0.0), "factor is 0.0"),
        (lambda: Muon(0.1, momentum=1.0), "momentum is 1.0"),
        (lambda: Muon(0.1, iterations=0), "iterations is 0"),
        (lambda: Muon(0.1, orthogonal="svd"), "orthogonal is 'svd'"),
        (lambda: Muon(0.1, weight_decay=-1.0), "weight_decay is -1.0"),
        (lambda: Muon(0.0), "learning_rate is 0.0"),
        (lambda: Momentum(0.1, weight_decay=-1.0), "weight_decay is -1.0"),
        (lambda: Adam(0.1, epsilon=np.nan), "epsilon is nan"),
        (lambda: Flow(clock="logarithmic"), "use 'linear' or 'log'"),
        (lambda: Flow(solver="euler"), "use 'dopri8' or 'tsit5'"),
        (lambda: Flow(max_steps=0), "max_steps is 0"),
        (lambda: Batches(2, "random"), "use 'drawn' or 'epochs'"),
    ],
)
def test_numbers_that_no_rule_takes(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("precision", [jnp.float32, jnp.float64])
@pytest.mark.usefixtures("precise")
def test_numbers_of_adam_leave_weights_their_precision(precision):
    rule = joined(*split(Adam(0.01)))
    weights = jnp.ones(3, precision)
    before = rule.transformation().init(weights)
    update, after = jax.eval_shape(rule.transformation().update, weights, before)
    assert update.dtype == after.mu.dtype == after.nu.dtype == precision


def test_numbers_of_adam_are_arguments_of_one_program():
    """Another β or ε compiles nothing; that there is no ε is another program."""

    def last(**numbers):
        with compile_time() as watch:
            dataset = run(
                experiment(rule=Adam(0.01, **numbers), form="weights", until=20)
            )
        return float(dataset["loss"][0, -1]), watch.seconds

    first, second = last(beta1=0.9), last(beta1=0.5, beta2=0.9, epsilon=1e-3)
    assert second[1] == 0 < first[1]
    assert abs(first[0] - second[0]) > 1e-3
    assert last(epsilon=0.0)[1] > 0
