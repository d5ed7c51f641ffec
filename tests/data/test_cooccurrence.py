import jax
import numpy as np
import pytest

from attnflow.data import CooccurrenceTask

pytestmark = pytest.mark.usefixtures("precise")


def kinds(data):
    return np.array(data.group_names)[np.asarray(data.group)]


@pytest.mark.parametrize("fillers", ["repeated", "distinct"])
def test_samples_follow_the_definition(fillers):
    task = CooccurrenceTask(samples=60, length=5, embed=163, fillers=fillers)
    data = task.sequences(key=jax.random.key(0))
    expected = {"both": {0, 1}, "first": {0}, "second": {1}, "neither": set()}
    for row, kind, label in zip(
        np.asarray(data.key), kinds(data), np.asarray(data.label), strict=True
    ):
        assert set(row[row < 2]) == expected[kind]
        assert (row == 2).sum() == 1
        assert label == (1 if kind == "both" else -1)
    counts = [(kinds(data) == name).sum() for name in data.group_names]
    assert counts == [30, 10, 10, 10]
    used = np.asarray(data.key)[np.asarray(data.key) > 2]
    assert len(used) == task.slots == 160
    assert (len(set(used)) == 160) == (fillers == "distinct")


def test_drawn_shares_have_their_law():
    task = CooccurrenceTask(samples=6000, length=4, embed=30, shares="drawn")
    data = task.sequences(key=jax.random.key(1))
    share = np.mean(kinds(data) == "both")
    assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(6000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 2}, "at least 3 tokens"),
        ({"samples": 61}, "multiple of 6"),
        ({"samples": 0}, "multiple of 6"),
        ({"embed": 3}, "at least one more"),
        ({"embed": 64, "fillers": "distinct"}, "embed=163 at least"),
    ],
)
def test_bad_tasks(arguments, message):
    with pytest.raises(ValueError, match=message):
        CooccurrenceTask(**arguments)
