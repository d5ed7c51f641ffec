import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.claims.statistics import (
    agreement,
    best_constant,
    crossings,
    fill_rows,
    fit_boundary,
    fit_partial,
    log_log_line,
    nearest,
)

SIZES = np.arange(4.0, 21.0, 2.0)
X = np.linspace(0.5, 20.0, 14)
FINE = np.linspace(0.2, 1.0, 41)
MAPS = np.stack([(2 + s) / (SIZES[:, None] * FINE**2) for s in (-0.1, 0.0, 0.1)])


def falling(constant, *, power=2.0, width=1.0):
    """A map linear in x around the place where n · x^power = constant."""
    x_star = (constant / SIZES) ** (1 / power)
    return 0.2 - 0.1 * (X - x_star[:, None]) / width


def source(seed=0):
    return np.random.default_rng(seed)


@given(st.floats(-3, 2.5), st.floats(-0.99, 0.99))
def test_a_line_is_crossed_where_it_is(height, level):
    x = np.array([0.0, 1.0, 3.0, 4.0])
    row = height - x
    x_star = height - level
    crossing = crossings(x, row, level)
    if 1e-9 < x_star < 4 - 1e-9:
        assert crossing == pytest.approx(x_star, abs=1e-12)
    elif not -1e-9 <= x_star <= 4 + 1e-9:
        assert np.isnan(crossing)


def test_the_last_fall_counts_and_rows_without_one_say_so():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    rows = np.array(
        [
            [0.9, 0.1, 0.7, 0.3],
            [0.9, 0.9, 0.9, 0.9],
            [0.1, 0.1, 0.1, 0.1],
            [0.9, 0.1, 0.1, 0.9],
            [0.9, np.nan, 0.9, 0.1],
            [np.inf, 0.9, 0.7, 0.3],
        ]
    )
    crossing = crossings(x, rows, 0.5)
    assert crossing[0] == pytest.approx(3.5)
    assert np.isnan(crossing[1:]).all()
    # A value that is on the level is not above it.
    assert crossings(x, np.array([0.9, 0.5, 0.5, 0.4]), 0.5) == pytest.approx(2.0)


def test_logarithms_are_exact_for_exponentials():
    x = np.array([0.0, 1.0, 5.0])
    assert crossings(x, np.exp(-x), np.exp(-3.0), scale="log") == pytest.approx(3.0)
    assert crossings(x, np.exp(-x), np.exp(-3.0)) != pytest.approx(3.0, abs=0.3)
    with pytest.raises(ValueError, match="scale='linear'"):
        crossings(x, -x, -0.5, scale="log")


@given(st.floats(300, 1500))
def test_a_law_is_found_exactly_where_rows_are_lines(constant):
    fit = fit_boundary(SIZES, X, falling(constant)[None], 0.2, generator=source())
    assert fit.exists and fit.lost == 0
    assert fit.exponent == pytest.approx(-0.5, abs=1e-12)
    assert fit.constant == pytest.approx(constant)
    assert np.exp(2 * fit.intercept) == pytest.approx(constant)
    assert fit.exponent_interval == pytest.approx((-0.5, -0.5), abs=1e-12)
    np.testing.assert_allclose(fit.by_seed[0], fit.places)


def test_the_slope_is_that_of_a_straight_line_in_logarithms():
    maps = falling(900.0) + 0.05 * source(1).normal(size=(3, len(SIZES), len(X)))
    fit = fit_boundary(SIZES, X, maps, 0.2, generator=source())
    known = np.isfinite(fit.places)
    line = log_log_line(SIZES[known], fit.places[known])
    assert fit.exponent == pytest.approx(line.slope)
    assert fit.intercept == pytest.approx(line.intercept)
    every = SIZES[known] * fit.places[known] ** 2
    assert fit.constant == pytest.approx(np.exp(np.log(every).mean()))


def test_the_mean_map_is_not_the_mean_of_boundaries():
    """Of two seeds the steeper one decides where the mean map crosses."""
    maps = np.stack([falling(600.0, width=0.1), falling(1200.0, width=10.0)])
    fit = fit_boundary(SIZES, X, maps, 0.2, generator=source())
    steep, flat = fit.by_seed
    weights = np.array([10.0, 0.1]) / 10.1
    np.testing.assert_allclose(fit.places, weights[0] * steep + weights[1] * flat)


