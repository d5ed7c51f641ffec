import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import numpy as np
import pytest
from scipy import stats

from attnflow.data import noisy_patches
from attnflow.data.noisy_patches import NoisyPatchesTask, OneClassWarning
from tests.core import assert_same_to_rounding, mostly_slow, some_slow

pytestmark = pytest.mark.usefixtures("precise")

SMALL = NoisyPatchesTask(
    samples=6,
    length=4,
    embed=60,
    signal=3.0,
    weak=0.5,
    strong=2.0,
    classes="equal",
    test_samples=5,
)
DRAWS = ("explicit", "sampled")


def drawn(seed=0, test=False, **changes: Any) -> Any:
    task = replace(SMALL, **changes)
    make = task.test_sequences if test else task.sequences
    # As in an experiment, where data and tests have streams of their own.
    return make(key=jax.random.fold_in(jax.random.key(seed), int(test)))


def gram(data, other=None):
    rows = np.asarray(data.tokens)
    return rows @ (rows if other is None else np.asarray(other.tokens)).T


def moments(values, variance):
    """Sampling errors of a mean and of a mean square, in standard deviations."""
    root = np.sqrt(values.size)
    first = values.mean() / np.sqrt(variance) * root
    second = ((values**2).mean() / variance - 1) * root / np.sqrt(2)
    return np.array([first, second])


@pytest.mark.parametrize("test", [False, True])
@pytest.mark.parametrize("draw", DRAWS)
def test_samples_follow_the_definition(draw, test):
    data = drawn(draw=draw, test=test)
    label, keys = np.asarray(data.label), np.asarray(data.key)
    count = len(label)
    assert set(label) == {1.0, -1.0}
    np.testing.assert_array_equal(keys[:, 0], np.where(label > 0, 0, 1))
    np.testing.assert_array_equal(keys[:, 1:].ravel(), 2 + np.arange(3 * count))
    np.testing.assert_array_equal(data.query, keys)
    np.testing.assert_array_equal(data.query_weight, 0.25)
    np.testing.assert_array_equal(data.probability, 1 / count)
    np.testing.assert_array_equal(data.mass, 1.0)
    assert data.names[:6] == (
        "mu+",
        "mu-",
        *(f"noise1.{i}" for i in (2, 3, 4)),
        "noise2.2",
    )
    assert data.group_names == ("all",)
    np.testing.assert_array_equal(gram(data)[:2, :2], 9 * np.eye(2))
    np.testing.assert_array_equal(gram(data)[:2, 2:], 0.0)


@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("test", [False, True])
def test_explicit_noise_is_normal(test, projected):
    sizes: Any = {"samples": 40, "test_samples": 40, "embed": 500}
    data = drawn(test=test, projected=projected, **sizes)
    noise = np.asarray(data.tokens)[2:].reshape(40, 3, 500)
    assert (noise[:, :, :2] == 0).all() == projected
    for rows, deviation in ((noise[:, :1], 2.0), (noise[:, 1:], 0.5)):
        # Each is normal to a good approximation; five deviations.
        assert np.abs(moments(rows[:, :, 2:], deviation**2)).max() < 5
        if not projected:
            assert np.abs(moments(rows[:, :, :2], deviation**2)).max() < 5


@pytest.mark.parametrize(
    ("embed", "projected"),
    some_slow(
        product((60, 10**18), (True, False)),
        lambda embed, projected: projected == (embed > 60),
    ),
)
def test_sampled_gram_matrices_have_the_moments_of_the_law(embed, projected):
    """E⟨x,x⟩ = s²n, Var = 2s⁴n; E⟨x,y⟩ = 0, Var = s²t²n, with n coordinates."""
    sizes: Any = {"draw": "sampled", "embed": embed, "projected": projected}
    task = replace(SMALL, **sizes)
    actual = []
    for seed in range(300):
        train, test = (drawn(seed, t, **sizes) for t in (False, True))
        both = np.concatenate([train.tokens, np.asarray(test.tokens)[2:]])
        scale = np.tile([2.0, 0.5, 0.5], 11)
        actual.append((both @ both.T)[2:, 2:] / np.outer(scale, scale))
    actual, freedom = np.array(actual), embed - 2 * projected
    size = len(actual)
    norms = actual[:, np.arange(33), np.arange(33)]
    # A mean over 300 seeds; the largest of 33 or 528 is below five deviations.
    error = (norms / freedom - 1).mean(axis=0) * np.sqrt(size * freedom / 2)
    assert np.abs(error).max() < 5
    spread = norms.var(axis=0) / (2 * freedom)
    assert np.abs(spread - 1).max() < 5 * np.sqrt(2 / size) * np.sqrt(1 + 6 / freedom)
    above = actual[:, *np.triu_indices(33, 1)]
    assert np.abs(above.mean(axis=0)).max() < 5 * np.sqrt(freedom / size)
    ratio = (above**2).mean(axis=0) / freedom
    # The kurtosis of an inner product of normals is 3 + 6/n.
    assert np.abs(ratio - 1).max() < 5 * np.sqrt((2 + 6 / freedom) / size)
    assert task.random and task.symmetry is None


