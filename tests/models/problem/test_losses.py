"""Losses: their pulls are minus their slopes, for classes and for any other label."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.models.problem import Exponential, Logistic, Squared

pytestmark = [pytest.mark.cpus, pytest.mark.usefixtures("precise")]
LABELS = (1.0, -1.0, 0.3, -2.5, 0.0)
OUTPUTS = (0.7, 1.2, -3.0, 0.4, 2.0)


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Squared()])
def test_pulls_are_minus_slopes(loss):
    outputs, labels = jnp.asarray(OUTPUTS), jnp.asarray(LABELS)
    slope = jax.grad(lambda output: loss(output, labels).sum())(outputs)
    sign, log = loss.pull(outputs, labels)
    np.testing.assert_allclose(sign * np.exp(log), -slope, rtol=1e-14)


@pytest.mark.parametrize("loss", [Logistic(), Exponential()])
def test_pulls_of_classes_do_not_underflow(loss):
    sign, log = loss.pull(jnp.asarray([2000.0, -2000.0]), jnp.asarray([1.0, -1.0]))
    assert sign.tolist() == [1.0, -1.0] and log.tolist() == [-2000.0, -2000.0]
