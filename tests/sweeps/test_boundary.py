"""Refined sweeps: the full grid's boundary with a part of its cells, and its law."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import attnflow as af
from attnflow.sweeps import BatchStore, Cell, Column, Outline, run_sweep, status_in
from attnflow.sweeps.boundary import boundary_of, fit_refined, refine, run_refined
from attnflow.sweeps.executors import Here
from tests.sweeps.trivial import make_sweep

GRID = {"b": "4..35:32", "a": "0.02..1:50"}
SEEDS = tuple(range(6))


@dataclass(frozen=True)
class Loss:
    """A loss that falls through 1 at b · a² = 2, in each seed a little elsewhere."""

    text: str = "loss"
    rises: bool = False

    @property
    def outline(self) -> Outline:
        columns = {"loss": Column(), "verdict": Column(by_seed=False, text=True)}
        return Outline(self.text, f"{self.text} {self.rises}", columns)

    def of(self, run: None, cell: Cell) -> Mapping[str, Any]:
        a, b = cell.changes["a"], cell.changes["b"]
        shift = np.random.default_rng(cell.seeds).normal(0, 0.05, len(cell.seeds))
        loss = (2.0 * np.exp(shift) / (b * a**2)) ** (-1 if self.rises else 1)
        return {"loss": loss, "verdict": "holds" if loss.mean() > 1 else "fails"}


def sweep_of(**options):
    return make_sweep(GRID, statistics=(Loss(**options),), seeds=SEEDS)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    store = BatchStore(tmp_path_factory.mktemp("full"))
    return run_sweep(sweep_of(), Here(), store=store)


def test_the_boundary_is_that_of_the_full_grid(tmp_path, full):
    store = BatchStore(tmp_path)
    result = run_refined(sweep_of(), Here(), level=1.0, store=store, band=0)
    inside = full["loss"].mean("seed").values > 1.0
    np.testing.assert_array_equal(result["inside"], inside)
    np.testing.assert_array_equal(result["boundary"], boundary_of(inside))
    computed = np.isfinite(result["loss"]).all("seed").values
    assert computed.sum() == result.attrs["cells_computed"] < 0.25 * computed.size
    assert result.attrs["cells_full"] == computed.size == 1600
    np.testing.assert_array_equal(
        result["loss"].values[computed], full["loss"].values[computed]
    )
    assert ((result["outcome"] == "pending").all("seed").values == ~computed).all()
    assert status_in(result).is_complete and status_in(result).cells == computed.sum()
    (listed,) = store.sweeps()
    assert listed["cells"] == computed.sum()


def test_verdicts_are_answers_too(tmp_path, full):
    result = run_refined(
        sweep_of(), Here(), level="holds", store=BatchStore(tmp_path), band=0
    )
    np.testing.assert_array_equal(result["inside"], full["verdict"] == "holds")


def test_a_refined_sweep_is_not_computed_again(tmp_path, monkeypatch):
    options = {"level": 1.0, "store": BatchStore(tmp_path)}
    first = run_refined(sweep_of(), Here(), **options)
    monkeypatch.setattr(Loss, "of", None)
    assert run_refined(sweep_of(), Here(), **options).identical(first)


@pytest.mark.parametrize("rises", [False, True])
def test_the_law_of_the_boundary(tmp_path, rises):
    result = run_refined(
        sweep_of(rises=rises), Here(), level=1.0, store=BatchStore(tmp_path), band=2
    )
    law = fit_refined(
        result, "loss", 1.0, generator=np.random.default_rng(0), scale="log"
    )
    # Mean losses: 2 e^(mean of shifts), to second order in 0.05; x is known to 2%.
    assert law.exponent == pytest.approx(-0.5, abs=0.01)
    assert law.constant == pytest.approx(2.0, rel=0.05)
    low, high = law.constant_interval
    assert low < law.constant < high and high - low < 0.3
    assert law.lost == 0.0


def test_what_cannot_be_refined_is_refused(tmp_path):
    line = make_sweep({"a": "0..1:9"}, statistics=(Loss(),))
    with pytest.raises(ValueError, match="1 axes are swept"):
        run_refined(line, Here(), level=1.0, store=BatchStore(tmp_path))
    numbers = make_sweep(GRID, statistics=("sum",))
    with pytest.raises(ValueError, match="belongs to texts"):
        run_refined(numbers, Here(), level="holds", store=BatchStore(tmp_path))


@pytest.mark.slow
def test_the_boundary_of_a_real_map(tmp_path):
    """Benign and harmful overfitting over samples and signal, at small sizes."""
    samples = [4, 6, 8, 10, 12, 14, 16]
    settings = {
        "samples": samples,
        "room": [16] * len(samples),
        "snr": "2..16:8",
        "embed": 256,
        "key_width": 64,
        "value_width": 64,
        "steps": 1000,
        "records": 0,
    }
    options = {
        "zip": [("samples", "room")],
        "measure": "test_loss",
        "executor": "here",
        "store": af.Store(tmp_path),
    }
    whole = af.sweep("vit/figure1", settings, **options)
    result = af.sweep("vit/figure1", settings, refine=0.4, coarse=3, **options)
    inside = whole["test_loss"].mean("seed").values > 0.4
    assert 8 < inside.sum() < 48
    np.testing.assert_array_equal(result["boundary"], boundary_of(inside))
    np.testing.assert_array_equal(result["inside"], inside)
    computed = np.isfinite(result["test_loss"]).values
    # One after the other in their programs, cells are the same in every batch.
    assert (result["test_loss"].values == whole["test_loss"].values)[computed].all()
    assert result.attrs["cells_computed"] == computed.sum() < whole["error"].size


def circle(shape=(64, 64), radius=20.3, centre=(30.0, 33.0)):
    x, y = np.indices(shape)
    return (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2


def hyperbola(shape=(64, 64)):
    """Where n · x² > c, as in a phase diagram over samples and signal."""
    n, x = np.linspace(4, 64, shape[0])[:, None], np.linspace(0.02, 1.0, shape[1])
    return n * x**2 > 2.0


def answers_of(full):
    return lambda cells: [bool(full[cell]) for cell in cells]


def compare(full, **options):
    result = refine(answers_of(full), full.shape, **options)
    np.testing.assert_array_equal(result.boundary, boundary_of(full))
    np.testing.assert_array_equal(result.filled, full)
    assert (result.answers == full)[result.computed].all()
    assert result.computed.shape == full.shape
    assert sum(result.rounds) == result.computed.sum()
    return result


@pytest.mark.parametrize("full", [circle(), hyperbola(), ~hyperbola(), hyperbola().T])
def test_refinement_gives_the_boundary_of_the_full_grid(full):
    result = compare(full)
    assert result.computed.sum() <= full.size / 5
    assert len(result.rounds) <= 10


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


def is_seen(full, computed, i, j):
    """Whether two neighbours in a square differ and are both computed."""
    ring = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
    pairs = zip(ring, ring[1:] + ring[:1], strict=True)
    return any(full[a] != full[b] and computed[a] and computed[b] for a, b in pairs)


def test_pieces_of_random_maps_are_found_whole_or_not_at_all():
    """Noise has islands of all sizes, and those of one cell are mostly missed."""
    whole_pieces = missed = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        rough = draw.normal(size=draw.integers(9, 40, 2))
        full = sum(np.roll(rough, (a, b), (0, 1)) for a in (0, 1) for b in (0, 1)) > 1
        result = refine(answers_of(full), full.shape, coarse=4)
        for piece in pieces(full):
            known = [result.computed[i : i + 2, j : j + 2].all() for i, j in piece]
            whole_pieces += all(known)
            missed += not all(known)
            if not all(known):
                seen = [is_seen(full, result.computed, *square) for square in piece]
                assert not any(seen)
        assert not (result.boundary & ~boundary_of(full)).any()
        corners = full[::4, ::4]
        assert (result.answers[::4, ::4] == corners).all()
    assert whole_pieces > 40 and missed > 0


def test_pieces_are_followed_through_boxes_whose_corners_agree():
    """A tongue that passes between the cells of the lattice, from where it is seen."""
    full = np.zeros((40, 40), bool)
    full[:20] = True
    full[20:37, 11:13] = True
    compare(full)


def test_a_band_around_the_boundary_is_computed_too():
    full = circle()
    result = compare(full, band=2)
    near = boundary_of(full)
    x, y = np.indices(full.shape)
    for i, j in np.argwhere(near):
        assert result.computed[(abs(x - i) + abs(y - j)) <= 2].all()


def test_maps_without_a_boundary_cost_the_lattice_alone():
    result = compare(np.ones((65, 33), bool))
    assert result.computed.sum() == 9 * 5 and result.rounds == (45,)
    assert not result.boundary.any()


def test_no_cell_is_computed_twice():
    seen = set()
    full = circle()

    def compute(cells):
        assert not seen & set(cells)
        seen.update(cells)
        return [full[cell] for cell in cells]

    refine(compute, full.shape)


@pytest.mark.parametrize("options", [{"shape": (1, 5)}, {"coarse": 0}, {"band": -1}])
def test_what_is_no_map_is_refused(options):
    with pytest.raises(ValueError, match="a map has two values or more"):
        refine(lambda cells: cells, **{"shape": (5, 5), **options})
