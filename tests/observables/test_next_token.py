"""Observables of next-token prediction against their definitions, in plain numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attnflow
from attnflow.experiments import SystemExperiment, run
from attnflow.experiments.next_token import JointTables
from attnflow.models.forms.token_classes import spell_out
from attnflow.observables.next_token import NEXT_TOKEN
from attnflow.observables.registry import DirectObserve
from attnflow.training import Grid, Stage
from attnflow.training.rules import Momentum
from tests.models.systems.token_cases import alike, unlike

# Batches have their own tests, and so has curvature (`curvature/test_recorded.py`).
ELSEWHERE = ("batch_loss", "sharpness")
NAMES = tuple(name for name in NEXT_TOKEN.known if name not in ELSEWHERE)


def observed(task, form, names=NAMES):
    """Observables after some steps, to tables that mean something; no run is needed."""
    model = JointTables(task, rates=(0.5, 2.0), form_name=form)
    with attnflow.precise():
        ((system, state),) = model.members((0,), None)
        step = jax.jit(lambda s: jax.tree.map(jnp.add, s, system.velocity(None, s)))
        for _ in range(20):
            state = step(state)
        observe = DirectObserve(names, model.registry)
        actual = jax.jit(lambda state: observe(system, state))(state)
        return {name: np.asarray(value) for name, value in actual.items()}


@pytest.fixture(scope="module")
def whole():
    return observed(alike(), "joint")


def by_hand(task, Y, Z):
    """The same from Y and Z, class by class."""
    query, label = list(task.query), list(task.next_token)
    raw = task.table * np.exp(Z[query])
    c = raw / raw.sum(axis=1, keepdims=True)
    f = c / np.linalg.norm(c, axis=1, keepdims=True)
    logits = f @ Y
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    pull = np.eye(task.vocabulary)[label] - share
    p = np.where(task.distinct, c, 0)
    p /= p.sum(axis=1, keepdims=True)
    terms = np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)
    own = logits[range(len(label)), label]
    g = pull @ Y.T
    velocity = np.zeros_like(Z)
    for n, m in enumerate(query):
        velocity[m] += 0.5 / len(label) * f[n] * (g[n] - f[n] * (f[n] @ g[n]))
    return {
        "loss": -np.log(share[range(len(label)), label]).mean(),
        "loss_by_class": -np.log(share[range(len(label)), label]),
        "score": Z,
        "value": Y,
        "score_share": np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True),
        "score_velocity": velocity,
        "attention_per_class": c,
        "attention_unit": f,
        "attention_unnormalised": raw,
        "distinct_entropy": -terms.sum(axis=1),
        "mean_distinct_entropy": -terms.sum(axis=1).mean(),
        "common_mass": c[:, task.common].sum(axis=1),
        "top_share": p.max(axis=1),
        "gram": f @ f.T,
        "backprop": g,
        "coupling": np.linalg.lstsq(f.T, g.T)[0].T,
        "confusion": share[:, label],
        "margin": own - (logits.sum(axis=1) - own) / (task.vocabulary - 1),
        "error_norm": np.linalg.norm(pull, axis=1),
        "score_sum": Z.sum(axis=1),
        "value_sum": Y.sum(axis=1),
        "value_square": (Y**2).sum(axis=1),
    }


@pytest.mark.parametrize("name", NAMES)
def test_definitions(whole, name):
    task = spell_out(alike().sequence_classes())
    expected = by_hand(task, whole["value"], whole["score"])[name]
    np.testing.assert_allclose(whole[name], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["token-classes", "symmetric"])
def test_reduced_forms_tell_the_same(whole, form):
    apart = {"token", "query"}
    shared = [n for n in NAMES if not apart & set(NEXT_TOKEN.find(n).dims)]
    assert len(shared) > 10
    reduced = observed(alike(), form, tuple(shared))
    for name in shared:
        np.testing.assert_allclose(
            reduced[name], whole[name], rtol=1e-8, atol=1e-10, err_msg=name
        )


def test_entropy_counts_every_token():
    """Kinds of several tokens enter entropies as often as they have tokens."""
    actual = observed(unlike(), "token-classes", ("distinct_entropy", "top_share"))
    assert float(actual["distinct_entropy"][2]) == pytest.approx(np.log(3))
    assert float(actual["top_share"][2]) == pytest.approx(1 / 3)


def test_what_a_system_does_not_have():
    model = JointTables(alike())
    stage, grid = Stage(Momentum(1.0), 2), Grid(stop=2, count=2)
    plan = SystemExperiment("test", "x", {}, model, (stage,), grid, ("batch_loss",))
    with pytest.raises(ValueError, match="no batch_loss"):
        run(plan)
    plan = SystemExperiment("test", "x", {}, model, (stage,), grid, ("entropi",))
    with pytest.raises(ValueError, match="entropi"):
        run(plan)
    plain = alike(common_tokens=(), distinct_tokens=())
    batches = JointTables(plain, length=9, batch=4, steps=2)
    names = ("score_velocity",)
    plan = SystemExperiment("test", "x", {}, batches, (stage,), grid, names)
    with pytest.raises(ValueError, match="no score_velocity"):
        run(plan)
