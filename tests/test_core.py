"""What tests lean on: two programs may differ by rounding, and by nothing more."""

import numpy as np
import pytest

from tests.core import assert_same_to_rounding

EPS = float(np.finfo(float).eps)
pytestmark = pytest.mark.cpus


def test_sums_in_another_order_are_the_same():
    """The worst of all orders stays within the bound, whatever a CPU makes of it."""
    draw = np.random.default_rng(0)
    terms = draw.standard_normal((200, 500))
    forth, back = np.cumsum(terms, axis=1), np.cumsum(terms[:, ::-1], axis=1)
    assert (forth[:, -1] != back[:, -1]).any()
    # Partial sums are larger than the sum that is left.
    largest = float(max(np.abs(forth).max(), np.abs(back).max()))
    assert_same_to_rounding(forth[:, -1], back[:, -1], roundings=500, scale=largest)
    assert_same_to_rounding(forth[:, -1], terms.sum(1), roundings=500, scale=largest)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ([2.0, 1.0 + 22 * EPS], [2.0, 1.0]),
        ([2.0, np.nan], [2.0, 1.0]),
        ([2.0, 1.0], [2.0, np.nan]),
        ([2.0, np.inf], [2.0, -np.inf]),
        ([2.0], [2.0, 2.0]),
    ],
)
def test_what_rounding_does_not_do_is_seen(found, wanted):
    with pytest.raises(AssertionError):
        assert_same_to_rounding(found, wanted, roundings=5, steps=2)


def test_what_it_does_is_not():
    """Ten roundings of numbers up to two, and what is no number in its place."""
    found, wanted = [2.0, 1.0 + 19 * EPS, np.nan], [2.0, 1.0, np.nan]
    assert_same_to_rounding(found, wanted, roundings=5, steps=2)
