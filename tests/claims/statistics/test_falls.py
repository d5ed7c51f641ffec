"""Exponentials and power laws, told apart."""

import numpy as np
import pytest

from attnflow.claims.statistics import fit_fall

TIMES = np.linspace(1000.0, 2000.0, 51)


def test_an_exponential():
    found = fit_fall(TIMES, 3 * np.exp(-0.004 * TIMES))
    assert found.is_exponential
    assert found.rate == pytest.approx(0.004, rel=1e-9)
    assert found.exponential < 1e-12 < found.algebraic


def test_a_power_law():
    found = fit_fall(TIMES, 7 * TIMES**-1.5)
    assert not found.is_exponential
    assert found.power == pytest.approx(1.5, rel=1e-9)
    assert found.algebraic < 1e-12 < found.exponential


@pytest.mark.parametrize("last", [0.0, -1.0, np.nan, np.inf])
def test_what_has_no_logarithm_has_no_fit(last):
    found = fit_fall(TIMES, np.append(np.ones(50), last))
    assert np.isnan([found.rate, found.power]).all() and not found.is_exponential
