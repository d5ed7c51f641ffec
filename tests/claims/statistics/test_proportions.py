import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attnflow.claims.statistics import (
    clopper_pearson,
    confidence_sequence,
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
def test_confidence_sequence_contains_clopper_pearson(counts):
    fixed, anytime = clopper_pearson(*counts), confidence_sequence(*counts)
    assert anytime[0] <= fixed[0] + 1e-9
    assert fixed[1] <= anytime[1] + 1e-9


@given(COUNTS)
def test_intervals_mirror_failures(counts):
    held, seeds = counts
    for interval in (clopper_pearson, confidence_sequence):
        low, high = interval(held, seeds)
        assert interval(seeds - held, seeds) == pytest.approx(
            (1 - high, 1 - low), abs=1e-9
        )


def test_one_sided_bounds():
    assert upper_bound(0, 60) == pytest.approx(1 - 0.05 ** (1 / 60))
    assert lower_bound(60, 60) == pytest.approx(0.05 ** (1 / 60))
    assert lower_bound(0, 3) == 0.0
    assert upper_bound(3, 3) == 1.0


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
def test_confidence_sequence_is_valid_at_every_time(p):
    """The share of paths that ever leave the interval, looked at after each seed.

    Clopper–Pearson, which is meant for one look, leaves far more often.
    """
    paths, length = 400, 150
    draws = np.random.default_rng(0).random((paths, length)) < p
    counts = draws.cumsum(axis=1)
    missed = {confidence_sequence: 0, clopper_pearson: 0}
    for interval in missed:
        table = [
            np.array([interval(h, n) for h in range(n + 1)])
            for n in range(1, length + 1)
        ]
        outside = np.zeros(paths, dtype=bool)
        for n in range(length):
            low, high = table[n][counts[:, n]].T
            outside |= (p < low) | (high < p)
        missed[interval] = int(outside.sum())
    assert missed[confidence_sequence] <= 0.05 * paths
    assert missed[clopper_pearson] > missed[confidence_sequence]


@pytest.mark.parametrize(("held", "seeds"), [(1, 0), (-1, 3), (4, 3)])
def test_wrong_counts_are_refused(held, seeds):
    with pytest.raises(ValueError, match="no proportion"):
        clopper_pearson(held, seeds)
