"""Random numbers of set-up against `jax.random`, of which they are the streams."""

import jax
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from attnflow.data import random

SEEDS = st.integers(0, 2**63 - 1)
SHAPES = st.sampled_from([(), (1,), (7,), (3, 5), (2, 0, 4), (40_000,)])
# XLA's inverse of the error function loses digits near ±1, where ours does not.
TAILS = 2e-12


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@given(SEEDS, st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_keys(seed, number, count):
    key = jax.random.key(seed)
    ours = random.key(seed)
    np.testing.assert_array_equal(random.as_key(key), ours)
    np.testing.assert_array_equal(
        random.as_key(jax.random.fold_in(key, number)), random.fold_in(ours, number)
    )
    np.testing.assert_array_equal(
        random.as_key(jax.random.split(key, count)), random.split(key, count)
    )


@given(SEEDS, SHAPES)
def test_uniform_numbers_signs_and_choices_have_equal_bits(seed, shape):
    key = jax.random.key(seed)
    pairs = {
        "uniform": (jax.random.uniform(key, shape), random.uniform(key, shape)),
        "bernoulli": (
            jax.random.bernoulli(key, 0.3, shape),
            random.bernoulli(key, 0.3, shape),
        ),
        "signs": (jax.random.rademacher(key, shape), random.rademacher(key, shape)),
        "integers": (
            jax.random.randint(key, shape, -3, 10**15),
            random.randint(key, shape, -3, 10**15),
        ),
        "choice": (
            jax.random.choice(key, 3, shape, p=np.array([0.5, 0.2, 0.3])),
            random.choice(key, 3, shape, [0.5, 0.2, 0.3]),
        ),
    }
    for name, (theirs, ours) in pairs.items():
        assert np.shape(ours) == shape, name
        np.testing.assert_array_equal(np.asarray(theirs), ours, err_msg=name)


@given(SEEDS, SHAPES)
def test_normal_numbers(seed, shape):
    key = jax.random.key(seed)
    theirs = np.asarray(jax.random.normal(key, shape))
    np.testing.assert_allclose(random.normal(key, shape), theirs, rtol=TAILS)


def test_quantiles_against_scipy():
    """On both sides of every border of the formula, and out to the last uniform number.

    Against 40 digits both programs are within 7e-16; together that is 1.2e-15.
    """
    near = np.array([0.85, 1 - 2 * np.exp(-25.0), 1 - 2.0**-53, 2.0**-53, 2.0**-1000])
    borders = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, 0.99999)])
    inside = np.random.default_rng(0).uniform(0, 1, 10_000)
    tail = 1 - np.geomspace(2.0**-53, 0.2, 2_000)
    share = np.concatenate([borders, inside, tail])
    expected = np.sqrt(2) * scipy.special.erfinv(share)
    np.testing.assert_allclose(random.quantile(share), expected, rtol=1.2e-15)
    np.testing.assert_array_equal(random.quantile(-share), -random.quantile(share))
    assert random.quantile(np.zeros(1)) == 0


@given(SEEDS, st.sampled_from([1, 2, 3, 50, 3000]))
def test_permutations(seed, count):
    key = jax.random.key(seed)
    theirs = np.asarray(jax.random.permutation(key, count))
    np.testing.assert_array_equal(random.permutation(key, count), theirs)


@given(SEEDS, st.sampled_from([0.5, 1.0, 2.0, 7.0, 100.0, 1e6, 1e20]))
def test_chi_squares(seed, freedom):
    key = jax.random.key(seed)
    theirs = np.asarray(jax.random.chisquare(key, freedom, (6,)))
    # They are cubes of normal numbers near one.
    np.testing.assert_allclose(random.chisquare(key, freedom, (6,)), theirs, rtol=TAILS)


def test_chi_squares_of_several_degrees():
    key, freedom = jax.random.key(3), np.array([5.0, 4.0, 3.0])
    theirs = np.asarray(jax.random.chisquare(key, freedom, (2, 3)))
    np.testing.assert_allclose(
        random.chisquare(key, freedom, (2, 3)), theirs, rtol=TAILS
    )


@given(SEEDS)
def test_uniform_numbers_in_other_bounds(seed):
    key, bound = jax.random.key(seed), np.sqrt(3.0)
    theirs = np.asarray(jax.random.uniform(key, (50,), minval=-bound, maxval=bound))
    # XLA may round the product and the sum at once.
    ours = random.uniform(key, (50,), -bound, bound)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=np.spacing(bound))


def test_what_is_no_key_or_seed_is_refused():
    for wrong in (np.array([0, 3]), np.zeros(4, np.uint32)):
        with pytest.raises(ValueError, match="two 32-bit words"):
            random.normal(wrong)
    with pytest.raises(ValueError, match="impl='threefry2x32'"):
        random.normal(jax.random.key(0, impl="rbg"))
    with pytest.raises(ValueError, match="more than 64 bits"):
        random.key(2**64)
    np.testing.assert_array_equal(random.key(np.int32(-1)), random.key(-1))


def test_a_key_of_ours_is_one_of_jax():
    ours = np.asarray(jax.random.uniform(random.key(5), (3,)))
    np.testing.assert_array_equal(ours, random.uniform(random.key(5), (3,)))
