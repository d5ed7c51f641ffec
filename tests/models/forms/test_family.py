"""Every part on random problems of the family, with probabilities that change."""

import equinox as eqx
import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.forms import family
from tests.models.forms.family import (
    VALUES,
    Case,
    allowed,
    ratio,
    trajectory,
    worst_ratio,
)

import attnflow
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.scores import Gram, MergedTable, Transport
from attnflow.models.forms.tokens import TokenChain, TokenScores, TokenValues
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.problem import Linear, Logistic, Problem, ReluPair, Squared
from attnflow.training.rules import GradientDescent, Momentum

pytestmark = pytest.mark.cpus

DESCENT = GradientDescent(0.05)
MEMORY = {
    "momentum": Momentum(0.02, 0.9),
    "decay": Momentum(0.03, 0.7, weight_decay=0.05),
    "nesterov": Momentum(0.03, 0.7, weight_decay=0.05, nesterov=True),
}
cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    values=st.sampled_from(sorted(VALUES)),
    # One head, a pair and three.
    problem=st.builds(
        Problem,
        st.sampled_from([Linear(1), Linear(3), ReluPair(0.3)]),
        st.sampled_from([Logistic(), Squared()]),
    ),
    width=st.sampled_from([1, 3, 11]),
    merged=st.booleans(),
)


@settings(max_examples=6, deadline=None)
@given(case=cases, form=st.sampled_from(["gram", "transport", "tokens"]))
def test_descent(case, form):
    form = known(case, form)
    with attnflow.precise():
        assert worst_ratio(case, form, DESCENT) <= 1


@settings(max_examples=6, deadline=None)
@given(
    case=cases,
    rule=st.sampled_from(sorted(MEMORY)),
    form=st.sampled_from(["transport", "tokens"]),
)
def test_memory_and_decay(case, rule, form):
    with attnflow.precise():
        assert worst_ratio(case, known(case, form), MEMORY[rule]) <= 1


def known(case, form):
    """The form, or the one that knows what the case asks for."""
    refused = case.values == "followed" or (form == "tokens" and case.merged)
    return "transport" if refused else form


def _one_row_too_few(owner):
    def direction(self, state, force):
        velocity = owner.velocity(self, state, force)
        return jax.tree.map(lambda x: x.at[..., -1, :].set(0.0), velocity)

    return direction


def _neurons_without_a_row(self, state, force):
    velocity = NeuronTransport.velocity(self, state, force)
    return {**velocity, "neurons": velocity["neurons"].at[:, -1].set(0.0)}


def _no_square_of_scores(self, state, update):
    return state + state @ update + update @ state


def _no_square_of_a_chain(self, state, update):
    half = state @ update
    return state + half + half.swapaxes(-1, -2)


def _one_bank(self, state, force):
    return self.gain[:, None] / 2 * force


def _keys_without_a_token(self, state, force):
    velocity = TokenScores.velocity(self, state, force)
    return {**velocity, "key_sums": velocity["key_sums"].at[:, 0].set(0.0)}


def _chain_without_a_token(self, state, force):
    velocity = TokenChain.velocity(self, state, force)
    return {**velocity, "rows": velocity["rows"].at[:, 0].set(0.0)}


def _half_the_gain(self, state, force):
    velocity = TokenValues.velocity(self, state, force)
    return {**velocity, "sums": velocity["sums"] / 2}


MUTANTS = [
    ("gram", "vector", False, Gram, "move", _no_square_of_scores),
    ("gram", "neurons", False, ChainGram, "move", _no_square_of_a_chain),
    ("transport", "vector", False, Transport, "direction", None),
    ("transport", "trained output", False, ChainTransport, "direction", None),
    (
        "transport",
        "followed",
        False,
        NeuronTransport,
        "direction",
        _neurons_without_a_row,
    ),
    ("tokens", "vector", False, TokenScores, "direction", _keys_without_a_token),
    ("tokens", "neurons", False, TokenChain, "direction", _chain_without_a_token),
    ("tokens", "class means", False, TokenValues, "direction", _half_the_gain),
    ("gram", "vector", True, MergedTable, "direction", None),
    ("gram", "class means", False, ValueTable, "direction", _one_bank),
]


@pytest.mark.parametrize(
    ("form", "values", "merged", "owner", "method", "mutant"), MUTANTS
)
@pytest.mark.usefixtures("precise")
def test_mutated_parts_are_caught(
    form, values, merged, owner, method, mutant, monkeypatch
):
    """One squared-step term dropped, one row too few, one bank of two forgotten."""
    case = Case(1, values, Problem(Linear(3), Logistic()), merged=merged)
    plain, limits = allowed(case, DESCENT)
    weights = case.weights()
    assert ratio(trajectory(case, form, DESCENT, weights), plain, limits) <= 1
    monkeypatch.setattr(owner, method, mutant or _one_row_too_few(owner))
    # A new function, since jit would give back what it compiled for the unharmed part.
    anew = eqx.filter_jit(lambda *arguments: family.steps(*arguments))
    monkeypatch.setattr(family, "walk", anew)
    assert ratio(trajectory(case, form, DESCENT, weights), plain, limits) > 100
