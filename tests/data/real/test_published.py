"""The data sets themselves, where they are at hand."""

import numpy as np

from attnflow.data.real import digits, words


def test_digits(data_at_hand):
    train, test = digits("train"), digits("test")
    assert train.image.shape == (60_000, 28, 28)
    assert test.image.shape == (10_000, 28, 28)
    assert train.digit[:5].tolist() == [5, 0, 4, 1, 9]
    assert np.bincount(test.digit).tolist()[3:8] == [1010, 982, 892, 958, 1028]
    assert train.image.dtype == np.uint8
    assert train.image.max() == 255


def test_words(data_at_hand):
    valid, test = words("valid"), words("test")
    # Words by `wc -w`, and one mark for every line that has words.
    assert len(valid) == 213_886 + 2_461
    assert len(test) == 241_211 + 2_891
    assert valid[:5] == ["=", "Homarus", "gammarus", "=", "<eos>"]
