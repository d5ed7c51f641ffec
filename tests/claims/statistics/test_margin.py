import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize, nnls

from attnflow.claims.statistics import hard_margin, max_margin

FEATURES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-4, 4, width=16),
)
# Both targets, the first, the second, neither; the last column is in every sample.
PATTERNS = np.array([[1.0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
LABELS = np.array([1.0, -1, -1, -1])


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
    answer = max_margin(np.array(features))
    assert answer.value == pytest.approx(margin, abs=1e-14)
    assert answer.separable == (margin > 0)


@pytest.mark.parametrize("exponent", range(1, 13))
def test_small_margins_keep_their_digits(exponent):
    margin = 10.0**-exponent
    for seed in range(10):
        features = surrounded(np.random.default_rng(seed), margin)
        answer = max_margin(features)
        assert abs(answer.value - margin) < 20 * np.finfo(float).eps
        assert abs(answer.upper - margin) < 20 * np.finfo(float).eps


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
    answer = max_margin(features)
    scale = max(1.0, float(np.abs(features).max()))
    assert (answer.combination >= 0).all()
    assert answer.combination.sum() == pytest.approx(1.0)
    assert answer.upper - answer.value <= 1e-11 * scale
    if answer.direction is None:
        assert answer.value == 0.0
    else:
        assert np.linalg.norm(answer.direction) == pytest.approx(1.0)
        assert (features @ answer.direction).min() == answer.value > 0


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
    machine = hard_margin(PATTERNS @ PATTERNS.T, LABELS)
    assert machine.norm_squared == pytest.approx(17, rel=1e-13)
    assert machine.dual == pytest.approx([7, 5, 5, 0], abs=1e-12)
    assert machine.margins == pytest.approx([1, 1, 1, 3], abs=1e-12)
    assert (machine.dual * LABELS) @ PATTERNS == pytest.approx([2, 2, -3], abs=1e-12)
    assert machine.shares == pytest.approx(np.array([7, 5, 5, 0]) / 17, abs=1e-13)


def test_a_class_stands_for_all_its_samples():
    """Classes with r_k / n_k on the diagonal against the samples one by one."""
    counts, lengths = np.array([6, 2, 2, 2]), np.array([2, 3, 3, 4])
    kind = np.repeat(np.arange(4), counts)
    each = PATTERNS[kind] @ PATTERNS[kind].T + np.diag(lengths[kind].astype(float))
    one_by_one = hard_margin(each, LABELS[kind])
    classes = hard_margin(PATTERNS @ PATTERNS.T + np.diag(lengths / counts), LABELS)
    assert one_by_one.norm_squared == pytest.approx(classes.norm_squared, rel=1e-12)
    summed = np.bincount(kind, one_by_one.dual)
    assert summed == pytest.approx(classes.dual, abs=1e-11)
    assert one_by_one.margins == pytest.approx(classes.margins[kind], abs=1e-11)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12))
def test_conditions_of_optimality(seed, samples, dim):
    """They are sufficient: the problem is convex. Ranks below and above `samples`."""
    features, labels = separable(seed, samples, dim)
    machine = hard_margin(features @ features.T, labels)
    w = (machine.dual * labels) @ features
    # Rounding moves the kernel's eigenvalues by `samples` ulps of their sum at most,
    # and a kernel moved by e moves a margin by e times the sum of the multipliers.
    moved = 4 * np.finfo(float).eps * samples * np.square(features).sum()
    slack = moved * machine.norm_squared
    assert (machine.dual >= 0).all()
    assert (labels * (features @ w) >= 1 - slack).all()
    assert (
        np.abs(machine.dual * (machine.margins - 1)).max() <= slack * machine.dual.max()
    )
    assert w @ w == pytest.approx(machine.norm_squared, rel=slack)
    assert machine.dual.sum() == pytest.approx(machine.norm_squared, rel=slack)


def test_a_general_solver_agrees():
    for seed in range(5):
        features, labels = separable(seed, 12, 4)
        machine = hard_margin(features @ features.T, labels)
        signed = labels[:, None] * features
        start = (machine.dual * labels) @ features + 0.1
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
        assert machine.norm_squared == pytest.approx(other.fun, rel=1e-7)


def test_scale():
    """w falls as the features grow."""
    features, labels = separable(3, 10, 4)
    kernel = features @ features.T
    plain, other = hard_margin(kernel, labels), hard_margin(1e6 * kernel, labels)
    assert other.norm_squared == pytest.approx(1e-6 * plain.norm_squared, rel=1e-9)
    assert other.margins == pytest.approx(plain.margins, rel=1e-9)


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
