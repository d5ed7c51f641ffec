import numpy as np
import pytest

from attnflow import figures


def test_a_power_law_is_found_again():
    size = 2.0 ** np.arange(5, 12)
    fit = figures.fit_power(size, 3 * size**-0.5)
    assert fit.slope == pytest.approx(-0.5)
    assert np.exp(fit.intercept) == pytest.approx(3)


def test_points_prediction_and_slope(panel):
    size = 2.0 ** np.arange(5, 12)
    bars = {"low": size**-0.6, "high": size**-0.4}
    fit = figures.ladder_plot(
        panel, size, size**-0.5, predicted=size**-0.5, expected_slope=-0.5, **bars
    )
    assert fit.slope == pytest.approx(-0.5)
    assert [text.get_text() for text in panel.texts] == ["slope −0.500  (stated −0.5)"]
    assert len(panel.get_lines()) == 2
    assert panel.get_lines()[1].is_dashed()
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
