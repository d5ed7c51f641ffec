import numpy as np
import pytest

from attnflow import figures

FOUND = np.array([[1.0, 3.0], [2.0, 6.0]])


def test_deviation_is_over_runs():
    assert figures.deviation(FOUND) == pytest.approx([2**0.5, 8**0.5])
    assert figures.deviation(FOUND[:, :1]).tolist() == [0.0, 0.0]
    assert figures.deviation(FOUND[0]) == pytest.approx(2**0.5)


def test_bars_reach_a_deviation_up_and_down():
    _, grid = figures.panels(1, 1)
    figures.error_bars(grid[0, 0], (0.1, 1.0), FOUND, kind="signal", label="two")
    (drawn,) = grid[0, 0].containers
    line, _, (bars,) = drawn.lines
    assert line.get_ydata().tolist() == [2.0, 4.0]
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert ends[:, 1] - ends[:, 0] == pytest.approx([2 * 2**0.5, 2 * 8**0.5])
    assert drawn.get_label() == "two"
