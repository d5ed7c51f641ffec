import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attnflow.claims.statistics import (
    clopper_pearson,
    lower_bound,
    upper_bound,
)

COUNTS = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_clopper_pearson_is_scipys(counts):
    held, seeds = counts
    theirs = stats.binomtest(held, seeds).proportion_ci(method="exact")
    assert clopper_pearson(held, seeds) == pytest.approx((theirs.low, theirs.high))


@given(COUNTS)
def test_intervals_mirror_failures(counts):
    held, seeds = counts
    low, high = clopper_pearson(held, seeds)
    mirrored = pytest.approx((1 - high, 1 - low), abs=1e-9)
    assert clopper_pearson(seeds - held, seeds) == mirrored


def test_one_sided_bounds():
    assert upper_bound(0, 60) == pytest.approx(1 - 0.05 ** (1 / 60))
    assert lower_bound(60, 60) == pytest.approx(0.05 ** (1 / 60))
    assert lower_bound(0, 3) == 0.0
    assert upper_bound(3, 3) == 1.0


@pytest.mark.parametrize(("held", "seeds"), [(1, 0), (-1, 3), (4, 3)])
def test_wrong_counts_are_refused(held, seeds):
    with pytest.raises(ValueError, match="not a proportion"):
        clopper_pearson(held, seeds)
