"""Value chains: reduced parts against the plain weights, along whole trajectories."""

from itertools import product

import jax
import numpy as np
import pytest
from tests.core import (
    allowed,
    assert_same_to_rounding,
    experiment,
    largest_difference,
    mostly_slow,
    some_slow,
)

import attnflow
from attnflow.experiments import run
from attnflow.models.forms import Chain, ClassMeans, Initial, Neurons, Vector
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum

# Forms are exact at every rate, also far from the gradient flow.
pytestmark = pytest.mark.filterwarnings(
    "ignore::attnflow.experiments.LearningRateWarning"
)

CHAINS = {
    "vector": Vector(0.3),
    "fixed output": Chain(7, 0.3, 0.5, trained=False),
    "trained output": Chain(7, 0.3, 0.5),
    "neurons": Neurons(7, 9, 0.3, 0.3),
    "neurons by law": Neurons(7, 9, 0.3, 0.3, 0.4, "law"),
    "narrow chain": Chain(2, 0.4, 0.5),
    "uniform": Neurons(7, 9, 0.3, 0.3, 0.4, "law", law="uniform"),
    "class means": ClassMeans(3, 0.3),
}
RULES = {
    "descent": GradientDescent(0.1),
    "rates": {"scores": GradientDescent(0.3), "values": GradientDescent(0.05)},
    "momentum": Momentum(0.03, 0.9),
    "decay": Momentum(0.03, 0.7, weight_decay=0.02),
}


def weights_of(initial, heads=2, embed=4, seed=0):
    from attnflow.models.forms.initial import draw_weights

    with attnflow.precise():
        weights = draw_weights(initial, heads, embed, key=jax.random.key(seed))
        return {name: np.asarray(array) for name, array in weights.items()}


def check(form, values, rule, **changes):
    initial = Initial(width=11, omega=0.4, values=values)
    weights = weights_of(initial, changes.pop("heads", 2))
    changes = {"initial": initial, "rule": rule, "until": 200, **changes}
    plain, tolerance = allowed(weights, **changes)
    ours = run(experiment(form=form, **changes), weights=weights)
    difference = largest_difference(plain, ours)
    assert float(np.abs(plain["value"][0, -1] - plain["value"][0, 0]).max()) > 1e-3
    assert (difference <= tolerance).all(), (difference / tolerance).max()


@pytest.mark.parametrize(
    ("form", "rule", "chain"),
    some_slow(
        product(("gram", "transport"), ("descent", "rates"), CHAINS),
        # Each form with each chain.
        lambda form, rule, chain: (form == "gram") == (rule == "descent"),
    ),
)
def test_equals_plain_weights(chain, rule, form):
    check(form, CHAINS[chain], RULES[rule])


@pytest.mark.parametrize(
    ("rule", "chain"),
    some_slow(
        product(("momentum", "decay"), CHAINS),
        lambda rule, chain: (rule == "momentum") == (list(CHAINS).index(chain) % 2),
    ),
)
def test_transport_follows_memory_and_decay(chain, rule):
    check("transport", CHAINS[chain], RULES[rule])


def test_one_linear_head():
    problem = Problem(Linear(1), Logistic(), score_scale=0.3)
    check("gram", CHAINS["neurons"], RULES["descent"], problem=problem, heads=1)


@pytest.mark.slow
def test_staged_training_of_a_chain():
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, 60, ("values",), name="1"),
        Stage(rule, 130, ("scores",), "conflicting", name="2"),
        Stage(rule, 200, name="3"),
    )
    for form in ("gram", "transport"):
        check(form, CHAINS["trained output"], rule, stages=stages)


@pytest.mark.slow
@pytest.mark.parametrize("chain", ["trained output", "neurons"])
def test_flow_of_a_chain(chain):
    initial = Initial(width=11, omega=0.4, values=CHAINS[chain])
    weights = weights_of(initial)
    changes = {"initial": initial, "rule": Flow(rtol=1e-11), "until": 20.0}
    plain = run(experiment(form="weights", **changes), weights=weights)
    for form in ("gram", "transport"):
        ours = run(experiment(form=form, **changes), weights=weights)
        assert largest_difference(plain, ours).max() < 1e-9