@pytest.mark.parametrize("projected", mostly_slow([True, False], True))
def test_sampled_and_explicit_draws_agree_in_law(projected):
    """At a size where the Gram matrix is far from its mean, by Kolmogorov–Smirnov."""
    sizes: Any = {"embed": 14, "samples": 2, "length": 3, "test_samples": 2}

    def entries(draw, seeds):
        rows = []
        for seed in seeds:
            train, test = (
                drawn(seed, t, draw=draw, projected=projected, **sizes)
                for t in (False, True)
            )
            both = np.concatenate([train.tokens, np.asarray(test.tokens)[2:]])
            own = both @ both.T
            # Entries, an eigenvalue and a determinant, which no entry alone decides.
            rows.append(
                [
                    *(own[2, 2], own[5, 5], own[2, 4], own[2, 6], own[6, 9], own[0, 3]),
                    np.linalg.eigvalsh(own[2:, 2:])[0],
                    np.linalg.slogdet(own[2:, 2:])[1],
                ]
            )
        return np.array(rows).T

    count = 400
    first = entries("explicit", range(count))
    second = entries("sampled", range(count, 2 * count))
    p_values = [stats.ks_2samp(a, b).pvalue for a, b in zip(first, second, strict=True)]
    # Eight tests: a right law fails here once in a thousand times.
    assert min(p_values) > 1e-3 / 8
    wrong = stats.ks_2samp(first[6], second[6] * 1.5).pvalue
    assert wrong < 1e-3 / 8


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("test", [False, True])
def test_another_signal_rescales_two_tokens(draw, test):
    weak, strong = (drawn(1, test, draw=draw, signal=s) for s in (3.0, 30.0))
    np.testing.assert_array_equal(weak.tokens[2:], strong.tokens[2:])
    np.testing.assert_array_equal(10 * weak.tokens[:2], strong.tokens[:2])
    np.testing.assert_array_equal(weak.label, strong.label)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("classes", ["equal", "drawn"])
