"""Windows of words: labels follow, batches go on where the last one ended."""

import numpy as np
import pytest

from attnflow.data.deep_samples import WordWindows, known_words

pytestmark = pytest.mark.usefixtures("data_at_hand")
SMALL = WordWindows(vocabulary=100, length=7, columns=4, test_samples=5)


def test_labels_are_the_words_that_follow():
    for samples in (SMALL.training(0), SMALL.test(0)):
        assert samples.tokens.shape == samples.label.shape
        assert np.array_equal(samples.tokens[:, 1:], samples.label[:, :-1])
        assert samples.tokens.max() < 100


def test_a_batch_goes_on_where_the_last_one_ended():
    samples = SMALL.training(0)
    first, second = samples.tokens[:4], samples.tokens[4:8]
    assert np.array_equal(samples.label[:4, -1], second[:, 0])
    assert not np.array_equal(first, second)
    assert len(samples.tokens) % 4 == 0


def test_the_most_frequent_words_are_known():
    known = known_words(20)
    assert known[0] == "<unk>" and {"the", ","} <= set(known[:4])
    assert len(set(known)) == 20
    assert WordWindows(vocabulary=20).words == known


def test_test_windows_are_of_another_text():
    assert len(SMALL.test(0).tokens) == 5
    assert not np.array_equal(SMALL.test(0).tokens, SMALL.training(0).tokens[:5])


def test_wrong_sizes():
    with pytest.raises(ValueError, match="columns=20"):
        WordWindows(columns=0)
    with pytest.raises(ValueError, match="fewer"):
        WordWindows(columns=100_000).training(0)
    with pytest.raises(ValueError, match=r"the text has 1\d{4} different words"):
        WordWindows(vocabulary=100_000).training(0)
