"""The exponential of numbers that are not positive."""

import jax.numpy as jnp
import numpy as np
import pytest

from attnflow.models.systems.block_batches import LEAST, exp_below

pytestmark = [pytest.mark.cpus, pytest.mark.usefixtures("precise")]
# Two roundings, of the sum and of the range reduction.
ROUNDINGS = 2 * 2.0**-52


def test_it_is_the_exponential():
    draw = np.random.default_rng(0)
    whole = np.arange(-1000, 1) * (np.log(2) / 2)
    x = np.concatenate([-draw.exponential(3.0, 20_000), -draw.uniform(0, 700, 20_000)])
    x = np.concatenate([x, whole[whole > LEAST], [0.0, -1e-300]])
    true = np.exp(x.astype(np.longdouble))
    power = np.asarray(exp_below(jnp.asarray(x)))
    assert np.abs(power / true - 1).max() < ROUNDINGS
    assert power[-2] == power[-1] == 1


def test_far_below_it_stays_where_numbers_are_normal():
    power = np.asarray(exp_below(jnp.asarray([LEAST, -1e4, -1e300, -np.inf])))
    assert (power == power[0]).all()
    assert np.finfo(float).tiny < power[0] < 1e-307
