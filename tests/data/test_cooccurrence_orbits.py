"""Orbit representatives of the word co-occurrence task, and their test samples."""

import jax
import numpy as np
import pytest

from attnflow.data import CooccurrenceOrbits, CooccurrenceTask
from attnflow.data.cooccurrence import TYPES

pytestmark = pytest.mark.usefixtures("precise")


@pytest.mark.parametrize("length", [3, 5, 10])
def test_one_representative_for_each_type(length):
    task = CooccurrenceOrbits(60, length, test_samples=1)
    data = task.sequences()
    assert data.group_names == TYPES
    assert np.asarray(data.key).shape == (4, length)
    assert all(len(set(row)) == length for row in np.asarray(data.key).tolist())
    assert np.allclose(data.probability, [1 / 2, 1 / 6, 1 / 6, 1 / 6], atol=1e-15)
    law = task.symmetry
    fillers = np.dot(law.counts, law.private)
    assert fillers == CooccurrenceTask(60, length, 10**4, "distinct").slots


@pytest.mark.parametrize("length", [3, 4, 5, 400])
def test_two_fillers_stand_for_all(length):
    """Without test samples: as many keys and queries by mass and weight."""
    data = CooccurrenceOrbits(60, length).sequences()
    assert np.asarray(data.key).shape == (4, 5)
    for counts in (data.mass, data.query_weight):
        assert np.asarray(counts).sum(axis=1).tolist() == [length] * 4
    names = [set(name.split()) for name in data.sample_names()]
    assert ["mu1" in name for name in names] == [True, True, False, False]
    assert ["mu2" in name for name in names] == [True, False, True, False]


def test_test_samples_repeat_what_fresh_ones_do():
    """Shares of coincidences against the law of uniform fillers: 166 of them."""
    task = CooccurrenceOrbits(60, 5, unseen=6.0, test_samples=40_000)
    data = task.test_sequences(key=jax.random.key(1))
    keys, weight = np.asarray(data.key), np.asarray(data.probability)
    neither = np.asarray(data.group) == 3
    assert abs(weight[neither].sum() - 1 / 6) < 1e-12
    repeated = np.array([len(set(row)) < 5 for row in keys.tolist()])
    unseen = keys == task.symmetry.unseen
    repeated &= ~(unseen.sum(axis=1) > 1)
    fillers = 4
    drawn = weight[neither] / weight[neither].sum()
    # 10,000 draws of that type: four standard errors.
    chance = 1 - np.prod([1 - i / 166 for i in range(fillers)])
    error = 4 * np.sqrt(chance / 10_000)
    assert abs((drawn * repeated[neither]).sum() - chance) < error + 6 * (6 / 166) ** 2
    share = (drawn * unseen[neither].sum(axis=1)).sum() / fillers
    assert abs(share - 6 / 166) < 4 * np.sqrt(6 / 166 / 40_000)


def test_samples_that_look_alike_are_kept_once():
    data = CooccurrenceOrbits(6e9, 5, test_samples=2000).test_sequences(
        key=jax.random.key(0)
    )
    rows = {tuple(row) for row in np.asarray(data.key).tolist()}
    assert len(rows) == len(data.key) < 100


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"length": 2}, "length=5"),
        ({"samples": 5.9}, "samples=60"),
        ({"unseen": -1.0}, "number >= 0"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ValueError, match=message):
        CooccurrenceOrbits(**changes)
