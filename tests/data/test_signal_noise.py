from typing import Any

import jax
import numpy as np
import pytest

from attnflow.data import SignalNoiseTask

pytestmark = pytest.mark.usefixtures("precise")

SMALL = {"samples": 6, "embed": 60, "support": 8, "test_samples": 5}


def drawn(seed=0, test=False, **changes: Any) -> Any:
    task = SignalNoiseTask(**{**SMALL, **changes})
    make = task.test_sequences if test else task.sequences
    return make(key=jax.random.key(seed))


def raw(data):
    """Tokens of every sample, `(samples, length, embed)`."""
    return np.asarray(data.tokens)[np.asarray(data.key)]


def shown(data):
    return np.asarray(data.tokens)[list(data.shown)]


@pytest.mark.parametrize("test", [False, True])
@pytest.mark.parametrize("orthogonal", [True, False])
def test_samples_follow_the_definition(orthogonal, test):
    changes = {"support": 30, "orthogonal": orthogonal, "test": test}
    samples = np.concatenate([raw(drawn(seed, **changes)) for seed in range(20)])
    label = np.concatenate([drawn(seed, **changes).label for seed in range(20)])
    signal, noise = samples[:, 0], samples[:, 1]
    np.testing.assert_array_equal(signal, label[:, None] * np.eye(60)[0])
    assert ((noise != 0).sum(axis=1) == 30).all()
    # Each of 100 or 120 tokens meets the first of 60 coordinates half of the time.
    assert (noise[:, 0] == 0).all() == orthogonal
    assert (noise[:, 1:] != 0).any(axis=0).all()


def test_every_coordinate_is_as_likely():
    data = drawn(samples=2000, support=20, test_samples=0)
    hits = (raw(data)[:, 1] != 0).mean(axis=0)
    chance = 20 / 59
    assert hits[0] == 0
    assert np.abs(hits[1:] - chance).max() < 5 * np.sqrt(chance * (1 - chance) / 2000)


@pytest.mark.parametrize(("noise", "expected"), [(None, 2 / np.sqrt(8)), (0.3, 0.3)])
def test_noise_is_normal_with_its_deviation(noise, expected):
    values = raw(drawn(samples=1000, noise=noise))[:, 1]
    values = values[values != 0] / expected
    error = 1 / np.sqrt(len(values))
    assert len(values) == 8000
    # Standard deviations of the sample's moments: 1, sqrt(2) and sqrt(96) over sqrt(N).
    assert abs(values.mean()) < 5 * error
    assert abs((values**2).mean() - 1) < 5 * np.sqrt(2) * error
    assert abs((values**4).mean() - 3) < 5 * np.sqrt(96) * error


def test_classes():
    np.testing.assert_array_equal(drawn().label, [1, 1, 1, -1, -1, -1])
    labels = np.asarray(drawn(samples=4000, classes="drawn").label)
    assert set(labels) == {1.0, -1.0}
    assert abs(labels.mean()) < 5 / np.sqrt(4000)
    assert SignalNoiseTask(samples=7, classes="drawn").samples == 7


@pytest.mark.parametrize("changes", [{}, {"length": 6}, {"classes": "drawn"}])
def test_the_vocabulary_is_in_label_gauge(changes):
    data = drawn(3, **changes)
    label, keys = np.asarray(data.label), np.asarray(data.key)
    noises = changes.get("length", 2) // 2
    gauge = label[:, None, None] * raw(data)
    rows = np.arange(6 * noises).reshape(6, noises) + 1
    assert (gauge[:, :noises] == np.eye(60)[0]).all()
    np.testing.assert_array_equal(gauge[:, noises:], shown(data)[rows])
    for y, row, own in zip(label, keys, rows, strict=True):
        expected = [data.names[0]] * noises + [data.names[i] for i in own]
        if y < 0:
            expected = [f"-{name}" for name in expected]
        assert [data.names[i] for i in row] == expected
    np.testing.assert_array_equal(data.query, data.key)
    np.testing.assert_array_equal(data.query_weight, 1.0)
    np.testing.assert_array_equal(data.probability, 1 / 6)
    assert data.columns is None


