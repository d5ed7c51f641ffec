"""Maps of which only the cells along a boundary are known."""

import numpy as np
import pytest

from attnflow.claims.statistics import fill_rows, fit_boundary, fit_partial, nearest

N, X = np.linspace(4, 20, 9), np.linspace(0.2, 1.0, 41)
MAPS = np.stack([(2 + s) / (N[:, None] * X**2) for s in (-0.1, 0.0, 0.1)])


def test_the_nearest_of_some_places():
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
    law = fit_partial(N, X, part, 1.0, generator=np.random.default_rng(0), **options)
    full = fit_boundary(N, X, MAPS, 1.0, generator=np.random.default_rng(0), **options)
    # Rows cross at the same two cells; a mean of inverses is another mean.
    rel = 0.01 if rises else 1e-12
    np.testing.assert_allclose(law.places, full.places, rtol=rel)
    assert law.exponent == pytest.approx(-0.5, abs=5e-3)
