import numpy as np
import pytest

from attnflow.data.class_counts import (
    check_length,
    draw_counts,
    require_single,
    support_of,
)
from attnflow.data.sequence_classes import AlikeClasses, SequenceClasses

WEIGHTS = tuple(np.linspace(0.1, 1, 10).tolist())


def small(queries=2, per_query=1, **changes):
    return AlikeClasses(queries, per_query, (1.0,) * 10, WEIGHTS, **changes)


def classes(**changes):
    """Two classes with one common and one distinct token each; query 3."""
    parts = {
        "probability": ((0.5, 0.5, 0, 0, 0, 0), (0.25, 0, 0.75, 0, 0, 0)),
        "query": (3, 3),
        "next_token": (4, 5),
    }
    return SequenceClasses(**{**parts, **changes})


@pytest.mark.parametrize(
    ("queries", "per_query", "size"),
    [(2, 1, 34), (1, 2, 33), (3, 2, 79), (5, 2, 125), (10, 2, 240)],
)
def test_sizes_of_the_published_sets(queries, per_query, size):
    task = small(queries, per_query).sequence_classes()
    assert task.vocabulary == size == small(queries, per_query).size
    assert task.classes == queries * per_query
    assert len(set(task.query)) == queries


def test_the_layout():
    task = small().sequence_classes()
    np.testing.assert_allclose(task.table[:, :10].sum(axis=1), 0.645, atol=5e-4)
    np.testing.assert_allclose(task.table[0, 19], 0.0645, atol=5e-5)
    np.testing.assert_allclose(task.table[0, 10], 0.0065, atol=5e-5)
    assert (np.diff(task.table[0, 10:20]) > 0).all()
    assert task.query == (30, 31) and task.next_token == (32, 33)
    assert task.common[:10].all() and not task.common[10:].any()
    np.testing.assert_array_equal(np.flatnonzero(task.distinct[1]), np.arange(20, 30))
    assert task.kind_names[0] == "common0" and task.kind_names[31] == "query1"
    assert len(set(task.kind_names)) == task.kinds


def test_tokens_in_common_to_one_query_alone():
    task = small(2, 2, common_per_query=(0.5,)).sequence_classes()
    assert task.vocabulary == 10 + 2 + 40 + 2 + 4
    shared = (task.table[:, 10:12] > 0).T
    np.testing.assert_array_equal(shared, [[1, 1, 0, 0], [0, 0, 1, 1]])


def test_vocabularies_of_any_size():
    task = AlikeClasses(
        1, 10, (1.0,), (1.0, 2.0), distinct_tokens=(1, 10**6), vocabulary=10**9
    ).sequence_classes()
    assert task.vocabulary == 10**9
    np.testing.assert_allclose(task.table @ task.counts, 1, rtol=1e-12)


def test_a_given_query_may_be_a_context_of_others():
    task = classes(
        probability=((0.5, 0.5, 0, 0, 0, 0), (0.25, 0.75, 0, 0, 0, 0)), query=(2, 3)
    )
    assert task.common[:2].all()
    moved = classes(query=(2, 3))
    assert moved.query == (2, 3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"probability": ((0.5, 0.4, 0, 0, 0, 0), (0.25, 0, 0.75, 0, 0, 0))},
            "class 0 sum to 0.9",
        ),
        (
            {"probability": ((0.5, 0.5, 0, 0, 0, 0), (0,) * 6)},
            "Class 1 has no support",
        ),
        (
            {"probability": ((1.5, -0.5, 0, 0, 0, 0), (0.25, 0, 0.75, 0, 0, 0))},
            "Class 0 has the probability -0.5",
        ),
        ({"query": (1, 3)}, "query of class 0, kind 1, is in the support"),
        ({"queries": (3, 2)}, r"queries \[2\] belong to no class"),
        ({"query": (3, 9)}, "kinds 0 to 5"),
        ({"query": (3,)}, "query has 1 entries for 2 classes"),
        ({"probability": ()}, "give one class or more"),
        ({"multiplicity": (1, 1, 1, 2, 1, 1)}, r"kinds \[3\] are queries or next"),
        ({"multiplicity": (1, 1, 1, 0, 1, 1)}, "one token or more"),
        ({"multiplicity": (2, 1, 1, 1, 1, 1)}, "class 0 sum to 1.5"),
        ({"names": ("a",)}, "names has 1 entries"),
    ],
)
def test_bad_classes(changes, said):
    with pytest.raises(ValueError, match=said):
        classes(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"queries": 0}, "0 queries"),
        ({"common": (0.0,)}, "positive and finite"),
        ({"common": (), "distinct": ()}, "no support"),
        ({"vocabulary": 20}, "give at least as many"),
        ({"distinct_tokens": (1,)}, "distinct_tokens has 1 entries"),
    ],
)
def test_bad_layouts(changes, said):
    parts = {"queries": 2, "classes_per_query": 1, "common": (1.0,) * 10}
    with pytest.raises(ValueError, match=said):
        AlikeClasses(**{**parts, "distinct": WEIGHTS, **changes})


def test_sequences_need_a_context():
    with pytest.raises(ValueError, match="length is 1"):
        check_length(1)
    with pytest.raises(ValueError, match="length is 1"):
        draw_counts(
            classes(), steps=1, batch=1, length=1, generator=np.random.default_rng(0)
        )


def test_kinds_of_several_tokens_have_no_counts():
    task = AlikeClasses(1, 2, (1.0,), (1.0,), common_tokens=(3,)).sequence_classes()
    with pytest.raises(ValueError, match="several tokens"):
        require_single(task)


def test_counts_follow_the_probabilities():
    task = small(3, 2).sequence_classes()
    drawn = draw_counts(
        task, steps=200, batch=50, length=65, generator=np.random.default_rng(3)
    )
    assert drawn.counts.shape == (200, 50, 20)
    assert (drawn.counts.sum(axis=2, dtype=int) == 64).all()
    shares = np.bincount(drawn.label.ravel(), minlength=6) / drawn.label.size
    # Four standard deviations of 10,000 draws of a sixth.
    np.testing.assert_allclose(shares, 1 / 6, atol=4 * np.sqrt(5 / 36 / 10000))
    for n, kinds in enumerate(support_of(task)):
        mean = drawn.counts[drawn.label == n].mean(axis=0) / 64
        p = task.table[n, kinds]
        spread = np.sqrt(p * (1 - p) / (64 * (drawn.label == n).sum()))
        assert (np.abs(mean - p) < 5 * spread).all()
