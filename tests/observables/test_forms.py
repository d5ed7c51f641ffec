"""Every observable in every form against the plain weights, along a trajectory."""

import jax
import numpy as np
import pytest

from attnflow.data import CooccurrenceTask, MixtureTask
from attnflow.experiments import run
from attnflow.models.forms import Initial, Vector, build, symmetry_of
from attnflow.models.forms.values import ChainGram
from attnflow.models.problem import Linear, Logistic, Problem, ReluPair
from attnflow.models.systems import Training
from attnflow.observables import OBSERVABLES, View, find
from attnflow.observables.curvature import gauss_newton_sharpness
from attnflow.training import Grid
from attnflow.training.rules import GradientDescent
from tests.core import experiment, mostly_slow, one_ulp
from tests.observables.plans import (
    CHAIN,
    CHAINS,
    COORDINATES,
    NEURONS,
    PLAIN,
    ROWS,
    TEST,
    WEIGHT_CHANGES,
    drawn,
)

CASES = {
    "vector": (Vector(0.3), ReluPair(0.5), MixtureTask(), 4, CHAIN | TEST),
    "trained output": (CHAINS["trained output"], ReluPair(0.5), MixtureTask(), 4, TEST),
    "neurons": (
        CHAINS["neurons"],
        Linear(1),
        CooccurrenceTask(samples=12, length=4, embed=8, test_samples=40),
        8,
        set(),
    ),
}


@pytest.fixture(scope="module", params=mostly_slow(CASES, "trained output", "neurons"))
def plain(request):
    """A plan, its run by plain weights, and the tolerance of each observable."""
    values, readout, task, embed, without = CASES[request.param]
    problem = Problem(readout, Logistic(), score_scale=1.3)
    initial, weights = drawn(values, heads=problem.heads, embed=embed)
    special = PLAIN | NEURONS | ROWS | COORDINATES | WEIGHT_CHANGES | without
    names = tuple(sorted(set(OBSERVABLES) - special))
    changes = {
        "task": task,
        "problem": problem,
        "initial": initial,
        "observables": names,
        "rule": GradientDescent(0.2),
        "until": 100,
        "grid": Grid(stop=100, count=6),
    }
    plan = experiment(form="weights", **changes)
    one = run(plan, weights=weights)
    twins = [run(plan, weights=one_ulp(weights, number)) for number in range(3)]
    allowed = {name: tolerance(name, one, twins) for name in names}
    return changes, weights, one, allowed


def tolerance(name, one, twins):
    """Ten times the divergence of runs that start one ulp apart, or one rounding.

    A change is a difference of entries, of which each is rounded by itself.
    """
    spread = max(np.abs(one[name].values - twin[name].values).max() for twin in twins)
    size = np.abs(one[name].values).max()
    if name.endswith("_change"):
        size += np.abs(one[name[8:-7]].values).max()
    return 10 * max(spread, np.finfo(float).eps * size)


@pytest.mark.parametrize("form", ["gram", "transport"])
def test_equals_plain_weights(plain, form):
    changes, weights, one, allowed = plain
    ours = run(experiment(form=form, **changes), weights=weights)
    assert ours["recorded"].all()
    off = {
        name: float(np.abs(ours[name].values - one[name].values).max()) / limit
        for name, limit in allowed.items()
    }
    assert max(off.values()) <= 1, {n: o for n, o in off.items() if o > 1}


ON_ORBITS = (
    "loss",
    "loss_by_group",
    "pull_by_group",
    "score",
    "value",
    "key_self_score",
    "query_self_score",
    "score_force",
    "token_force",
    "score_rate",
    "value_rate",
    "key_self_score_rate",
    "query_self_score_rate",
    "largest_score_change",
    "largest_key_self_score_change",
    "largest_query_self_score_change",
    "largest_attention_change",
)


def test_a_quotient_equals_all_samples():
    infinite = Initial(width="infinite", omega=0.3)
    full, orbits = (
        run(
            experiment(
                initial=infinite,
                task=MixtureTask(3, 4, population),
                until=200,
                observables=ON_ORBITS,
            )
        )
        for population in ("exact", "orbits")
    )
    assert orbits.attrs["form"] == "quotient"
    for name in ON_ORBITS:
        size = np.abs(full[name].values).max()
        off = np.abs(full[name].values - orbits[name].values).max()
        assert off < 2e-14 * max(size, 1), name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tangent_sharpness", "Curvature is not known on a QuotientFrame"),
        ("vocabulary_value", "a quotient keeps those of the shown tokens alone"),
        ("value_self_score", "keeps no chain"),
    ],
)
def test_what_a_quotient_does_not_hold(name, message):
    infinite = Initial(width="infinite", omega=0.3)
    plan = experiment(
        initial=infinite, task=MixtureTask(population="orbits"), observables=(name,)
    )
    with pytest.raises(ValueError, match=message):
        run(plan)


@pytest.mark.usefixtures("precise")
def test_self_scores_of_a_chain_in_a_quotient():
    """One block of values beside two of scores: no token's own can be told."""
    import equinox as eqx
    import jax.numpy as jnp

    task = MixtureTask(population="orbits")
    data, problem = task.sequences(), Problem(ReluPair(0.5))
    form, state = build(
        "quotient",
        data,
        Initial(width="infinite"),
        heads=2,
        key=jax.random.key(0),
        symmetry=symmetry_of(task.symmetry, data),
    )
    form = eqx.tree_at(lambda f: f.values, form, ChainGram(jnp.ones(1)))
    state = {**state, "values": jnp.eye(3)[None]}
    view = View(Training(form, problem, data, data.probability, ()), state)
    assert (find("readout_gain").compute(view) == jnp.ones(2)).all()
    with pytest.raises(ValueError, match="Use the data without the quotient"):
        find("value_self_score").compute(view)


@pytest.mark.usefixtures("precise")
def test_systems_that_do_not_know_enough():
    data, initial = MixtureTask().sequences(), Initial(width=8, values=Vector(0.1))
    form, state = build("gram", data, initial, heads=2, key=jax.random.key(0))
    problem = Problem(ReluPair(0.5))
    system = Training(form, problem, data, data.probability, ("scores", "values"))
    view = View(system, state)
    with pytest.raises(ValueError, match="does not know where it began"):
        find("largest_score_change").compute(view)
    with pytest.raises(ValueError, match="coordinates of its vocabulary"):
        find("vocabulary_value").compute(view)
    actual = find("tangent_sharpness").compute(view)
    assert float(actual) == float(gauss_newton_sharpness(system, state))


def test_weights_that_a_chain_does_not_have():
    initial, weights = drawn(CHAINS["neurons"])
    plan = experiment(initial=initial, form="weights", observables=("w",))
    with pytest.raises(ValueError, match=r"which are \['W', 'W_V'\]"):
        run(plan, weights=weights)