def test_fewer_samples_are_the_first_of_more(draw, classes):
    sizes: Any = {"draw": draw, "classes": classes, "embed": 100}
    few, many = (drawn(3, samples=n, **sizes) for n in (4, 10))
    np.testing.assert_array_equal(few.label, many.label[:4])
    # Columns that the other tokens or the test have for themselves are zero.
    first = np.asarray(many.tokens)[:14]
    size = 14 if draw == "sampled" else 100
    np.testing.assert_array_equal(np.asarray(few.tokens)[:, :size], first[:, :size])
    assert not np.asarray(few.tokens)[:, size:].any() and not first[:, size:].any()
    tests = [drawn(3, True, samples=n, **sizes) for n in (4, 10)]
    np.testing.assert_array_equal(tests[0].label, tests[1].label)
    cross = [gram(a, b) for a, b in zip((few, many), tests, strict=True)]
    np.testing.assert_allclose(cross[0], cross[1][:14], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("draw", DRAWS)
def test_training_does_not_hang_on_the_test(draw):
    alone, beside = (drawn(2, draw=draw, test_samples=n) for n in (0, 5))
    # Columns that the test has for itself are zero, but make other sums.
    columns = np.asarray(beside.tokens).shape[1]
    assert_same_to_rounding(gram(alone), gram(beside), roundings=columns)
    assert drawn(2, True, test_samples=0) is None


@pytest.mark.parametrize("draw", DRAWS)
def test_independent_cells_share_nothing(draw):
    cells: Any = {"draw": draw, "cells": "independent", "samples": 6}
    first, again, other = (drawn(0, signal=s, **cells) for s in (3.0, 3.0, 4.0))
    np.testing.assert_array_equal(first.tokens, again.tokens)
    own, others = (np.asarray(d.tokens)[2:] for d in (first, other))
    assert not np.intersect1d(own[own != 0], others[others != 0]).size
    streams = {
        float(drawn(0, True, signal=s, **cells).tokens[2, 2]) for s in (3.0, 4.0)
    }
    assert len(streams) == 2


@pytest.mark.parametrize("draw", DRAWS)
def test_streams(draw):
    first, again, other = (drawn(seed, draw=draw) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.tokens, again.tokens)
    own, others = (np.asarray(d.tokens)[2:] for d in (first, other))
    assert not np.intersect1d(own[own != 0], others[others != 0]).size


def test_the_sampled_basis_costs_the_tokens_alone():
    task = NoisyPatchesTask(
        samples=16, length=4, embed=4 * 10**18, test_samples=10, draw="sampled"
    )
    train = task.sequences(key=jax.random.key(0))
    test = task.test_sequences(key=jax.random.key(1))
    assert test is not None
    assert train.tokens.shape == (2 + 48, 2 + 48 + 30)
    assert test.tokens.shape == (2 + 30, 2 + 48 + 30)
    np.testing.assert_array_equal(train.tokens[:, 50:], 0.0)
    norm = float((train.tokens[2] ** 2).sum()) / (4.0**2 * 4e18)
    # The relative deviation of a χ² with 4·10^18 degrees of freedom is 7e-10.
    assert norm == pytest.approx(1, abs=5e-9)


def test_shown_tokens():
    assert drawn().shown == tuple(range(20))
    assert drawn(shown="first").shown_names == (
        *("mu+", "mu-"),
        *("noise1.2", "noise1.3", "noise1.4"),
    )


def test_labels():
    np.testing.assert_array_equal(drawn().label, [1, -1, 1, -1, 1, -1])
    labels = np.asarray(drawn(samples=4000, classes="drawn", length=2, embed=3).label)
    assert abs(labels.mean()) < 5 / np.sqrt(4000)


def test_strong_noise_may_be_weak():
    with pytest.warns(noisy_patches.StrongNoiseWarning, match="only called the strong"):
        data = drawn(strong=0.1, embed=2000)
    noise = np.asarray(data.tokens)[2:].std(axis=1)
    np.testing.assert_allclose(noise, np.tile([0.1, 0.5, 0.5], 6), rtol=0.1)


def test_one_class_is_warned():
    with pytest.warns(OneClassWarning, match=r"All 1 labels are [+-]1.*another seed"):
        drawn(samples=1, classes="drawn")
    caught = 0
    for seed in range(40):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            labels = drawn(seed, samples=2, classes="drawn").label
        assert (len(set(np.asarray(labels))) == 1) == bool(seen)
        caught += bool(seen)
    assert 5 < caught < 35


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"samples": 0, "classes": "drawn"}, "samples is 0: draw at least 1"),
        ({"samples": 5}, "equal classes need an even number.*samples=6"),
        ({"classes": "rademacher"}, "use 'equal' or 'drawn'"),
        ({"test_samples": -1}, "test_samples is -1"),
        ({"length": 1}, "length is 1; a sample holds a signal and at least one noise"),
        ({"signal": 0.0}, "signal is 0.0; it must be positive and finite"),
        ({"weak": -0.2}, "weak is -0.2"),
        ({"strong": float("inf")}, "strong is inf"),
        ({"embed": 2}, "embed is 2; two signals and noise beside them need 3"),
        ({"draw": "sample"}, "Did you mean 'sampled'"),
        ({"cells": "pool"}, "Did you mean 'pooled'"),
        ({"shown": "none"}, "Known: all, first"),
        (
            {"draw": "sampled", "embed": 34},
            "embed is 34, which leaves 32 degrees of freedom for 33 noise tokens.*"
            "embed=35 or more",
        ),
    ],
)
def test_what_cannot_be_drawn_says_why(changes, said):
    with pytest.raises(ValueError, match=said):
        replace(SMALL, **changes)
    assert noisy_patches.SIGNALS == 2


def test_as_many_tokens_as_degrees_of_freedom_can_be_drawn():
    data = drawn(draw="sampled", embed=35)
    assert np.linalg.matrix_rank(gram(data)) == 20
