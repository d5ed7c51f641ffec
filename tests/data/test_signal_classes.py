"""Samples of several classes: their signals, their noise and what is refused."""

import jax
import numpy as np
import pytest

import attnflow
from attnflow.data import SignalClassesTask


def test_the_first_token_is_the_signal_of_the_class():
    task = SignalClassesTask(samples=7, class_count=3, embed=400, length=4, noise=1.5)
    with attnflow.precise():
        data = task.sequences(key=jax.random.key(0))
        test = task.test_sequences(key=jax.random.key(1))
    label = np.asarray(data.label).astype(int)
    assert label.tolist() == [0, 1, 2, 0, 1, 2, 0]
    tokens = data.host_tokens[np.asarray(data.key)]
    np.testing.assert_array_equal(tokens[:, 0], 2.0 * np.eye(3, 400)[label])
    squares = (tokens[:, 1:] ** 2).sum(-1)
    # Mean 1.5², deviation 1.5² √(2/400) each: 21 of them, 5 sigma.
    assert abs(squares.mean() / 1.5**2 - 1) < 5 * np.sqrt(2 / 400 / 21)
    assert np.asarray(data.query_weight).sum(1) == pytest.approx(1)
    assert not np.array_equal(data.host_tokens[3:6], test.host_tokens[3:6])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class_count": 1}, "use 2 or more classes"),
        ({"class_count": 9, "embed": 8}, "at least as many coordinates"),
        ({"length": 1}, "a signal and a noise token"),
    ],
)
def test_sizes_that_make_no_task(changes, message):
    with pytest.raises(ValueError, match=message):
        SignalClassesTask(**changes)