def test_names():
    assert drawn(samples=2).names == ("mu", "noise1", "noise2", "-mu", "-noise2")
    assert drawn(samples=2).shown_names == ("mu", "noise1", "noise2")
    longer = drawn(samples=2, length=5)
    assert longer.shown_names[1:] == ("noise1.1", "noise1.2", "noise2.1", "noise2.2")
    assert longer.key.tolist() == [[0, 0, 0, 1, 2], [5, 5, 5, 6, 7]]


def test_drawn_labels_share_a_vocabulary():
    """Seeds are trained side by side, which needs equal shapes and names."""
    names = {drawn(seed, samples=3, classes="drawn").names for seed in range(8)}
    assert len(names) == 1
    assert len(names.pop()) == 8


@pytest.mark.parametrize("orthogonal", [True, False])
def test_disjoint_supports(orthogonal):
    data = drawn(embed=49, length=2, disjoint=True, orthogonal=orthogonal)
    covered = (shown(data)[1:] != 0).sum(axis=0)
    assert covered.max() == 1
    assert covered.sum() == 48
    overlapping = drawn(embed=49, length=2)
    assert (shown(overlapping)[1:] != 0).sum(axis=0).max() > 1


def test_streams():
    first, again, other = drawn(0), drawn(0), drawn(1)
    np.testing.assert_array_equal(first.tokens, again.tokens)
    assert not np.intersect1d(shown(first)[1:], shown(other)[1:]).any()
    assert not np.intersect1d(drawn(0, test=True).tokens[2:], shown(other)).any()


def test_test_samples_have_a_vocabulary_of_their_own():
    data = drawn(test=True, length=4)
    assert data.names[:4] == ("mu", "-mu", "noise1.1", "noise1.2")
    assert len(data.names) == 2 + 10
    assert set(data.shown) <= set(range(len(data.names)))
    assert drawn(test=True, test_samples=0) is None
    plain = drawn(test=True, embed=49, disjoint=True, test_samples=40)
    assert (np.asarray(plain.tokens)[2:] != 0).sum(axis=0).max() > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"support": 2000}, "support is 2000, and noise has 1999 coordinates"),
        ({"support": 2001, "orthogonal": False}, "1 <= support <= 2000"),
        ({"support": 0}, "1 <= support <= 1999, or a larger embed"),
        ({"support": 100, "disjoint": True}, "take 2000 coordinates.*embed=2001 at"),
        ({"support": 100, "length": 4, "disjoint": True}, "embed=4001 at least"),
        (
            {"support": 101, "disjoint": True, "orthogonal": False},
            "embed=2020 at least, or disjoint=False",
        ),
        ({"samples": 21}, "samples is 21; equal classes need an even.*samples=22"),
        ({"samples": 0}, "Use samples=2, or classes='drawn'"),
        ({"samples": 0, "classes": "drawn"}, "draw at least 1"),
        ({"test_samples": -1}, "test_samples is -1: use 0"),
        ({"classes": "even"}, "classes is 'even': use 'equal' or 'drawn'"),
        ({"noise": 0.0}, "noise is 0.0; .* must be positive and finite"),
        ({"noise": -1.0}, "noise is -1.0; .*Leave it out for 2/sqrt"),
        ({"noise": np.inf}, "noise is inf"),
        ({"noise": np.nan}, "noise is nan"),
        ({"length": 1}, "length is 1; .*Use length=2"),
        ({"noise_tokens": 0}, "noise_tokens is 0 at length=2; there must be 1 to 1"),
        ({"length": 10, "noise_tokens": 10}, "1 to 9.*Use noise_tokens=5"),
    ],
)
def test_bad_tasks(arguments, message):
    with pytest.raises(ValueError, match=message):
        SignalNoiseTask(**arguments)


def test_what_is_just_allowed():
    assert SignalNoiseTask(support=1999).room == 1999
    assert SignalNoiseTask(support=2000, orthogonal=False).room == 2000
    assert SignalNoiseTask(support=100, disjoint=True, embed=2001).samples == 20
    assert SignalNoiseTask(length=10, noise_tokens=9).noises == 9