def test_rules_that_do_not_commute_are_refused():
    initial = Initial(width=11, omega=0.4, values=CHAINS["neurons"])
    with pytest.raises(ValueError, match="commute with rotations"):
        run(experiment(form="transport", initial=initial, rule=Adam(0.01)))


@pytest.mark.parametrize(
    "chain",
    mostly_slow(
        ["trained output", "fixed output", "neurons", "class means"], "neurons"
    ),
)
def test_sampled_chains_have_the_law_of_weights(chain):
    """Two-sample Kolmogorov–Smirnov of the initial values and of their first step."""
    from scipy.stats import ks_2samp

    values = CHAINS[chain]
    seeds = range(150)
    grid = Grid(points=(0.0, 1.0))
    samples = []
    for how in ("weights", "bartlett"):
        initial = Initial(width=11, omega=0.4, values=values, draw=how)
        plan = experiment(
            initial=initial, until=1, grid=grid, rule=GradientDescent(0.5)
        )
        dataset = run(plan, seeds=seeds)
        samples.append(dataset["value"].sel(head="+", token="c1").values)
    first = ks_2samp(samples[0][:, 0], samples[1][:, 0])
    step = ks_2samp(*(values[:, 1] - values[:, 0] for values in samples))
    assert first.pvalue > 1e-3 and step.pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Vector(-1.0), "scale is -1.0"),
        (lambda: Chain(0, 0.1, 0.1), "width is 0"),
        (lambda: Neurons(3, -1, 0.1, 0.1), "count is -1"),
        (lambda: ClassMeans(0, 0.1), "count is 0"),
        (lambda: Neurons(3, 4, 0.1, float("nan")), "inner_scale is nan"),
        (lambda: Initial(draw="bartlett", law="uniform"), "only normal weights"),
    ],
)
def test_bad_chains(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_given_weights_of_a_chain_are_checked():
    initial = Initial(width=11, omega=0.4, values=CHAINS["neurons"])
    weights = weights_of(initial)
    plan = experiment(initial=initial)
    lacking = {n: w for n, w in weights.items() if n != "a"}
    with pytest.raises(ValueError, match=r"a \(2, neuron\)"):
        run(plan, weights=lacking)
    with pytest.raises(ValueError, match="with width = 11, value_width = 7"):
        run(plan, weights={**weights, "W": weights["W"][..., :5]})


def test_given_weights_of_class_means_are_checked():
    initial = Initial(width=11, omega=0.4, values=CHAINS["class means"])
    weights = weights_of(initial)
    with pytest.raises(ValueError, match=r"must have \(2, 2, neuron, 4\)"):
        run(experiment(initial=initial), weights={**weights, "W_V": weights["W_V"][0]})
    wider = {**weights, "W_V": np.repeat(weights["W_V"], 2, axis=2)}
    datasets = [run(experiment(initial=initial), weights=w) for w in (weights, wider)]
    # The mean of repeated neurons is the same: of 6 and of 3 in each of two classes.
    start = [m["value"].isel(time=0) for m in datasets]
    assert_same_to_rounding(*start, roundings=2 * 6)
    moved = [m["value"].isel(time=1) - m["value"].isel(time=0) for m in datasets]
    assert float(np.abs(moved[0]).max()) > 1.5 * float(np.abs(moved[1]).max())


def test_a_wide_chain_costs_what_a_narrow_one_costs():
    sizes = set()
    for width in (64, 10**6, 10**9):
        values = Neurons(width, width, 0.1, 0.1)
        initial = Initial(width=width, omega=0.3, values=values, draw="bartlett")
        plan = experiment(initial=initial, until=5, grid=Grid(stop=5, count=3))
        sizes.add(run(plan).nbytes)
    assert len(sizes) == 1
