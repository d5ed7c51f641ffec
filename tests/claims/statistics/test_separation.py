from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attnflow.claims.statistics import linear_separable, max_margin, relu_patterns
from attnflow.claims.statistics.separation import _rational_combination, _separates

INTEGERS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6),
    elements=st.integers(-3, 3).map(float),
)


def exactly_separates(direction, rows):
    w = [Fraction(float(v)) for v in direction]
    products = [
        sum(Fraction(float(a)) * b for a, b in zip(r, w, strict=True)) for r in rows
    ]
    return min(products) > 0


@settings(deadline=None, max_examples=300)
@given(INTEGERS)
def test_integer_features_always_get_a_proof(features):
    answer = linear_separable(features)
    assert answer.proven
    assert answer.separable == max_margin(features).separable
    if answer.direction is not None:
        assert exactly_separates(answer.direction, features)
    else:
        assert answer.combination is not None
        assert (answer.combination >= 0).all()
        assert answer.combination.sum() == pytest.approx(1.0)
        assert np.abs(answer.combination @ features).max() < 1e-14


@pytest.mark.parametrize("margin", [1e-6, 1e-9, 1e-12])
def test_margins_below_the_tolerance_of_the_programme(margin):
    features = np.array([[margin, 1.0], [margin, -1.0]])
    answer = linear_separable(features)
    assert answer.separable
    assert answer.proven
    assert exactly_separates(answer.direction, features)


def test_a_tiny_negative_margin_is_no_separation():
    features = np.array([[1e-12, 1.0], [1e-12, -1.0], [-1e-12, 0.0]])
    answer = linear_separable(features)
    assert not answer.separable
    assert answer.proven


def test_scale_of_single_rows_does_not_matter():
    features = np.array([[1e-200, 0.0], [0.0, 1e200], [1e-300, 1e-300]])
    assert linear_separable(features).proven
    assert linear_separable(features).separable
    assert not linear_separable(np.vstack([features, -features[:1]])).separable


def test_rounded_features_say_that_nothing_is_proven():
    """0.1 + 0.2 − 0.3 is 0 as numbers, not as floats."""
    features = np.array([[0.1 + 0.2, 1.0], [-0.3, -1.0]])
    answer = linear_separable(features)
    assert answer.separable == answer.proven


def test_a_proof_is_refused_where_rounding_could_decide():
    none = np.empty((0, 3))
    assert not _separates(np.ones(3), np.array([[0.1, 0.2, -0.3]]), none)
    assert _separates(np.ones(3), np.array([[0.1, 0.2, -0.2999]]), none)
    assert not _separates(np.ones(3), np.eye(3), np.array([[0.1, 0.2, -0.3]]))


def test_a_combination_is_proven_only_if_it_is_one():
    half, none = np.array([0.5, 0.5]), np.empty((0, 1))
    opposite = _rational_combination(np.array([[1.0], [-3.0]]), none, half)
    np.testing.assert_array_equal(opposite, [0.75, 0.25])
    # p + 2q = 0 and p + q = 1 have the solution (2, -1), which is none.
    assert _rational_combination(np.array([[1.0], [2.0]]), none, half) is None
    assert _rational_combination(np.array([[1.0], [1.0]]), none, half) is None
    # A combination of weak rows alone says nothing about the features.
    weak = np.array([[1.0], [-1.0]])
    alone = np.array([0.0, 0.5, 0.5])
    assert _rational_combination(np.array([[1.0]]), weak, alone) is None


def test_weak_rows():
    features = np.array([[1.0, 1.0]])
    assert linear_separable(features, np.array([[1.0, 0.0]])).separable
    closed = np.array([[-1.0, 0.0], [0.0, -1.0]])
    blocked = linear_separable(features, closed)
    assert not blocked.separable
    assert blocked.proven
    np.testing.assert_allclose(blocked.combination, [1.0, 1.0, 1.0])
    boundary = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert linear_separable(features, boundary).separable


def test_wrong_rows_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        linear_separable(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="shape"):
        linear_separable(np.zeros(2))
    with pytest.raises(ValueError, match="finite"):
        linear_separable(np.array([[np.inf]]))


CORNERS = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1]], dtype=float)


@pytest.mark.parametrize(
    ("labels", "solvable"),
    [
        pytest.param([-1, 1, -1, -1], True, id="and"),
        pytest.param([1, 1, -1, -1], False, id="equal", marks=pytest.mark.slow),
        pytest.param([-1, -1, 1, 1], False, id="xor"),
    ],
)
def test_what_one_unit_and_an_output_bias_can_do(labels, solvable):
    """relu(a·x + b) − relu(c) computes `and`; neither `xor` nor its negation."""
    labels, output = np.array(labels, dtype=float), np.array([1.0, -1.0])
    rows = np.zeros((4, 2, 4))
    rows[:, 0, :3], rows[:, 1, 3] = CORNERS, 1.0
    solved = [p for p in relu_patterns(rows, labels, output) if p.separation.separable]
    assert bool(solved) == solvable
    for pattern in solved:
        z = np.maximum(rows @ pattern.separation.direction, 0.0)
        assert (labels * (z @ output) > 0).all()


def conflicting_samples():
    """Paper B's conflicting samples under uniform attention, with free biases."""
    unit, rows, labels = np.eye(4), [], []
    for group in (0, 1):
        for sign in (1.0, -1.0):
            tokens = unit[group] + sign * (unit[2 + group] - unit[3 - group])
            row = np.zeros((2, 10))
            row[0, :4], row[1, 4:8], row[0, 8], row[1, 9] = tokens, tokens, 1.0, 1.0
            rows.append(row)
            labels.append(sign)
    return np.array(rows), np.array(labels)


@pytest.mark.parametrize(("tied", "separable"), [(True, 0), (False, 78)])
def test_uniform_attention_cannot_separate_conflicting_samples(tied, separable):
    """Lemma 5.4 of paper B; the counts are those of its spec sheet."""
    rows, labels = conflicting_samples()
    output = np.array([1.0, -1.0])
    patterns = list(relu_patterns(rows, labels, output, tied=tied))
    assert len(patterns) == 256
    assert sum(p.separation.separable for p in patterns) == separable
    assert all(p.separation.proven for p in patterns)


def test_too_many_patterns_are_refused():
    with pytest.raises(ValueError, match="patterns"):
        next(relu_patterns(np.zeros((9, 2, 3)), np.ones(9), np.ones(2)))
