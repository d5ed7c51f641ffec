"""Transport at the positions of samples alone, against products with whole forces."""

import numpy as np
import pytest
from tests.core import mutated

from attnflow.data import CooccurrenceTask
from attnflow.experiments import Experiment, run
from attnflow.experiments.course import prepare
from attnflow.models.forms import Initial, Neurons, choice, scores
from attnflow.models.forms.sparse import SparseForm
from attnflow.models.problem import Logistic, Problem
from attnflow.training import Grid, Stage, precise
from attnflow.training.rules import Flow, GradientDescent, Momentum

SEEN = ("loss", "score", "value", "test_loss", "score_rate", "largest_score_change")
TASK = CooccurrenceTask(
    samples=30, length=5, embed=96, fillers="distinct", test_samples=50
)
STEPS = 40


def plan(rule, **changes):
    parts = {
        "task": TASK,
        "problem": Problem(loss=Logistic(), score_scale=2.0),
        "initial": Initial(40, 0.7, Neurons(40, 6, 0.1, 0.2, 0.5, "law"), "weights"),
        "stages": (Stage(rule, STEPS),),
        "grid": Grid(points=tuple(range(0, STEPS + 1, 5))),
        "observables": SEEN,
        "form": "transport",
    }
    return Experiment("cooccurrence", "test", {}, **{**parts, **changes})


@pytest.mark.cpus
@pytest.mark.parametrize(
    "rule", [GradientDescent(0.5), Momentum(0.1, 0.8, weight_decay=0.01)]
)
def test_descents_are_those_of_whole_forces(rule, monkeypatch):
    sparse = run(plan(rule), seeds=(0, 1))
    monkeypatch.setattr(choice, "sparse_if_few", lambda form: form)
    whole = run(plan(rule), seeds=(0, 1))
    assert float(whole["loss"][0, -1]) < 0.8 * float(whole["loss"][0, 0])
    assert float(whole["largest_score_change"][0, -1]) > 0.1
    _assert_close(sparse, whole, 1e-12)


@pytest.mark.slow
@pytest.mark.cpus
def test_a_flow_is_that_of_whole_forces(monkeypatch):
    rule = Flow(rtol=1e-10, atol=1e-14)
    sparse = run(plan(rule), seeds=(0,))
    monkeypatch.setattr(choice, "sparse_if_few", lambda form: form)
    # Both take the same steps, up to rounding of the error that chooses them.
    _assert_close(sparse, run(plan(rule), seeds=(0,)), 1e-11)


def _assert_close(one, other, tolerance):
    for name in SEEN:
        size = np.abs(other[name].values).max()
        np.testing.assert_allclose(one[name], other[name], 0, tolerance * size)


@pytest.mark.cpus
def test_a_lost_pull_on_queries_is_seen():
    def short(state, force):
        return pulled(state, force._replace(keys=0 * force.keys))

    pulled = scores._pulled
    rule = GradientDescent(0.5)
    right = run(plan(rule))
    with mutated(scores, "_pulled", short):
        wrong = run(plan(rule))
    assert np.abs(right["score"] - wrong["score"]).max() > 1e-3


@pytest.mark.parametrize(("fillers", "samples"), [("repeated", 30), ("distinct", 12)])
def test_many_pairs_are_not_sparse(fillers, samples):
    """Few samples have few tokens, of which they see most pairs."""
    task = CooccurrenceTask(samples=samples, length=5, embed=42, fillers=fillers)
    names = ("loss",)
    with precise():
        few = prepare(plan(GradientDescent(0.5), observables=names), [0]).members[0]
        many = prepare(plan(GradientDescent(0.5), task=task, observables=names), [0])
    assert isinstance(few[0].form, SparseForm)
    assert not isinstance(many.members[0][0].form, SparseForm)
