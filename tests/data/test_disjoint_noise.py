import jax
import numpy as np
import pytest

from attnflow.data import DisjointNoiseTask, SignalNoiseTask
from attnflow.data.signal_noise import LARGEST_DRAWN

pytestmark = pytest.mark.usefixtures("precise")


def norms(support, samples=400, seed=0, **rest):
    """The l1 and l2 norms of the noise, `(samples, 2)`."""
    task = DisjointNoiseTask(samples=samples, support=support, **rest)
    data = task.sequences(key=jax.random.key(seed))
    shown = list(data.shown)
    rows = (np.asarray(data.columns)[shown], np.asarray(data.tokens)[shown])
    return np.array([np.diagonal(table)[1:] for table in rows]).T


def standardised(actual, support, deviation):
    """(l1, l2²) less their means, over their scale sqrt(support)."""
    l1, l2 = actual.T / deviation
    mean = np.array([np.sqrt(2 / np.pi), 1.0])
    sums = np.array([l1, l2**2]).T
    return (sums - support * mean) / np.sqrt(support)


@pytest.mark.parametrize(
    ("support", "samples"), [(40, 900), (LARGEST_DRAWN + 1, 900), (10**12, 900)]
)
def test_norms_have_the_mean_and_covariance_of_their_law(support, samples):
    parts = standardised(norms(support, samples, noise=0.3), support, 0.3)
    root = np.sqrt(2 / np.pi)
    covariance = np.array([[1 - 2 / np.pi, root], [root, 2.0]])
    size = np.sqrt(np.diag(covariance))
    assert (np.abs(parts.mean(axis=0)) < 5 * size / np.sqrt(samples)).all()
    products = parts[:, :, None] * parts[:, None]
    error = products.std(axis=0) / np.sqrt(samples)
    assert (np.abs(products.mean(axis=0) - covariance) < 5 * error).all()


def test_both_laws_meet_where_they_change():
    """The normal limit beside drawn sums, by their quantiles."""
    below = standardised(norms(20_000, 600), 20_000, 2 / np.sqrt(20_000))
    above = standardised(norms(10**7, 600), 10**7, 2 / np.sqrt(10**7))
    # Two samples' distribution functions are apart by more with chance 1e-4 each.
    allowed = 2.23 * np.sqrt(2 / 600)
    for part in range(2):
        points = np.sort(np.concatenate([below[:, part], above[:, part]]))
        one, other = (
            np.searchsorted(np.sort(rows[:, part]), points, side="right") / 600
            for rows in (below, above)
        )
        assert np.abs(one - other).max() < allowed


def test_norms_are_those_of_explicit_tokens():
    """The same law as of vectors with disjoint supports, by mean and spread."""
    task = SignalNoiseTask(samples=400, embed=4001, support=10, disjoint=True)
    data = task.sequences(key=jax.random.key(5))
    tokens = np.asarray(data.tokens)[list(data.shown)][1:]
    explicit = np.array([np.abs(tokens).sum(1), np.linalg.norm(tokens, axis=1)]).T
    actual = norms(10, seed=6)
    gap = np.abs(actual.mean(axis=0) - explicit.mean(axis=0))
    assert (gap < 5 * explicit.std(axis=0) * np.sqrt(2 / 400)).all()
    ratio = np.cov(actual.T) / np.cov(explicit.T)
    # A variance from 400 draws is known to sqrt(2/400) or so, a ratio to sqrt(2) times.
    assert (np.abs(ratio - 1) < 5 * 2 / np.sqrt(400)).all()


def test_no_norm_is_impossible():
    for support in (1, 10, 10**12):
        l1, l2 = norms(support).T
        assert (l2 > 0).all()
        assert (l1 <= np.sqrt(support) * l2 * (1 + 1e-15)).all()
        assert (l1 >= l2 * (1 - 1e-15)).all()


def test_tokens_and_columns_are_diagonal_in_label_gauge():
    task = DisjointNoiseTask(samples=4, support=50, test_samples=3)
    data = task.sequences(key=jax.random.key(0))
    tokens, columns = np.asarray(data.tokens), np.asarray(data.columns)
    assert data.names[:5] == ("mu", "noise1", "noise2", "noise3", "noise4")
    assert data.names[5:] == ("-mu", "-noise3", "-noise4")
    assert tokens.shape == (8, 8)
    assert columns.shape == (8, 5)
    assert tokens[0, 0] == columns[0, 0] == 1
    for table in (tokens, columns):
        square = table[:5, :5]
        np.testing.assert_array_equal(square, np.diag(np.diagonal(square)))
        np.testing.assert_array_equal(table[5:], -table[[0, 3, 4]])
        assert not table[:, 5:].any()
    assert data.key.tolist() == [[0, 1], [0, 2], [5, 6], [5, 7]]
    np.testing.assert_array_equal(data.label, [1, 1, -1, -1])


def test_test_tokens_are_apart_from_everything():
    task = DisjointNoiseTask(samples=4, support=50, test_samples=300)
    data = task.test_sequences(key=jax.random.key(0))
    assert data is not None
    trained = task.sequences(key=jax.random.key(0)).tokens
    tokens, columns = np.asarray(data.tokens), np.asarray(data.columns)
    assert tokens.shape[1] == trained.shape[1] == 1 + 4 + 300
    assert not (tokens[2:] @ trained.T).any()
    assert (np.count_nonzero(tokens, axis=0)[5:] == 1).all()
    np.testing.assert_array_equal(columns[:2, 0], [1, -1])
    assert columns.shape == (302, 5)
    assert np.count_nonzero(columns) == 2
    squares = (tokens[2:] ** 2).sum(axis=1) / task.deviation**2
    assert abs(squares.mean() - 50) < 5 * np.sqrt(2 * 50 / 300)
    raw = tokens[np.asarray(data.key)]
    np.testing.assert_array_equal(raw[:, 0, 0], data.label)
    assert DisjointNoiseTask().test_sequences(key=jax.random.key(0)) is None


def test_streams_and_drawn_classes():
    assert not np.intersect1d(norms(50), norms(50, seed=1)).size
    np.testing.assert_array_equal(norms(50), norms(50))
    task = DisjointNoiseTask(samples=3, support=50, classes="drawn")
    names = {task.sequences(key=jax.random.key(i)).names for i in range(8)}
    assert len(names) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"support": 0}, "support is 0; .* at least 1 coordinate. Use support="),
        ({"samples": 9}, "samples is 9; equal classes need an even.*samples=10"),
        ({"samples": 0, "classes": "drawn"}, "draw at least 1"),
        ({"noise": 0.0}, "noise is 0.0; .* must be positive and finite"),
        ({"noise": np.nan}, "noise is nan"),
        ({"test_samples": -2}, "test_samples is -2"),
    ],
)
def test_bad_tasks(arguments, message):
    with pytest.raises(ValueError, match=message):
        DisjointNoiseTask(**arguments)
