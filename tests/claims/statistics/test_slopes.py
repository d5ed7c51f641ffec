import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attnflow.claims.statistics import (
    bootstrap_slope,
    fit_fall,
    fit_line,
    log_log_line,
    semi_log_line,
)

TIMES = np.linspace(1000.0, 2000.0, 51)


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(3, 12))
def test_points_on_a_line_give_it_back(slope, intercept, points):
    x = np.linspace(-1, 2, points)
    line = fit_line(x, intercept + slope * x)
    assert line.slope == pytest.approx(slope, abs=1e-12)
    assert line.intercept == pytest.approx(intercept, abs=1e-12)
    assert line.interval == pytest.approx((slope, slope), abs=1e-11)


def test_against_scipy():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 9))
    ours, theirs = fit_line(x, y), stats.linregress(x, y)
    assert ours.slope == pytest.approx(theirs.slope)
    assert ours.intercept == pytest.approx(theirs.intercept)
    assert ours.error == pytest.approx(theirs.stderr)


def test_students_interval_covers_as_often_as_it_says():
    generator = np.random.default_rng(1)
    x = np.linspace(0, 1, 6)
    intervals = [
        fit_line(x, 3 * x + generator.normal(size=6)).interval for _ in range(2000)
    ]
    covered = np.mean([low <= 3 <= high for low, high in intervals])
    assert 0.935 < covered < 0.965


@given(st.floats(-3, 3), st.floats(0.1, 10))
def test_power_laws_and_logarithms(power, factor):
    n = np.array([1.0, 10.0, 100.0, 1000.0])
    assert log_log_line(n, factor * n**power).slope == pytest.approx(power, abs=1e-12)
    assert semi_log_line(n, factor * np.log(n)).slope == pytest.approx(factor)
    rates = semi_log_line(n / 1000, np.exp(power * n / 1000), log="y")
    assert rates.slope == pytest.approx(power, abs=1e-12)


def test_bootstrap_is_repeatable_and_contains_the_slope():
    generator = np.random.default_rng(2)
    x = np.linspace(0, 1, 20)
    y = 2 * x + 0.1 * generator.normal(size=20)
    first = bootstrap_slope(x, y, generator=np.random.default_rng(3))
    again = bootstrap_slope(x, y, generator=np.random.default_rng(3))
    assert first == again
    assert first[0] < fit_line(x, y).slope < first[1]
    assert first[0] < 2 < first[1]
    assert first[1] - first[0] < 0.5


def test_bootstrap_of_three_points_leaves_out_draws_without_a_slope():
    x = np.array([0.0, 1.0, 2.0])
    low, high = bootstrap_slope(x, 5 * x, generator=np.random.default_rng(0))
    assert (low, high) == pytest.approx((5, 5))


def test_wrong_points_are_refused():
    with pytest.raises(ValueError, match="at least 3"):
        fit_line(np.arange(2.0), np.arange(2.0))
    with pytest.raises(ValueError, match="finite"):
        fit_line(np.arange(3.0), np.array([1.0, np.nan, 2.0]))
    with pytest.raises(ValueError, match="two different"):
        fit_line(np.ones(3), np.arange(3.0))
    with pytest.raises(ValueError, match="not positive"):
        log_log_line(np.arange(3.0), np.ones(3))


def test_an_exponential():
    fall = fit_fall(TIMES, 3 * np.exp(-0.004 * TIMES))
    assert fall.is_exponential
    assert fall.rate == pytest.approx(0.004, rel=1e-9)
    assert fall.exponential < 1e-12 < fall.algebraic


def test_a_power_law():
    fall = fit_fall(TIMES, 7 * TIMES**-1.5)
    assert not fall.is_exponential
    assert fall.power == pytest.approx(1.5, rel=1e-9)
    assert fall.algebraic < 1e-12 < fall.exponential


@pytest.mark.parametrize("last", [0.0, -1.0, np.nan, np.inf])
def test_what_has_no_logarithm_has_no_fit(last):
    fall = fit_fall(TIMES, np.append(np.ones(50), last))
    assert np.isnan([fall.rate, fall.power]).all() and not fall.is_exponential