def test_intervals_over_seeds_cover_about_as_often_as_they_say():
    """Maps shifted as a whole, seed by seed: cells of one seed are not independent.

    With 12 seeds the percentile interval of a mean covers a few percent less often
    than 95%; intervals over cells would cover far less.
    """
    generator, covered = source(2), 0
    for _ in range(200):
        shifts = 0.05 * generator.normal(size=(12, 1, 1))
        fit = fit_boundary(
            SIZES,
            X,
            falling(900.0) + shifts,
            0.2,
            generator=generator,
            resamples=200,
        )
        low, high = fit.constant_interval
        covered += low <= 900 <= high
    assert 0.84 < covered / 200 < 0.98


def test_without_a_boundary_there_is_no_law():
    flat = np.full((2, len(SIZES), len(X)), 0.7)
    fit = fit_boundary(SIZES, X, flat, 0.2, generator=source())
    assert not fit.exists and np.isnan(fit.constant)
    assert np.isnan([*fit.exponent_interval, *fit.constant_interval]).all()
    # Two sizes with a crossing are too few.
    some = flat.copy()
    some[:, :2] = falling(900.0)[:2]
    assert not fit_boundary(SIZES, X, some, 0.2, generator=source()).exists


def test_crossings_that_resamples_lack_are_told():
    """One of two seeds has no boundary: a quarter of the draws are of it alone."""
    maps = np.stack([falling(900.0) - 5.0, np.full((len(SIZES), len(X)), 0.7)])
    maps[0, :, 0] = 0.9
    fit = fit_boundary(SIZES, X, maps, 0.2, generator=source())
    assert fit.exists
    assert fit.lost == pytest.approx(0.25, abs=0.04)


def test_the_best_constant_parts_cells():
    control = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    above = control < 5
    constant = best_constant(control, above)
    assert constant == pytest.approx(np.sqrt(32))
    assert agreement(control, above, constant) == 1.0
    assert agreement(control, above, 3.0) == 0.8
    # One cell on the wrong side costs itself alone.
    above[0] = False
    assert best_constant(control, above) == pytest.approx(np.sqrt(32))
    assert agreement(control, above, constant) == 0.8
    # Cells of one control cannot be parted.
    twice = np.array([1.0, 3.0, 3.0, 9.0])
    split = np.array([True, True, False, False])
    assert best_constant(twice, split) in (np.sqrt(3.0), pytest.approx(np.sqrt(27)))
    assert np.isnan(best_constant(control, control > 0))


@given(st.lists(st.booleans(), min_size=2, max_size=12))
def test_no_other_constant_agrees_with_more_cells(answers):
    above = np.array(answers)
    control = np.arange(1.0, len(above) + 1)
    constant = best_constant(control, above)
    if np.isnan(constant):
        assert above.all() or not above.any()
        return
    others = [agreement(control, above, c) for c in control[:-1] + 0.5]
    assert agreement(control, above, constant) == max(others)


def test_what_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="last axis"):
        crossings(X, np.ones(3), 0.2)
    with pytest.raises(ValueError, match="must grow"):
        crossings(X[::-1], np.ones(len(X)), 0.2)
    with pytest.raises(ValueError, match="seed, size, point"):
        fit_boundary(SIZES, X, falling(900.0), 0.2, generator=source())
    with pytest.raises(ValueError, match="one positive number"):
        best_constant(np.zeros(2), np.array([True, False]))


def test_the_nearest_of_some_indices():
    assert nearest(np.array([1, 4]), 7).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert nearest(np.array([3]), 3).tolist() == [0, 0, 0]


def test_rows_are_filled_by_their_nearest_cells_and_empty_ones_by_the_last():
    maps = np.array([[[1.0, np.nan, np.nan, 4.0], [np.nan] * 4]])
    assert fill_rows(maps).tolist() == [[[1, 1, 4, 4], [1, 1, 4, 4]]]
    # A cell that one seed lacks is not known.
    two = np.array([[[1.0, 2.0]], [[3.0, np.nan]]])
    assert fill_rows(two).tolist() == [[[1, 1]], [[3, 3]]]


@pytest.mark.parametrize("rises", [False, True])
def test_cells_along_the_boundary_give_the_law_of_all(rises):
    maps = 1 / MAPS if rises else MAPS
    known = np.abs(np.log(MAPS)).max(axis=0) < 0.5
    part = np.where(known, maps, np.nan)
    options = {"power": 2.0, "scale": "log"}
    law = fit_partial(
        SIZES, FINE, part, 1.0, generator=np.random.default_rng(0), **options
    )
    full = fit_boundary(
        SIZES, FINE, MAPS, 1.0, generator=np.random.default_rng(0), **options
    )
    # Rows cross at the same two cells; a mean of inverses is another mean.
    rel = 0.01 if rises else 1e-12
    np.testing.assert_allclose(law.places, full.places, rtol=rel)
    assert law.exponent == pytest.approx(-0.5, abs=5e-3)
