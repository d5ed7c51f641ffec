import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from attnflow.claims.statistics import hard_margin

# Both targets, the first, the second, neither; the last column is in every sample.
PATTERNS = np.array([[1.0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
LABELS = np.array([1.0, -1, -1, -1])


def separable(seed, samples, dim):
    """Features on the right side of a random plane through the origin."""
    draw = np.random.default_rng(seed)
    normal = draw.normal(size=dim)
    features = draw.normal(size=(samples, dim))
    side = features @ normal
    labels = np.where(side > 0, 1.0, -1.0)
    push = 0.2 * np.outer(labels, normal / np.linalg.norm(normal))
    return features + push, labels


def test_three_binary_features():
    found = hard_margin(PATTERNS @ PATTERNS.T, LABELS)
    assert found.norm_squared == pytest.approx(17, rel=1e-13)
    assert found.dual == pytest.approx([7, 5, 5, 0], abs=1e-12)
    assert found.margins == pytest.approx([1, 1, 1, 3], abs=1e-12)
    assert (found.dual * LABELS) @ PATTERNS == pytest.approx([2, 2, -3], abs=1e-12)
    assert found.shares == pytest.approx(np.array([7, 5, 5, 0]) / 17, abs=1e-13)


def test_a_class_stands_for_all_its_samples():
    """Classes with r_k / n_k on the diagonal against the samples one by one."""
    counts, own = np.array([6, 2, 2, 2]), np.array([2, 3, 3, 4])
    kind = np.repeat(np.arange(4), counts)
    each = PATTERNS[kind] @ PATTERNS[kind].T + np.diag(own[kind].astype(float))
    one_by_one = hard_margin(each, LABELS[kind])
    classes = hard_margin(PATTERNS @ PATTERNS.T + np.diag(own / counts), LABELS)
    assert one_by_one.norm_squared == pytest.approx(classes.norm_squared, rel=1e-12)
    summed = np.bincount(kind, one_by_one.dual)
    assert summed == pytest.approx(classes.dual, abs=1e-11)
    assert one_by_one.margins == pytest.approx(classes.margins[kind], abs=1e-11)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12))
def test_conditions_of_optimality(seed, samples, dim):
    """They are sufficient: the problem is convex. Ranks below and above `samples`."""
    features, labels = separable(seed, samples, dim)
    found = hard_margin(features @ features.T, labels)
    w = (found.dual * labels) @ features
    # Rounding moves the kernel's eigenvalues by `samples` ulps of their sum at most,
    # and a kernel moved by e moves a margin by e times the sum of the multipliers.
    moved = 4 * np.finfo(float).eps * samples * np.square(features).sum()
    slack = moved * found.norm_squared
    assert (found.dual >= 0).all()
    assert (labels * (features @ w) >= 1 - slack).all()
    assert np.abs(found.dual * (found.margins - 1)).max() <= slack * found.dual.max()
    assert w @ w == pytest.approx(found.norm_squared, rel=slack)
    assert found.dual.sum() == pytest.approx(found.norm_squared, rel=slack)


def test_a_general_solver_agrees():
    for seed in range(5):
        features, labels = separable(seed, 12, 4)
        found = hard_margin(features @ features.T, labels)
        signed = labels[:, None] * features
        start = (found.dual * labels) @ features + 0.1
        other = minimize(
            lambda w: w @ w,
            start,
            jac=lambda w: 2 * w,
            constraints={
                "type": "ineq",
                "fun": lambda w, x=signed: x @ w - 1,
                "jac": lambda w, x=signed: x,
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        assert found.norm_squared == pytest.approx(other.fun, rel=1e-7)


def test_scale():
    """w falls as the features grow."""
    features, labels = separable(3, 10, 4)
    kernel = features @ features.T
    one, other = hard_margin(kernel, labels), hard_margin(1e6 * kernel, labels)
    assert other.norm_squared == pytest.approx(1e-6 * one.norm_squared, rel=1e-9)
    assert other.margins == pytest.approx(one.margins, rel=1e-9)


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_what_nothing_separates_is_refused(dim):
    features = np.random.default_rng(dim).normal(size=(8, dim))
    both = np.concatenate([features, features])
    labels = np.repeat([1.0, -1.0], 8)
    with pytest.raises(ValueError, match="No direction separates"):
        hard_margin(both @ both.T, labels)
    with pytest.raises(ValueError, match="No direction separates"):
        hard_margin(PATTERNS @ PATTERNS.T, np.array([1.0, -1, -1, 1]))


@pytest.mark.parametrize(
    ("kernel", "labels", "match"),
    [
        (np.eye(3)[:2], [1, -1], "square"),
        ([[1.0, np.inf], [np.inf, 1.0]], [1, -1], "finite"),
        ([[1.0, 0.5], [0.0, 1.0]], [1, -1], "symmetric"),
        (np.eye(2), [1, 0], r"\+1 or -1"),
        (np.eye(2), [1], r"\+1 or -1"),
        ([[1.0, 2.0], [2.0, 1.0]], [1, -1], "eigenvalue is -1"),
        (np.zeros((2, 2)), [1, -1], "No direction separates"),
    ],
)
def test_wrong_input_is_refused(kernel, labels, match):
    with pytest.raises(ValueError, match=match):
        hard_margin(np.asarray(kernel), np.asarray(labels))
