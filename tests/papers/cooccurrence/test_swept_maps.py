"""Numbers of the map of samples, on a synthetic map with a known boundary."""

import numpy as np
import pytest

from attnflow.papers.cooccurrence.statistics import LEVEL
from attnflow.papers.cooccurrence.swept_maps import FOLLOWS, LOSS, SAMPLES
from tests.figures.swept.synthetic import swept


def test_the_map_says_how_many_times_the_squared_length_is_enough():
    """The test loss is ten times the training loss at n = 8 L²."""
    samples, lengths = np.geomspace(100.0, 10_000.0, 9), np.geomspace(2.0, 50.0, 40)
    loss = LEVEL * FOLLOWS * 8 * lengths**2 / samples[:, None]
    coords = {"samples": samples, "length": lengths}
    evidence = {"map": swept({LOSS: loss[..., None]}, coords, seeds=1)}
    assert SAMPLES.more is not None
    (ends,) = SAMPLES.more(evidence).values()
    assert ends == pytest.approx({"least": 8.0, "largest": 8.0}, rel=0.02)
