"""One column of scores, where all samples are read by one query: against plain weights.

Training samples and test samples with tokens of their own, along whole trajectories.
"""

from itertools import product

import numpy as np
import pytest
from tests.core import allowed, experiment, largest_difference, mutated, some_slow
from tests.models.forms.test_chains import CHAINS, RULES, weights_of

from attnflow.data import PromptQuery, SignalNoiseTask
from attnflow.experiments import run
from attnflow.models.forms import Initial
from attnflow.models.forms.prompt import SeenChain
from attnflow.models.forms.values import ChainTransport
from attnflow.models.problem import Linear, Logistic, Problem
from attnflow.observables.model import OF_SAMPLES
from attnflow.training import Grid
from attnflow.training.rules import Flow, GradientDescent, Muon, NormalisedDescent

NAMES = ("loss", "attention", "value", "test_loss", "test_attention", "test_margin")
TASK = PromptQuery(
    SignalNoiseTask(samples=4, embed=9, support=4, length=3, test_samples=5), 1.4
)


def setting(merged, values="vector", **changes):
    initial = Initial(5, 0.6, CHAINS[values], merged=merged)
    parts = {
        "task": TASK,
        "initial": initial,
        "problem": Problem(Linear(2), Logistic(), 0.8),
        "observables": NAMES,
        "until": 120,
    }
    return {**parts, **changes}


def check(changes):
    weights = weights_of(changes["initial"], 2, embed=10)
    plain, tolerance = allowed(weights, names=NAMES, **changes)
    ours = run(experiment(form="prompt", **changes), weights=weights)
    moved = plain["test_margin"].isel(time=-1) - plain["test_margin"].isel(time=0)
    assert float(np.abs(moved).max()) > 1e-2
    difference = largest_difference(plain, ours, NAMES)
    assert (difference <= tolerance).all(), (difference / tolerance).max()


@pytest.mark.parametrize(
    ("rule", "values", "merged"),
    some_slow(
        product(("descent", "decay"), ("vector", "trained output"), (True, False)),
        # Each pair of them once.
        lambda rule, values, merged: (rule == "decay") ^ (values == "vector") ^ merged,
    ),
)
def test_equals_plain_weights(merged, values, rule):
    check(setting(merged, values, rule=RULES[rule]))


@pytest.mark.slow
@pytest.mark.parametrize("merged", [True, False], ids=["merged", "apart"])
@pytest.mark.parametrize("values", ["fixed output", "class means", "neurons"])
@pytest.mark.parametrize("rule", ["momentum", "rates"])
def test_equals_plain_weights_with_other_values(merged, values, rule):
    check(setting(merged, values, rule=RULES[rule]))


WHOLE = {
    "normalised": NormalisedDescent(0.02),
    "epsilon": NormalisedDescent(0.02, epsilon=0.1),
    "muon": Muon(0.01),
}


@pytest.mark.parametrize(
    ("rule", "merged"),
    some_slow(
        product(WHOLE, (True, False)), lambda rule, merged: merged == (rule == "muon")
    ),
)
def test_rules_that_see_weights_whole(rule, merged):
    check(setting(merged, rule=WHOLE[rule], until=60))


def test_flow_equals_plain_weights():
    changes = setting(False, "trained output", rule=Flow(rtol=1e-11), until=20.0)
    weights = weights_of(changes["initial"], 2, embed=10)
    plain, ours = (
        run(experiment(form=form, **changes), weights=weights)
        for form in ("weights", "prompt")
    )
    assert largest_difference(plain, ours, NAMES).max() < 1e-9
    assert float(ours["drift"].max()) < 1e-9


VELOCITY = ChainTransport.velocity


def _slow_query(self, state, force):
    moved = VELOCITY(self, state, force)
    return moved.at[..., -1].set(0.9 * moved[..., -1])


def _fixed_keys(self, state, force):
    rank = state["factor"].shape[-1] - 1
    moved = self.chain.velocity(state["factor"], force[..., :rank])
    return {"factor": moved.at[..., :-1].set(0.0), "share": 0 * state["share"]}


@pytest.mark.parametrize(
    ("owner", "method", "mutant"),
    [
        (ChainTransport, "velocity", _slow_query),
        (SeenChain, "velocity", _fixed_keys),
    ],
)
def test_mutated_forms_are_caught(owner, method, mutant):
    with mutated(owner, method, mutant), pytest.raises(AssertionError):
        check(setting(False, rule=GradientDescent(0.1)))


def test_it_is_chosen_where_a_column_is_recorded():
    """And not where somebody wants the scores of all tokens."""
    changes = setting(True, rule=GradientDescent(0.1), until=2)
    column = run(experiment(**changes))
    assert column.attrs["form"] == "prompt"
    assert "one column" in column.attrs["form_reason"]
    whole = run(experiment(**{**changes, "observables": ("loss", "score")}))
    assert whole.attrs["form"] != "prompt"
    with pytest.raises(ValueError, match="with the prompt alone"):
        run(experiment(form="prompt", **{**changes, "observables": ("score",)}))
    with pytest.raises(ValueError, match="read by one and the same query"):
        run(experiment(form="prompt"))


def test_it_knows_what_it_is_chosen_for():
    names = tuple(sorted(n for n in OF_SAMPLES if "readout" not in n))
    changes = setting(False, rule=GradientDescent(0.1), until=2, observables=names)
    weights = weights_of(changes["initial"], 2, embed=10)
    grid = Grid(points=(0.0, 2.0))
    plain, ours = (
        run(experiment(form=form, grid=grid, **changes), weights=weights)
        for form in ("transport", "prompt")
    )
    for name in names:
        np.testing.assert_allclose(
            ours[name], plain[name], rtol=1e-11, atol=1e-13, err_msg=name
        )


def test_readout_gains_and_thresholds(thresholds):
    names = ("readout_gain", "readout_gain_rate")
    changes = setting(False, "trained output", rule=GradientDescent(0.1), until=2)
    changes["observables"] = names
    weights = weights_of(changes["initial"], 2, embed=10)
    plain, ours = (
        run(experiment(form=form, **changes), weights=weights)
        for form in ("transport", "prompt")
    )
    for name in (*names, "rate_threshold", "sharpness_at_start"):
        np.testing.assert_allclose(ours[name], plain[name], rtol=1e-11)


def test_draws_without_weights_have_the_law_of_weights():
    """Initial scores of test tokens, whose variance is known: 400 draws, 5 sigma."""
    task = PromptQuery(SignalNoiseTask(4, 300, 20, test_samples=3), 2.0)
    for merged in (True, False):
        initial = Initial(10**6, 0.5, merged=merged)
        plan = experiment(
            task=task,
            initial=initial,
            problem=Problem(Linear(400)),
            rule=GradientDescent(1e-3),
            until=1,
            observables=("pair_score",),
        )
        scores = run(plan)["pair_score"].isel(time=0, seed=0, query_position=0)
        # Signal tokens are unit vectors: variance (0.5 · 2)² merged, and apart
        # (ω² |p|)² / width.
        signal = scores.isel(sample=0, key_position=0).values
        deviation = 1.0 if merged else 0.25 * 2 / 10**3
        ratio = signal.var() / deviation**2
        assert abs(ratio - 1) < 5 * np.sqrt(2 / 400), (merged, ratio)
