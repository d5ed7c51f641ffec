"""Refinement finds the boundary of the full grid, cell for cell, with fewer cells."""

import numpy as np
import pytest

from attnflow.sweeps.refine import boundary_of, refine


def circle(shape=(64, 64), radius=20.3, centre=(30.0, 33.0)):
    x, y = np.indices(shape)
    return (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2


def hyperbola(shape=(64, 64)):
    """Where n · x² > c, as in a phase diagram over samples and signal."""
    n, x = np.linspace(4, 64, shape[0])[:, None], np.linspace(0.02, 1.0, shape[1])
    return n * x**2 > 2.0


def answered(full):
    def ask(places):
        return [bool(full[place]) for place in places]

    return ask


def compare(full, **options):
    found = refine(answered(full), full.shape, **options)
    np.testing.assert_array_equal(found.boundary, boundary_of(full))
    np.testing.assert_array_equal(found.filled, full)
    assert (found.answers == full)[found.asked].all()
    assert sum(found.rounds) == found.cells <= found.full == full.size
    return found


@pytest.mark.parametrize("full", [circle(), hyperbola(), ~hyperbola(), hyperbola().T])
def test_the_boundary_is_that_of_the_full_grid(full):
    found = compare(full)
    assert found.cells <= full.size / 5
    assert len(found.rounds) <= 10


def pieces(full):
    """Squares of four cells that are not alike, by the piece of boundary they are on.

    Two squares are on one piece where they share two cells that differ.
    """
    mixed = {
        (i, j)
        for i in range(full.shape[0] - 1)
        for j in range(full.shape[1] - 1)
        if len(set(full[i : i + 2, j : j + 2].ravel().tolist())) > 1
    }
    while mixed:
        piece, edge = set(), [mixed.pop()]
        while edge:
            i, j = edge.pop()
            piece.add((i, j))
            beside = [
                ((i - 1, j), full[i, j] != full[i, j + 1]),
                ((i + 1, j), full[i + 1, j] != full[i + 1, j + 1]),
                ((i, j - 1), full[i, j] != full[i + 1, j]),
                ((i, j + 1), full[i, j + 1] != full[i + 1, j + 1]),
            ]
            new = [square for square, differs in beside if differs and square in mixed]
            mixed -= set(new)
            edge += new
        yield piece


def is_seen(full, asked, i, j):
    """Whether two neighbours in a square differ and are both computed."""
    ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
    pairs = zip(ring, ring[1:] + ring[:1], strict=True)
    return any(full[a] != full[b] and asked[a] and asked[b] for a, b in pairs)


def test_pieces_of_random_maps_are_found_whole_or_not_at_all():
    """Noise has islands of all sizes, and those of one cell are mostly missed."""
    found_pieces = missed = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        rough = draw.normal(size=draw.integers(9, 40, 2))
        full = sum(np.roll(rough, (a, b), (0, 1)) for a in (0, 1) for b in (0, 1)) > 1
        found = refine(answered(full), full.shape, coarse=4)
        for piece in pieces(full):
            known = [found.asked[i : i + 2, j : j + 2].all() for i, j in piece]
            found_pieces += all(known)
            missed += not all(known)
            if not all(known):
                assert not any(is_seen(full, found.asked, *square) for square in piece)
        assert not (found.boundary & ~boundary_of(full)).any()
        corners = full[::4, ::4]
        assert (found.answers[::4, ::4] == corners).all()
    assert found_pieces > 40 and missed > 0


def test_pieces_are_followed_through_boxes_whose_corners_agree():
    """A tongue that passes between the cells of the lattice, from where it is seen."""
    full = np.zeros((40, 40), bool)
    full[:20] = True
    full[20:37, 11:13] = True
    compare(full)


def test_a_band_around_the_boundary_is_computed_too():
    full = circle()
    found = compare(full, band=2)
    near = boundary_of(full)
    x, y = np.indices(full.shape)
    for i, j in np.argwhere(near):
        assert found.asked[(abs(x - i) + abs(y - j)) <= 2].all()


def test_maps_without_a_boundary_cost_the_lattice_alone():
    found = compare(np.ones((65, 33), bool))
    assert found.cells == 9 * 5 and found.rounds == (45,)
    assert not found.boundary.any()


def test_no_cell_is_asked_for_twice():
    seen = set()
    full = circle()

    def ask(places):
        assert not seen & set(places)
        seen.update(places)
        return [full[place] for place in places]

    refine(ask, full.shape)


@pytest.mark.parametrize("options", [{"shape": (1, 5)}, {"coarse": 0}, {"band": -1}])
def test_what_is_no_map_is_refused(options):
    with pytest.raises(ValueError, match="a map has two values or more"):
        refine(lambda places: places, **{"shape": (5, 5), **options})
