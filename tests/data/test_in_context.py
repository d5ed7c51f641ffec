"""In-context regression: its population, and what attention makes of payloads."""

import jax
import numpy as np
import pytest

from attnflow.data import InContextTask

pytestmark = pytest.mark.usefixtures("precise")


def mean_loss(data, attention):
    """The squared loss of attention by feature, `(features, features)`, as defined."""
    weight = np.asarray(data.mass) * attention[np.asarray(data.query)[:, 0]]
    answer = (weight * np.asarray(data.payload)).sum(axis=1) / weight.sum(axis=1)
    return np.sum(data.probability * (answer - np.asarray(data.label)) ** 2) / 2


def test_the_population_is_the_law_of_drawn_samples():
    """Losses of some attention over 40,000 drawn samples, to five sigma."""
    shares = (0.5, 0.3, 0.2)
    attention = np.exp(np.random.default_rng(0).standard_normal((3, 3)))
    exact = InContextTask(3, 4, shares).sequences()
    key = jax.random.key(1)
    drawn = InContextTask(3, 4, shares, 40_000).sequences(key=key)
    expected, actual = mean_loss(exact, attention), mean_loss(drawn, attention)
    # The squared loss of these normal numbers has a deviation of about its mean √2.
    assert abs(actual - expected) < 5 * 2 * expected / np.sqrt(40_000)
    questions = np.bincount(
        np.asarray(exact.query)[:, 0], np.asarray(exact.probability)
    )
    np.testing.assert_allclose(questions, shares, rtol=1e-12)


def test_groups_tell_whether_the_question_is_among_the_examples():
    shares = (0.6, 0.4)
    data = InContextTask(2, 5, shares).sequences()
    unseen = np.asarray(data.group) == data.group_names.index("unseen")
    chance = float(np.asarray(data.probability)[unseen].sum())
    assert chance == pytest.approx(sum(s * (1 - s) ** 5 for s in shares), rel=1e-12)
    assert (np.asarray(data.mass).sum(axis=1) == 5).all()


def test_answers_are_the_hidden_vector():
    data = InContextTask(4, 3, population=7).sequences(key=jax.random.key(0))
    rows = np.arange(7)
    questions = np.asarray(data.query)[:, 0]
    np.testing.assert_array_equal(np.asarray(data.payload)[rows, questions], data.label)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": 0}, "features is 0"),
        ({"length": 0}, "length is 0"),
        ({"population": 0}, "population is 0"),
        ({"shares": (0.5, 0.5)}, "give 3 positive numbers"),
        ({"shares": (0.5, 0.5, 0.5)}, "that sum to 1"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(ValueError, match=message):
        InContextTask(**changes)
    with pytest.raises(ValueError, match="more than 300000"):
        InContextTask(8, 20).sequences()
