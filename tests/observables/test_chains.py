"""What chains of values are made of, against formulas in the weights themselves."""

import numpy as np
import pytest

from attnflow.experiments import run
from attnflow.models.forms import Chain, ClassMeans, Vector
from attnflow.observables.chains import value_chain
from attnflow.training import Grid, Stage
from attnflow.training.rules import Flow
from tests.core import assert_same_to_rounding, experiment, given_weights
from tests.observables.plans import CHAIN, CHAINS, drawn

pytestmark = pytest.mark.cpus

H = 1e-3
NAMES = (*sorted(CHAIN), "value", "value_rate", "token_force")


@pytest.fixture(scope="module", params=CHAINS)
def run_and_weights(request):
    """A flow of a chain, recorded densely around one time, and its weights."""
    initial, weights = drawn(CHAINS[request.param])
    grid = Grid(points=(0.0, 2 - 2 * H, 2 - H, 2.0, 2 + H, 2 + 2 * H))
    plan = experiment(
        rule=Flow(rtol=1e-13, solver="tsit5"),
        until=2 + 2 * H,
        grid=grid,
        observables=NAMES,
        initial=initial,
    )
    return run(plan, weights=weights), weights


def readout(weights):
    """`β` and the gain, from the weights."""
    if "a" not in weights:
        return weights["w_O"], np.ones(2)
    seen = np.einsum("hn,hnv->hv", weights["a"], weights["W"])
    return seen, (weights["a"] ** 2).sum(axis=1)


def test_they_are_products_of_weights(run_and_weights):
    """The shown tokens are unit vectors, so that columns of W_V are their images."""
    run_, weights = run_and_weights
    first = weights["W_V"]
    np.testing.assert_allclose(
        run_["value_self_score"][0, 0],
        np.einsum("hvk,hvq->hkq", first, first),
        atol=1e-15,
    )
    seen, _ = readout(weights)
    np.testing.assert_allclose(
        run_["readout_gain"][0, 0], (seen**2).sum(axis=1), rtol=1e-14
    )


def test_rates_follow_the_closed_system(run_and_weights):
    """`A_V' = G zᵀ + z Gᵀ`, `b' = 2 g G·z` and `G' = b z + g A_V z`."""
    run_, weights = run_and_weights
    value, force = run_["value"].values, run_["token_force"].values
    outer = value[..., :, None] * force[..., None, :]
    np.testing.assert_allclose(
        run_["value_self_score_rate"], outer + outer.swapaxes(-1, -2), atol=1e-15
    )
    gain = readout(weights)[1]
    along = (value * force).sum(axis=-1)
    np.testing.assert_allclose(run_["readout_gain_rate"], 2 * gain * along, rtol=1e-13)
    first = run_["readout_gain"].values[..., None] * force
    inner = np.einsum("...kq,...q->...k", run_["value_self_score"].values, force)
    second = gain[:, None] * inner
    np.testing.assert_allclose(run_["readout_part_rate"], first, atol=1e-15)
    np.testing.assert_allclose(run_["inner_part_rate"], second, atol=1e-15)
    np.testing.assert_allclose(run_["value_rate"], first + second, atol=1e-15)


@pytest.mark.parametrize("name", ["value_self_score", "readout_gain", "value"])
def test_rates_are_derivatives_in_time(run_and_weights, name):
    """Against a central difference of fourth order, whose error is about 1e-12."""
    at = {i: run_and_weights[0][name].values[0, i] for i in range(1, 6)}
    slope = (at[1] - 8 * at[2] + 8 * at[4] - at[5]) / (12 * H)
    actual = run_and_weights[0][f"{name}_rate"].values[0, 3]
    assert np.abs(slope).max() > 1e-3
    np.testing.assert_allclose(actual, slope, atol=2e-11)


def test_the_largest_change_is_that_of_the_entries(run_and_weights):
    own = run_and_weights[0]["value_self_score"].values
    moved = np.abs(own - own[:, :1]).max(axis=(2, 3, 4))
    np.testing.assert_allclose(
        run_and_weights[0]["largest_value_self_score_change"], moved, atol=1e-15
    )
    assert moved[0, -1] > 1e-2


def test_rates_of_values_that_are_not_trained_are_zero():
    initial, weights = drawn(CHAINS["neurons"])
    names = ("value_rate", "readout_part_rate", "inner_part_rate", "token_force")
    plan = experiment(
        stages=(Stage(Flow(solver="tsit5"), 1.0, ("scores",)),),
        grid=Grid(points=(0.0, 1.0)),
        observables=names,
        initial=initial,
    )
    dataset = run(plan, weights=weights)
    assert float(np.abs(dataset["token_force"]).min()) > 0
    for name in names[:3]:
        assert (dataset[name] == 0).all(), name


LINEAR = {"readout_gain", "readout_gain_rate"}
"""What is also known of values that are linear in one set of weights: it stays."""


@pytest.mark.parametrize("name", sorted(CHAIN - LINEAR))
def test_values_without_a_chain_are_refused(name):
    for form in ("gram", "weights"):
        with pytest.raises(ValueError, match="keeps no chain"):
            run(experiment(observables=(name,), form=form), weights=given_weights())


LINEAR_VALUES = {
    "vector": (Vector(0.3), 1.0),
    "class means": (ClassMeans(4, 0.3), 0.5),
    "fixed output": (Chain(7, 0.3, 0.5, trained=False), None),
}


@pytest.mark.parametrize("form", ["gram", "weights"])
@pytest.mark.parametrize("values", LINEAR_VALUES)
def test_the_gain_of_linear_values(values, form):
    law, expected = LINEAR_VALUES[values]
    initial, weights = drawn(law)
    if expected is None:
        expected = (weights["w_O"] ** 2).sum(axis=1)
    plan = experiment(initial=initial, observables=tuple(LINEAR), form=form)
    dataset = run(plan, weights=weights)
    gain = dataset["readout_gain"].values[0]
    assert_same_to_rounding(gain, np.broadcast_to(expected, gain.shape), roundings=7)
    assert (dataset["readout_gain_rate"] == 0).all()


def test_every_form_of_a_chain_is_known():
    """A part of the values is a chain where curvature gives it a width of its own."""
    from attnflow.observables.curvature.local import local_part

    known = set(value_chain.registry)
    parts = {part for part in local_part.registry if "Chain" in part.__name__}
    assert parts and parts <= known
