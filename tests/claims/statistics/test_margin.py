import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import nnls

from attnflow.claims.statistics import max_margin

FEATURES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-4, 4, width=16),
)


def rotation(generator, dim):
    return np.linalg.qr(generator.normal(size=(dim, dim)))[0]


def surrounded(generator, margin, samples=9, dim=6):
    """Features whose hull meets the first axis at `margin` alone, then rotated."""
    rest = generator.normal(size=(samples, dim - 1))
    rest -= rest.mean(axis=0)
    features = np.hstack([np.full((samples, 1), margin), rest])
    return features @ rotation(generator, dim)


@pytest.mark.parametrize(
    ("features", "margin"),
    [
        ([[3.0, 4.0]], 5.0),
        ([[1.0, 1.0], [1.0, -1.0]], 1.0),
        ([[1.0, 0.0], [0.0, 1.0]], 1 / np.sqrt(2)),
        (np.eye(7), 1 / np.sqrt(7)),
        ([[2.0, 5.0], [2.0, -5.0], [9.0, 0.0], [2.0, 0.0]], 2.0),
        ([[1.0, 0.0], [-1.0, 0.0]], 0.0),
        ([[0.0, 0.0], [1.0, 1.0]], 0.0),
        ([[1.0], [-2.0]], 0.0),
    ],
)
def test_known_margins(features, margin):
    found = max_margin(np.array(features))
    assert found.value == pytest.approx(margin, abs=1e-14)
    assert found.separable == (margin > 0)


@pytest.mark.parametrize("exponent", range(1, 13))
def test_small_margins_keep_their_digits(exponent):
    margin = 10.0**-exponent
    for seed in range(10):
        features = surrounded(np.random.default_rng(seed), margin)
        found = max_margin(features)
        assert abs(found.value - margin) < 20 * np.finfo(float).eps
        assert abs(found.upper - margin) < 20 * np.finfo(float).eps


def test_least_distance_programming_agrees_where_it_can():
    """NNLS on [X'; 1'] is another algorithm for the same problem."""
    for seed in range(30):
        features = surrounded(np.random.default_rng(seed), 0.1, samples=12, dim=4)
        stacked = np.vstack([features.T, np.ones(len(features))])
        target = np.append(np.zeros(features.shape[1]), 1.0)
        residual = stacked @ nnls(stacked, target)[0] - target
        margin = abs(residual[-1]) / np.linalg.norm(residual[:-1])
        assert max_margin(features).value == pytest.approx(margin, rel=1e-10)


def test_brute_force_over_directions_in_the_plane():
    angles = np.linspace(0, 2 * np.pi, 20001)
    directions = np.stack([np.cos(angles), np.sin(angles)])
    for seed in range(20):
        features = np.random.default_rng(seed).normal(size=(4, 2))
        features[:, 0] += 1.5
        best = max(0.0, (features @ directions).min(axis=0).max())
        assert max_margin(features).value == pytest.approx(best, abs=2e-3)


@settings(deadline=None, max_examples=300)
@given(FEATURES)
def test_certificates_enclose_the_margin(features):
    found = max_margin(features)
    scale = max(1.0, float(np.abs(features).max()))
    assert (found.combination >= 0).all()
    assert found.combination.sum() == pytest.approx(1.0)
    assert found.upper - found.value <= 1e-11 * scale
    if found.direction is None:
        assert found.value == 0.0
    else:
        assert np.linalg.norm(found.direction) == pytest.approx(1.0)
        assert (features @ found.direction).min() == found.value > 0


@settings(deadline=None, max_examples=100)
@given(FEATURES, st.floats(0.01, 100), st.integers(0, 99))
def test_margin_scales_and_turns_with_the_features(features, factor, seed):
    turned = features @ rotation(np.random.default_rng(seed), features.shape[1])
    expected = max_margin(features).value * factor
    assert max_margin(factor * turned).value == pytest.approx(
        expected, abs=1e-11 * factor
    )


def test_repeated_and_extra_samples():
    features = surrounded(np.random.default_rng(0), 0.3)
    doubled = np.concatenate([features, features])
    assert max_margin(doubled).value == pytest.approx(0.3)
    assert max_margin(np.vstack([features, -features[:1]])).value < 0.3


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((0, 2)), [[np.nan, 1.0]]])
def test_wrong_features_are_refused(wrong):
    with pytest.raises(ValueError, match=r"shape|finite"):
        max_margin(np.asarray(wrong))
