"""Functions of `jax.numpy` in the place of NumPy's, where the plain ones do not do."""

import jax
import numpy as np
import pytest

from attnflow.browser.symbols.namesakes import namesake


@pytest.mark.parametrize("count", [1, 2, 5, 8, 61])
def test_a_median_equals_numpys_and_needs_no_sort(precise, count):
    """Bit by bit: entries are selected, and half the sum of two is rounded once."""
    draw = np.random.default_rng(count)
    table = draw.integers(-3, 4, size=(3, count, 2)) * draw.normal(size=(3, 1, 1))
    for axis in (1, (1, 2), None):
        mine = namesake("median")(table, axis)
        np.testing.assert_array_equal(mine, np.median(table, axis))
    assert "sort" not in str(jax.make_jaxpr(namesake("median"))(table))


def test_a_median_over_what_is_unknown_is_unknown(precise):
    table = np.ones((2, 5))
    table[0, 3] = np.nan
    np.testing.assert_array_equal(namesake("median")(table, 1), [np.nan, 1.0])


def test_a_share_is_in_double_precision(precise):
    signs = np.arange(7) > 3
    share = namesake("mean")(signs)
    assert share.dtype == float and abs(share - 3 / 7) < 1e-15
