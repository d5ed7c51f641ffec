"""One merged key–query matrix: its table against the matrix itself."""

from itertools import product

import jax
import numpy as np
import pytest
from scipy.stats import kstest
from tests.core import allowed, experiment, largest_difference, mutated, some_slow
from tests.models.forms.test_chains import CHAINS, RULES, weights_of

from attnflow.experiments import run
from attnflow.models.forms import Initial, Neurons, Vector, build
from attnflow.models.forms.scores import MergedTable
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.training import Grid, Stage
from attnflow.training.rules import Adam, Flow, GradientDescent, Momentum, SignGD

FORMS = ("gram", "transport")
MEMORYLESS = ("descent", "rates")


def merged(values=CHAINS["vector"], **changes):
    return Initial(omega=0.3, values=values, merged=True, **changes)


def check(form, rule, values=CHAINS["vector"], **changes):
    initial = merged(values)
    weights = weights_of(initial, changes.pop("heads", 2))
    changes = {"initial": initial, "rule": rule, "until": 200, **changes}
    plain, tolerance = allowed(weights, **changes)
    ours = run(experiment(form=form, **changes), weights=weights)
    moved = plain["score"].isel(time=-1) - plain["score"].isel(time=0)
    assert float(np.abs(moved).max()) > 1e-2
    difference = largest_difference(plain, ours)
    assert (difference <= tolerance).all(), (difference / tolerance).max()


@pytest.mark.parametrize(
    ("form", "chain", "rule"),
    some_slow(
        product(FORMS, ("vector", "trained output", "class means"), MEMORYLESS),
        # Each form with each chain.
        lambda form, chain, rule: (form == "gram") == (rule == "descent"),
    ),
)
def test_equals_the_matrix(form, chain, rule):
    check(form, RULES[rule], CHAINS[chain])


@pytest.mark.parametrize(
    ("chain", "rule"),
    some_slow(
        product(("vector", "trained output"), ("momentum", "decay")),
        lambda chain, rule: (chain == "vector") == (rule == "momentum"),
    ),
)
def test_follows_memory_and_decay(chain, rule):
    check("transport", RULES[rule], CHAINS[chain])


def test_memory_needs_no_transport_where_all_is_linear():
    check("gram", RULES["decay"])


def test_one_head_in_stages():
    rule = GradientDescent(0.1)
    stages = (
        Stage(rule, 60, ("values",), name="1"),
        Stage(rule, 200, ("scores",), "conflicting", name="2"),
    )
    problem = Problem(Linear(1), Logistic(), score_scale=0.5)
    check("gram", rule, stages=stages, problem=problem, heads=1)


@pytest.mark.slow
def test_flow_equals_the_matrix():
    initial = merged()
    weights = weights_of(initial)
    changes = {"initial": initial, "rule": Flow(rtol=1e-11), "until": 20.0}
    # Without kinks: an adaptive solver has to feel its way along them.
    changes["problem"] = Problem(Linear(2), Logistic())
    datasets = [
        run(experiment(form=form, **changes), weights=weights)
        for form in ("weights", "transport")
    ]
    assert largest_difference(*datasets).max() < 1e-9
    assert [float(m["drift"][0]) for m in datasets] == [0.0, 0.0]


def _without_a_row(self, state, force):
    return force.at[..., -1, :].set(0.0)


def test_a_table_with_one_row_too_few_is_caught():
    with (
        mutated(MergedTable, "direction", _without_a_row),
        pytest.raises(AssertionError),
    ):
        check("gram", RULES["descent"])


@pytest.mark.parametrize("rule", [Adam(0.01), SignGD(0.001)])
def test_rules_that_do_not_commute(rule):
    assert run(experiment(initial=merged(), rule=rule)).attrs["form"] == "weights"
    with pytest.raises(ValueError, match="commute with rotations"):
        run(experiment(form="gram", initial=merged(), rule=rule))


@pytest.mark.parametrize("form", ["weights", "gram"])
@pytest.mark.parametrize("name", ["key_self_score", "query_self_score_rate"])
def test_there_are_no_self_scores(form, name):
    plan = experiment(form=form, initial=merged(), observables=(name,))
    with pytest.raises(ValueError, match="no keys and queries of its own"):
        run(plan)


def test_forms_that_need_a_width():
    with pytest.raises(ValueError, match="form='infinite' is about keys"):
        run(experiment(form="infinite", initial=merged(width="infinite")))
    with pytest.raises(ValueError, match="form='quotient' is about keys"):
        run(experiment(form="quotient", initial=merged()))


def test_width_plays_no_part():
    """Neither of drawn scores, nor of what forms take."""
    datasets = [
        run(experiment(form=form, initial=merged(width=width)))
        for form, width in [("weights", 7), ("weights", "infinite"), ("gram", 10**9)]
    ]
    for other in datasets[1:]:
        assert largest_difference(datasets[0], other).max() < 1e-13


def test_given_matrices_are_checked():
    weights = weights_of(merged())
    plan = experiment(initial=merged())
    with pytest.raises(ValueError, match=r"needed are W_KQ \(2, 4, 4\), w \(2, 4\)"):
        run(plan, weights={"W_K": weights["W_KQ"], "w": weights["w"]})
    with pytest.raises(ValueError, match=r"it must have \(2, 4, 4\)"):
        run(plan, weights={**weights, "W_KQ": weights["W_KQ"][..., :3]})
    with pytest.raises(ValueError, match="needed are W_K"):
        run(experiment(), weights=weights)


@pytest.mark.parametrize("draw", ["weights", "bartlett", "limit"])
def test_entries_have_the_standard_deviation_omega(draw):
    grid = Grid(points=(0.0, 1.0))
    plan = experiment(initial=merged(draw=draw), until=1, grid=grid)
    dataset = run(plan, seeds=range(40))
    scores = dataset["score"].isel(time=0).values.ravel()
    assert kstest(scores / 0.3, "norm").pvalue > 1e-3


def test_expected_scores_are_zero_and_many_weights_are_not_drawn():
    dataset = run(experiment(initial=merged(draw="expected"), until=2))
    assert not dataset["score"].isel(time=0).any()
    assert merged().drawn_as(4, 10**4) == "bartlett"
    assert merged(law="uniform").drawn_as(4, 10**4) == "weights"
    wide = merged(Neurons(10**6, 10**6, 0.1, 0.1))
    assert wide.drawn_as(4, 4) == "bartlett"


@pytest.mark.usefixtures("precise")
def test_the_state_is_the_table():
    data = experiment().task.sequences()
    key = jax.random.key(0)
    form, state = build("gram", data, merged(Vector(0.1)), heads=2, key=key)
    assert isinstance(form.scores, MergedTable)
    assert state["scores"].shape == (2, 4, 4)
    assert form.refuses({"scores": Momentum(0.1), "values": Momentum(0.1)}) is None
