"""Rescaled pulls: the same signs, the same sizes told, and nothing that underflows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.models.deep import BinaryLoss, ClassLoss
from attnflow.observables.deep import DEEP, LEAST, DeepView
from attnflow.observables.deep import zero_signs as zero_share
from attnflow.papers.signgd.deep_experiments import stacked
from attnflow.papers.signgd.deep_settings import Stacked

log_mean_query_gradient = DEEP.find("log_mean_query_gradient").compute


def test_pulls_are_divided_by_what_is_said(precise):
    output, label = jnp.array([0.3, -2.0, 5.0]), jnp.array([1.0, 1.0, -1.0])
    loss = BinaryLoss()
    plain, scaled = (loss.pull(output, label, scaled=s) for s in (False, True))
    divisor = np.exp(scaled.log_divisor)
    assert np.allclose(scaled.force * divisor, plain.force, rtol=1e-14)
    assert np.abs(scaled.force).max() == 1
    assert plain.log_divisor == 0
    logits, number = jnp.zeros((3, 4)), jnp.zeros(3, int)
    assert ClassLoss().pull(logits, number, scaled=False).log_divisor == 0


def view(*, margin, **setting):
    """A small stack, whose read-out separates its samples by `margin` times as much."""
    plan = stacked(Stacked(embed=200, **setting))
    system, state = plan.model.members([0], None)[0]
    grown = jax.tree.map(lambda w: margin * w, state["values"]["readout"])
    values = {**state["values"], "readout": grown}
    return DeepView(system, {**state, "values": values})


@pytest.mark.parametrize("margin", [1.0, 300.0])
def test_mean_gradients_are_those_of_the_loss(precise, margin):
    logs = [
        np.asarray(log_mean_query_gradient(view(margin=margin, scaled=scaled)))
        for scaled in (False, True)
    ]
    assert logs[0].shape == (2,)
    assert np.allclose(*logs, rtol=1e-10)


def test_signs_outlive_a_loss_of_zero(precise):
    """Outputs of ±862 and more: plain pulls underflow in either precision."""
    covered = zero_share(view(margin=1.0))
    plain, scaled = (view(margin=3e4, scaled=scaled) for scaled in (False, True))
    assert np.array_equal(zero_share(plain), [1, 1])
    assert np.allclose(log_mean_query_gradient(plain), np.log10(LEAST))
    assert np.array_equal(zero_share(scaled), covered)
    assert (np.asarray(log_mean_query_gradient(scaled)) < -370).all()
