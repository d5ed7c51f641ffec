"""Symbols in set-up: which numbers they follow, and which they lose."""

import numpy as np

from attnflow.browser.symbols import Log, is_symbol, number, symbols_pass


def test_what_is_written_into_a_plain_array_is_lost():
    """The array forgets where its entries came from, so that no page may move them."""
    log = Log()
    scale = number("scale", 2.0, log)
    rows = np.zeros((2, 3))
    with symbols_pass():
        np.put_along_axis(rows, np.array([[1], [2]]), scale * np.ones((2, 1)), axis=1)
    assert rows.sum() == 4.0 and "scale" in log.leaked


def test_halves_of_a_scaled_draw_are_scaled_draws():
    """So that a QR decomposition of either loses no number."""
    log = Log()
    draw = np.random.default_rng(0).standard_normal((4, 6))
    with symbols_pass():
        left, right = np.split(number("scale", 2.0, log) * draw, 2, axis=1)
        turn, rest = np.linalg.qr(np.concatenate([left, right]))
    assert not log.leaked and not is_symbol(turn)
    expected = np.linalg.qr(np.concatenate(np.split(2.0 * draw, 2, axis=1)))
    np.testing.assert_allclose(turn, expected[0], atol=1e-14)
    np.testing.assert_allclose(rest.value, expected[1], atol=1e-14)
