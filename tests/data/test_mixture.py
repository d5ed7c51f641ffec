import itertools
from collections import Counter

import jax
import numpy as np
import pytest

from attnflow.data import MixtureTask
from attnflow.data.mixture import orbits, population_size

pytestmark = pytest.mark.usefixtures("precise")

SIZES = {
    (2, 3): (8, 2),
    (3, 4): (60, 6),
    (4, 4): (168, 6),
    (4, 5): (448, 14),
    (6, 7): (24024, 70),
    (8, 3): (224, 2),
    (8, 4): (1680, 6),
    (8, 5): (8960, 14),
    (8, 9): (1_240_320, 298),
}


@pytest.mark.parametrize(("size", "counts"), SIZES.items())
def test_numbers_of_atoms_and_orbits(size, counts):
    assert population_size(*size) == counts[0]
    actual = list(orbits(*size))
    assert len(actual) == counts[1]
    assert sum(atom.probability for atom in actual) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(("K", "L"), [(2, 2), (2, 3), (2, 5), (3, 4), (4, 3)])
def test_probabilities_by_listing_every_ordered_draw(K, L):
    """Every label, group and ordered tuple of distractors has the same chance."""
    data = MixtureTask(K, L).sequences()
    ours = Counter()
    for row, label, probability in zip(
        np.asarray(data.key), data.label, data.probability, strict=True
    ):
        names = [data.names[i] for i in row]
        ours[(names[0], float(label), tuple(sorted(names)))] += float(probability)
    listed = Counter()
    for k, y in itertools.product(range(K), (1, -1)):
        kinds = [(j, s) for j in range(K) if j != k for s in (1, -1)]
        for distractors in itertools.product(kinds, repeat=L - 2):
            tokens = [_v(k, y), f"c{k + 1}", *(_v(j, s) for j, s in distractors)]
            weight = 1 / (2 * K * len(kinds) ** (L - 2))
            listed[(f"c{k + 1}", float(y), tuple(sorted(tokens)))] += weight
    assert ours.keys() == listed.keys()
    for key, weight in listed.items():
        assert ours[key] == pytest.approx(weight, abs=1e-15)


def _v(group, sign):
    return f"{'' if sign > 0 else '-'}v{group + 1}"


def test_groups_of_samples():
    data = MixtureTask(3, 4).sequences()
    for name, row, label in zip(
        np.array(data.group_names)[np.asarray(data.group)],
        np.asarray(data.key),
        np.asarray(data.label),
        strict=True,
    ):
        signs = [-1 if data.names[i].startswith("-") else 1 for i in row[2:]]
        agreeing = [s == label for s in signs]
        kinds = {True: "consistent", False: "conflicting"}
        expected = kinds[agreeing[0]] if len(set(agreeing)) == 1 else "mixed"
        assert name == expected


def test_the_sampler_has_the_law_of_the_population():
    """A χ² test at 60 000 draws: 5σ above its mean would fail."""
    count = 60_000
    exact = MixtureTask(2, 4).sequences()
    actual = Counter(_bags(MixtureTask(2, 4, count).sequences(key=jax.random.key(1))))
    expected = count * np.asarray(exact.probability)
    counts = np.array([actual[bag] for bag in _bags(exact)])
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


def _bags(data):
    rows = np.column_stack([data.label, np.sort(data.key, axis=1)])
    return map(tuple, rows.tolist())


def test_restriction_renormalises_and_refuses_what_is_empty():
    data = MixtureTask().sequences()
    conflicting = data.restrict("conflicting")
    assert float(conflicting.probability.sum()) == pytest.approx(1)
    assert float(conflicting.probability.max()) == pytest.approx(1 / 4)
    with pytest.raises(ValueError, match="Did you mean 'conflicting'"):
        data.restrict("conflictin")
    with pytest.raises(ValueError, match="train nothing"):
        conflicting.restrict("consistent")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": 1}, "at least 2 groups"),
        ({"length": 1}, "at least its group token"),
        ({"groups": 3, "embed": 5}, "at least embed=6"),
        ({"population": 0}, "at least 1"),
    ],
)
def test_bad_tasks(arguments, message):
    with pytest.raises(ValueError, match=message):
        MixtureTask(**arguments)


def test_a_dictionary_must_be_orthonormal():
    rotated = np.linalg.qr(np.random.default_rng(0).standard_normal((7, 4)))[0].T
    data = MixtureTask().sequences(dictionary=rotated)
    assert data.tokens.shape == (6, 7)
    with pytest.raises(ValueError, match="not orthonormal"):
        MixtureTask().sequences(dictionary=1.01 * rotated)
    with pytest.raises(ValueError, match="4 rows"):
        MixtureTask().sequences(dictionary=rotated[:3])


def test_a_population_that_does_not_fit_says_what_does():
    with pytest.raises(ValueError, match="orbits"):
        MixtureTask(8, 9).sequences()
